package vectors

import "golang.org/x/sys/unix"

// hugePages asks for pages of 2 MB: at 4 KB each the first touch of every page
// costs more than reading the file into it. A system that has none continues
// with small ones.
func hugePages(block []byte) { _ = unix.Madvise(block, unix.MADV_HUGEPAGE) }
