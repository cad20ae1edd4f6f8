//go:build unix

package files

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestReadDoesNotWaitForAFIFO(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	_, err = Read(fifo)
	_, in := ReadIn(root, "fifo")
	for _, err := range []error{err, in} {
		if err == nil || !strings.Contains(err.Error(), "regular file") {
			t.Errorf("got %v", err)
		}
	}
}
