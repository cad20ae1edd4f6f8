package files

import "golang.org/x/sys/windows"

// FreeSpace returns how many bytes the user can still write to the disk of a
// folder.
func FreeSpace(dir string) (free int64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var bytes uint64
	err = windows.GetDiskFreeSpaceEx(name, &bytes, nil, nil)
	return int64(bytes), err
}
