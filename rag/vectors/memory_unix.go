//go:build unix

package vectors

import (
	"os"
	"syscall"
)

// offHeap returns zeroed memory that the garbage collector neither scans nor
// counts: hundreds of megabytes of vectors would otherwise let the heap grow
// to twice their size between two collections.
func offHeap(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(block []byte) error { return syscall.Munmap(block) }

// mapFile returns the first bytes of a file as memory, read when they are
// needed and shared with all who map it.
func mapFile(file *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}
