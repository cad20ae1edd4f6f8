package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/agent"
)

// smallDisk mounts a file system of 1 MB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

func TestFullDiskDuringMigrationLeavesTheOldSchema(t *testing.T) {
	dir := smallDisk(t)
	refused := 0
	for try := range 20 {
		path := filepath.Join(dir, fmt.Sprint(try), "lifehub.db")
		newest := migrations
		migrations = newest[:1]
		s, err := Open(path)
		if err == nil {
			_, err = s.file.Write.Exec(`INSERT INTO conversations (id, title, created, updated) VALUES ('c', 'kept', 1,
				1)`)
			err = errors.Join(err, s.Close())
		}
		migrations = newest
		if err != nil {
			t.Fatal(err)
		}
		var disk syscall.Statfs_t
		if err := syscall.Statfs(dir, &disk); err != nil {
			t.Fatal(err)
		}
		ballast := filepath.Join(dir, "ballast")
		if err := os.WriteFile(ballast, make([]byte, max(0, int64(disk.Bfree)*disk.Bsize-int64(try)*16<<10)),
			0o600); err != nil {
			t.Fatal(err)
		}
		s, err = Open(path)
		if err == nil {
			s.Close()
		} else if refused++; !strings.Contains(err.Error(), "full") {
			t.Errorf("%d KiB free: %v", try*16, err)
		}
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		if s, err = Open(path); err != nil {
			t.Fatalf("%d KiB were free, and with space again: %v", try*16, err)
		}
		c, err := s.Conversation(t.Context(), "c")
		if err != nil || c.Title != "kept" {
			t.Errorf("what was there is %+v, %v", c, err)
		}
		if err := errors.Join(s.Close(), os.RemoveAll(filepath.Dir(path))); err != nil {
			t.Fatal(err)
		}
	}
	if refused == 0 || refused == 20 {
		t.Errorf("%d of 20 were refused: the disk was not full in the middle of it", refused)
	}
}

// A backup leaves as much space as it takes.
func TestBackupNeedsTwiceItsSizeOfFreeSpace(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	path := filepath.Join(dir, "lifehub.db")
	s, err := Open(path)
	must(t, err)
	defer s.Close()
	say(t, s, "c", "q", strings.Repeat("words ", 1<<18))
	ballast := filepath.Join(dir, "ballast")
	must(t, os.WriteFile(ballast, make([]byte, 8<<20-2*s.Size()), 0o600))
	if err := s.BackUp(t.Context()); err == nil || !strings.Contains(err.Error(), "MB are free") {
		t.Errorf("got %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "backups", "*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	must(t, os.Remove(ballast))
	must(t, s.BackUp(t.Context()))
}

func TestFullDiskRejectsTheMessageAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := smallDisk(t)
	path := filepath.Join(dir, "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 256<<10), 0o600); err != nil {
		t.Fatal(err)
	}

	words := strings.Repeat("long answer ", 500)
	kept, refused := 0, 0
	for range 1000 {
		turn, err := s.Begin(t.Context(), "c", "question")
		if err == nil {
			err = s.Finish(t.Context(), turn, agent.Answer{Text: words})
		}
		if err != nil {
			if !strings.Contains(err.Error(), "full") {
				t.Fatalf("got %v, want an error that says the disk is full", err)
			}
			if refused++; refused == 5 {
				break
			}
			continue
		}
		kept++
	}
	if kept == 0 || refused == 0 {
		t.Fatalf("%d kept, %d refused: the disk never filled up", kept, refused)
	}

	// It works again as soon as there is space, without a restart.
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	say(t, s, "c", "after", "again")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	list, err := again.Exchanges(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	whole := 0
	for _, e := range list {
		if e.Answer.Text == words && !e.Open {
			whole++
		}
	}
	if whole != kept || list[len(list)-1].Answer.Text != "again" {
		t.Errorf("%d answers were acknowledged, %d are there", kept, whole)
	}
}

// Saved conversations can be read when nothing can be written.
func TestFullDiskCanStillBeRead(t *testing.T) {
	dir := smallDisk(t)
	path := filepath.Join(dir, "lifehub.db")
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	said(t, s, "c", 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 1<<20), 0o600) // until the disk is full
	for _, how := range []string{"full", "read-only"} {
		if how == "read-only" {
			if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
		}
		if s, err := Open(path); err == nil {
			s.Close()
			t.Fatalf("%s: it can be written: the test shows nothing", how)
		}
		s, err := OpenToRead(path)
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		exchanges, err := s.Exchanges(t.Context(), "c")
		if err != nil || len(exchanges) != 3 || s.Warning() == "" {
			t.Errorf("%s: %d exchanges, %v, warning %q", how, len(exchanges), err, s.Warning())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
