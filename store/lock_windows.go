package store

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes a file for this process until it is closed or the process ends.
// It reports false when another process has it.
func lock(file *os.File) bool {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &windows.Overlapped{}) == nil
}
