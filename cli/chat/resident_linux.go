package chat

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// releaseProgram has the kernel unmap the pages of the program file that were
// read so far; one that is needed again is mapped again, alone, at half a
// microsecond, from where the kernel keeps the file. Why: docs/design/performance.md.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var from, to uint64 // of the mapping that the line is of; 0 for one that stays
	for line := range strings.Lines(string(mappings)) {
		switch fields := strings.Fields(line); {
		case !strings.HasSuffix(fields[0], ":"): // 00400000-01424000 r-xp 00000000 08:01 1234 /usr/bin/lifehub
			from, to = 0, 0
			if strings.Contains(fields[1], "w") || !strings.HasSuffix(line, " "+program+"\n") {
				break
			}
			first, last, _ := strings.Cut(fields[0], "-")
			from, _ = strconv.ParseUint(first, 16, 64)
			to, _ = strconv.ParseUint(last, 16, 64)
		case fields[0] == "Anonymous:" && fields[1] == "0" && from < to: // of what was changed, the file has no copy
			_ = mapSingly(from, to)
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
		}
	}
}

// mapSingly has the kernel map each page of a range when it is read, without
// the 64 KB around it. The kernel does so where a userfaultfd(2) watches for
// writes, which there are none of here. It fails before Linux 6.7 and where
// userfaultfd is forbidden, as it is in most containers.
func mapSingly(from, to uint64) error {
	const (
		register = 0xc020aa00 // UFFDIO_REGISTER
		writes   = 1 << 1     // UFFDIO_REGISTER_MODE_WP
	)
	request := [4]uint64{from, to - from, writes}
	if _, _, failed := unix.Syscall(unix.SYS_IOCTL, faults(), register, uintptr(unsafe.Pointer(&request))); failed != 0 {
		return failed
	}
	return nil
}

// faults is the userfaultfd of mapSingly, which counts as long as it is open;
// nothing can be registered with one that could not be made.
var faults = sync.OnceValue(func() uintptr {
	const (
		userModeOnly = 1          // UFFD_USER_MODE_ONLY: asks for no privileges
		enable       = 0xc018aa3f // UFFDIO_API
		version      = 0xaa       // UFFD_API
		async        = 1 << 15    // UFFD_FEATURE_WP_ASYNC: nobody is asked about a write, and any mapping will do
	)
	fd, _, failed := unix.Syscall(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|userModeOnly, 0, 0)
	if failed == 0 {
		request := [3]uint64{version, async}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, fd, enable, uintptr(unsafe.Pointer(&request)))
	}
	return fd
})
