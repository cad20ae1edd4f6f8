package files

import (
	"os"
	"path/filepath"
	"testing"
)

func TestLocksAreExclusiveOrShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	try := func(file *os.File, want bool) {
		t.Helper()
		if got, err := TryLock(file); got != want || err != nil {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	one, two := open(), open()
	try(one, true)
	try(two, false)
	one.Close()
	try(two, true)
	if err := LockShared(two); err != nil {
		t.Fatal(err)
	}
	three := open()
	try(three, false)
	if err := LockShared(three); err != nil {
		t.Fatal(err)
	}
	two.Close()
	try(three, true)
	if _, err := TryLock(two); err == nil {
		t.Error("a closed file was taken")
	}
}
