package file

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes a file for this process until it is closed or the process ends.
// It reports false when another process has it.
func lock(file *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	// Windows does not change a lock: the one that share took goes first.
	_ = windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, farAway())
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, farAway()) == nil
}

// share takes a file together with others, once nobody has it alone, until it
// is closed or the process ends.
func share(file *os.File) error {
	// Windows does not change a lock: the one that lock took goes first.
	_ = windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, farAway())
	return windows.LockFileEx(windows.Handle(file.Fd()), 0, 0, 1, 0, farAway())
}

// farAway is a place behind the end of any file: a lock on it keeps nobody
// from reading.
func farAway() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1} }
