package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/testenv"
)

func TestSignalDumpsTheGoroutines(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	defer dumpOnSignal(dir)()
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		files, _ := filepath.Glob(filepath.Join(dir, "goroutines-*.txt"))
		if len(files) != 1 {
			continue
		}
		text, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "TestSignalDumpsTheGoroutines") {
			return
		}
	}
	t.Error("no dump names this test")
}
