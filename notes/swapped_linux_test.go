package notes

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// swaps is how often the next test replaces a folder by a link.
func swaps() int64 {
	if os.Getenv("LIFEHUB_SOAK") != "" {
		return 1_000_000
	}
	return 5_000
}

// TestASwappedFolderLetsNothingOutOrIn repeatedly replaces a folder of the vault
// by a link that leads outside, and back, while notes in it are listed, read and
// written.
func TestSwappedFolderCannotEscapeTheVault(t *testing.T) {
	folder := vault(t, map[string]string{"now/a.md": "inside\n"})
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "a.md"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(folder.Dir(), name) }
	if err := os.Symlink(outside, at("link")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	var swapped atomic.Int64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(stopped)
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := unix.Renameat2(unix.AT_FDCWD, at("now"), unix.AT_FDCWD, at("link"),
				unix.RENAME_EXCHANGE); err != nil {
				t.Errorf("swap: %v", err)
			}
			swapped.Add(1)
			for range n % 64 { // so that some reads and writes succeed
				runtime.Gosched()
			}
		}
	}()
	reads, writes := 0, 0
	for i := 0; !t.Failed() && (swapped.Load() < swaps() || reads == 0 || writes == 0); i++ {
		if raw, _, err := folder.Raw("now/a.md"); err == nil {
			if reads++; string(raw) != "inside\n" {
				t.Errorf("read %q from outside", raw)
			}
		}
		// may fail; only the files outside are checked
		_ = folder.Replace("now/a.md", []byte("secret\n"), []byte("inside\n"))
		if folder.Replace("now/a.md", []byte("inside\n"), []byte("inside\n")) == nil {
			writes++
		}
		if i%10 == 0 && i < 1000 {
			_ = folder.Create(fmt.Sprintf("now/new %d.md", i), "inside\n")
		}
		if i%100 == 0 {
			entries, _, _ := folder.List(t.Context())
			for _, e := range entries {
				if raw, _, err := folder.Raw(e.Path); err == nil && string(raw) == "secret\n" {
					t.Errorf("%s was listed, and is outside", e.Path)
				}
			}
		}
	}
	close(stop)
	<-stopped
	left, err := os.ReadDir(outside)
	if err != nil || len(left) != 1 {
		t.Errorf("outside there are now %v, %v", left, err)
	}
	if text, _ := os.ReadFile(filepath.Join(outside, "a.md")); string(text) != "secret\n" {
		t.Errorf("the file outside is now %q", text)
	}
	t.Logf("%d swaps, %d reads and %d writes came through, all inside", swapped.Load(), reads, writes)
}
