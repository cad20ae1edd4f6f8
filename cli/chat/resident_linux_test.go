package chat

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestTheProgramFileIsReleased(t *testing.T) {
	file := mapProgram(t, unix.PROT_READ)
	var read byte
	for at := 0; at < len(file); at += os.Getpagesize() {
		read += file[at]
	}
	before := residentFile(t)
	releaseProgram()
	if after := residentFile(t); after > before-len(file)>>10/2 {
		t.Errorf("%d kB of files are mapped, %d before; the program file has %d (%d)", after, before, len(file)>>10, read)
	}
}

// The kernel would map 64 KB around each page that is read.
func TestPagesOfTheProgramFileAreMappedSingly(t *testing.T) {
	file := mapProgram(t, unix.PROT_READ)
	if err := mapSingly(uint64(uintptr(unsafe.Pointer(&file[0]))), uint64(uintptr(unsafe.Pointer(&file[0])))+uint64(os.Getpagesize())); err != nil {
		t.Skipf("no userfaultfd that watches files: %v", err)
	}
	releaseProgram()
	before := residentFile(t)
	var read byte
	for at := 0; at < len(file); at += 64 << 10 {
		read += file[at]
	}
	if after := residentFile(t); after > before+len(file)>>10/2 {
		t.Errorf("%d kB of files are mapped, %d before one page in sixteen of %d kB was read (%d)", after, before, len(file)>>10, read)
	}
}

// A page that was changed, by a debugger or for relocations, has no copy in the file.
func TestWhatWasChangedInTheProgramFileIsKept(t *testing.T) {
	page := mapProgram(t, unix.PROT_READ|unix.PROT_WRITE)
	page[0]++
	changed := page[0]
	if err := unix.Mprotect(page, unix.PROT_READ); err != nil {
		t.Fatal(err)
	}
	releaseProgram()
	if page[0] != changed {
		t.Errorf("the byte %#x that was written there is %#x again", changed, page[0])
	}
}

// mapProgram maps the program file once more, for this process alone.
func mapProgram(t *testing.T, protection int) []byte {
	t.Helper()
	program, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	info, err := program.Stat()
	if err != nil {
		t.Fatal(err)
	}
	mapped, err := unix.Mmap(int(program.Fd()), 0, int(info.Size()), protection, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mapped) })
	return mapped
}

// residentFile is how many kB of files are mapped in memory.
func residentFile(t *testing.T) (kB int) {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "\nRssFile:")
	if _, err := fmt.Sscan(rest, &kB); !found || err != nil {
		t.Skipf("this kernel does not tell the memory of files: %v", err)
	}
	return kB
}
