//go:build !unix

package vectors

import (
	"io"
	"os"
)

func offHeap(size int) ([]byte, error) { return make([]byte, size), nil }

func release([]byte) error { return nil }

// mapFile reads the first bytes of a file, since a mapped file could not be replaced.
func mapFile(file *os.File, size int) ([]byte, error) {
	block := make([]byte, size)
	_, err := io.ReadFull(io.NewSectionReader(file, 0, int64(size)), block)
	return block, err
}
