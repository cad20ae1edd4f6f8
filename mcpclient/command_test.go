//go:build unix

package mcpclient

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/mcpclient/config"
)

func TestRunOnceReturnsCodeAndBeginningOfStderr(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		want   Finished
	}{
		"reads its input": {`read -r line; echo "$line" >&2; exit 3`, Finished{3, "hello\n"}},
		"reads nothing":   {"exit 0", Finished{}},
		"is killed":       {"kill -KILL $$", Finished{Code: -1}},
		"floods": {
			"yes | head -c 1000000 >&2; yes | head -c 1000000; exit 2",
			Finished{2, strings.Repeat("y\n", maxStderr/2)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := RunOnce(t.Context(), config.Entry{Command: "/bin/sh", Args: []string{"-c", tc.script}},
				t.TempDir(), []byte("hello\n"))
			if err != nil || got != tc.want {
				t.Errorf("got %d %.40q, %v", got.Code, got.Stderr, err)
			}
		})
	}
	if _, err := RunOnce(t.Context(), config.Entry{Command: "/nonexistent"}, t.TempDir(), nil); err == nil {
		t.Error("a command that does not exist ran")
	}
}

// One that hangs ends with its context, together with what it has started: RunOnce
// waits for all of them.
func TestRunOnceLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() {
		r, err := os.Open(fifo) // opens when both sleep
		if err == nil {
			_, _ = r.Read(make([]byte, 1))
			defer r.Close()
		}
		cancel(errors.New("too long"))
	}()
	script := `(exec sleep 600) & echo > "$0"; exec sleep 600`
	_, err := RunOnce(ctx, config.Entry{Command: "/bin/sh", Args: []string{"-c", script, fifo}}, t.TempDir(), nil)
	if err == nil || err.Error() != "too long" {
		t.Errorf("it ended with %v", err)
	}
}
