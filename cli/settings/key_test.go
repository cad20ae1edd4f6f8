package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"
)

func TestKeysOfModelServers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	var errs strings.Builder
	for _, c := range []struct {
		server ModelServer
		text   string // content of the file
		mode   os.FileMode
		key    string
		fails  bool
		says   string // part of the error, whose rest is the system's
	}{
		{server: ModelServer{KeyEnv: "WORK_KEY"}, key: "from-the-environment"},
		{server: ModelServer{KeyEnv: "NO_KEY"}, fails: true},
		{server: ModelServer{KeyFile: file}, text: "from-a-file\nmore\n", mode: 0o600, key: "from-a-file"},
		{server: ModelServer{KeyFile: file}, text: "from-a-file\n", mode: 0o644, fails: true},
		{
			server: ModelServer{KeyCommand: []string{"sh", "-c", "echo from-a-program; echo not this"}},
			key:    "from-a-program",
		},
		{
			server: ModelServer{KeyCommand: []string{"echo", "a key; touch " + file + ".made"}},
			key:    "a key; touch " + file + ".made",
		},
		{server: ModelServer{KeyCommand: []string{"sh", "-c", "echo secret-words >&2; exit 3"}}, fails: true},
		{server: ModelServer{KeyCommand: []string{"cat", "/dev/zero"}}, fails: true, says: ": cat: "},
		{server: ModelServer{KeyCommand: []string{"printf", `a\tb`}}, fails: true},
		{server: ModelServer{KeyCommand: []string{"true"}}, fails: true},
	} {
		_ = os.Remove(file)
		if err := os.WriteFile(file, []byte(c.text), c.mode|0o200); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, c.mode|0o200); err != nil {
			t.Fatal(err)
		}
		r := &Redaction{Config: Defaults(), Environ: []string{
			"WORK_KEY=from-the-environment",
			"PATH=" + os.Getenv("PATH"),
		}}
		c.server.Name = "work"
		key, err := r.KeyOf(c.server)(t.Context())
		switch {
		case c.fails && (err == nil || strings.Contains(err.Error(), "secret-words")):
			t.Errorf("%+v: %q, %v", c.server, key, err)
		case c.says != "":
			if !strings.Contains(err.Error(), c.says) {
				t.Errorf("%+v: %v", c.server, err)
			}
		case c.fails:
			fmt.Fprintln(&errs, strings.ReplaceAll(err.Error(), file, "FILE"))
		case err != nil || key != c.key || r.Known("it is "+key) != "it is [redacted]":
			t.Errorf("%+v: %q, %v, shown as %q", c.server, key, err, r.Known("it is "+key))
		}
	}
	golden.RequireEqual(t, errs.String())
	if _, err := os.Stat(file + ".made"); err == nil {
		t.Error("a shell read the command")
	}
}

// A key is read when it is first needed, and only once.
func TestKeyIsReadOnce(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	r := &Redaction{Config: Defaults(), Environ: os.Environ()}
	key := r.KeyOf(ModelServer{Name: "work", KeyCommand: []string{"sh", "-c", "echo x >> " + count + "; echo the-key"}})
	if _, err := os.Stat(count); err == nil {
		t.Error("it was read before anybody wanted it")
	}
	for range 3 {
		if _, err := key(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if text, _ := os.ReadFile(count); string(text) != "x\n" {
		t.Errorf("read %d times", len(text)/2)
	}
}
