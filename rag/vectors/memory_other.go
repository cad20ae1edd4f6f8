//go:build !unix

package vectors

func offHeap(size int) ([]byte, error) { return make([]byte, size), nil }

func release([]byte) error { return nil }
