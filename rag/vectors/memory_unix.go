//go:build unix

package vectors

import (
	"os"
	"syscall"
)

// offHeap returns zeroed memory that the garbage collector neither scans nor counts. On
// the heap, hundreds of megabytes of vectors would let it grow to twice their size
// between collections.
func offHeap(size int) ([]byte, error) {
	return syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
}

func release(block []byte) error { return syscall.Munmap(block) }

// mapFile maps the first bytes of a file into memory, shared with all processes that
// map it.
func mapFile(file *os.File, size int) ([]byte, error) {
	return syscall.Mmap(int(file.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
}
