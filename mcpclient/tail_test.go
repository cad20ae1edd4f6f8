package mcpclient

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestTailKeepsTheLastLine(t *testing.T) {
	tail := &tail{secrets: agent.NoSecrets{}}
	for range 100 {
		_, _ = tail.Write([]byte(strings.Repeat("noise ", 1000)))
	}
	if len(tail.rest)+len(tail.last) > 3*maxLine {
		t.Errorf("it keeps %d bytes", len(tail.rest)+len(tail.last))
	}
	for text, want := range map[string]string{"\n\xffthe reason\n\n": "�the reason", "\na\nfirst": "first"} {
		if _, _ = tail.Write([]byte(text)); tail.Last() != want {
			t.Errorf("after %q the last line is %q", text, tail.Last())
		}
	}
}

func TestLogFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "logs", "brave.log")
	tail := &tail{path: path, secrets: agent.NoSecrets{}}
	line := []byte(strings.Repeat("x", 99<<10) + "\n")
	for range 50 {
		if _, err := tail.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = tail.Write([]byte("the end\n"))
	tail.Close()
	for _, name := range []string{path, path + ".old"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > maxLog || (runtime.GOOS != "windows" && info.Mode().Perm() != 0o600) {
			t.Errorf("%s has %d bytes, mode %o", name, info.Size(), info.Mode().Perm())
		}
	}
	if kept, _ := os.ReadFile(path); !strings.HasSuffix(string(kept), "the end\n") {
		t.Error("the last line is not in the log")
	}
}
