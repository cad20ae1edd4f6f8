package chat

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseProgram has the kernel unmap the pages of the program file that were
// read so far; one that is needed again is mapped again, at about a microsecond
// for each 64 KB, from where the kernel keeps the file. Why: docs/design/performance.md.
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
			_, _, _ = unix.Syscall(unix.SYS_MADVISE, uintptr(from), uintptr(to-from), unix.MADV_DONTNEED)
		}
	}
}
