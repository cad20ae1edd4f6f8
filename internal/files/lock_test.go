package files

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

func TestALockHeldForLongNamesItsHolder(t *testing.T) {
	t.Parallel()
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
	one := open()
	if err := Lock(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	waiting, err := os.OpenFile(path, os.O_RDWR, 0o600) // not closed, since its wait goes on
	if err != nil {
		t.Fatal(err)
	}
	if err = Lock(t.Context(), waiting); err == nil || !strings.Contains(err.Error(),
		fmt.Sprintf("process %d", os.Getpid())) {
		t.Errorf("got %v", err)
	}
	if err := Unlock(one); err != nil {
		t.Fatal(err)
	}
	if err := Lock(t.Context(), open()); err != nil { // it is free again
		t.Error(err)
	}
}
