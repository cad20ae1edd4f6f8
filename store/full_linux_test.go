package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/agent"
)

func TestAFullDiskRefusesTheMessageAndLosesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("needs the right to mount a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
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

	// It works again as soon as there is space, with no restart.
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
