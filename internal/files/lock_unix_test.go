//go:build unix

package files

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that is being started briefly holds copies of all open files. They
// must not keep a released lock.
func TestReleaseUnlocksDespiteCopiesOfTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := TryLock(file); !ok || err != nil {
			t.Fatalf("it is not free: %v, %v", ok, err)
		}
		return file
	}
	one := open()
	copied, err := unix.Dup(int(one.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(copied) //nolint:errcheck // nothing was written
	if err := Unlock(one); err != nil {
		t.Fatal(err)
	}
	if err := Unlock(open()); err != nil {
		t.Error(err)
	}
}
