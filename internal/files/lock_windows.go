package files

import (
	"os"

	"golang.org/x/sys/windows"
)

func tryLock(file *os.File) error {
	return lockRange(file, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

func lock(file *os.File) error { return lockRange(file, windows.LOCKFILE_EXCLUSIVE_LOCK) }

func isHeld(err error) bool { return err == windows.ERROR_LOCK_VIOLATION }

// LockShared takes a shared lock, waiting while another process holds an exclusive
// one.
func LockShared(file *os.File) error { return lockRange(file, 0) }

// lockRange locks a byte beyond the end of any file, so that reading is not blocked.
func lockRange(file *os.File, flags uint32) error {
	_ = unlock(file) // Windows cannot convert a lock, so release the present one first
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}

func unlock(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}
