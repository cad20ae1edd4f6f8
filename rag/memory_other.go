//go:build !unix

package rag

func offHeap(size int) ([]byte, error) { return make([]byte, size), nil }

func release([]byte) error { return nil }
