package database

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// isolate replaces the mapping of a file in this process by private memory at the
// same addresses. It reports whether the file is shorter than the mapping.
func isolate(path string) (cut bool, err error) {
	path = realPath(path)
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return false, err
	}
	defer maps.Close() //nolint:errcheck // opened for reading only
	var mapped int64
	lines := bufio.NewScanner(maps)
	for lines.Scan() {
		var from, to uintptr
		var offset int64
		var mode, device string
		var inode uint64
		fields := strings.SplitN(lines.Text(), "/", 2)
		if len(fields) < 2 || strings.TrimSuffix("/"+fields[1], " (deleted)") != path {
			continue
		}
		if _, err := fmt.Sscanf(fields[0], "%x-%x %s %x %s %d", &from, &to, &mode, &offset, &device, &inode); err != nil {
			return false, err
		}
		at := *(*unsafe.Pointer)(unsafe.Pointer(&from)) // an address outside Go's heap
		if _, err := unix.MmapPtr(-1, 0, at, to-from, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_FIXED); err != nil {
			return false, err
		}
		mapped = max(mapped, offset+int64(to-from))
	}
	info, err := os.Stat(path)
	return err == nil && info.Size() < mapped, lines.Err()
}

// isOpen reports whether this process has a file open, and whether it has a
// deleted file of that name open.
func isOpen(path string) (open, orphan bool) {
	path = realPath(path)
	links, _ := os.ReadDir("/proc/self/fd") // on error the answer is unknown
	for _, link := range links {
		to, _ := os.Readlink("/proc/self/fd/" + link.Name()) // the file may have been closed meanwhile
		orphan = orphan || to == path+" (deleted)"
		open = open || orphan || to == path
	}
	return open, orphan
}

// realPath returns a path as the kernel reports it.
func realPath(path string) string {
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}
