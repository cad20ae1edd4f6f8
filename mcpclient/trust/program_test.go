package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/mcpclient/config"
)

// The digests cover what an interpreter runs as far as it can be determined, but
// not data.
func TestProgramCoversWhatAnInterpreterRuns(t *testing.T) {
	for name, tc := range map[string]struct {
		command string
		args    []string
		change  string // file that is modified
		pinned  bool   // whether the digest must change
		says    string
	}{
		"a script":                         {"python3", []string{"server.py"}, "server.py", true, ""},
		"a script after options":           {"node", []string{"--no-warnings", "app/index.js", "app"}, "app/index.js", true, ""},
		"a folder":                         {"python3.12", []string{"-u", "app"}, "app/lib/part.py", true, ""},
		"this folder":                      {"node", []string{"."}, "app/index.js", true, ""},
		"what a folder depends on":         {"bun", []string{"app"}, "app/package.json", true, ""},
		"a script that is new in a folder": {"python3", []string{"app"}, "app/new.py", true, ""},
		"data in a folder":                 {"python3", []string{"app"}, "app/data.db", false, ""},
		"a module that is a file":          {"python3", []string{"-m", "server"}, "server.py", true, ""},
		"a module that is a folder":        {"python3", []string{"-m", "app.lib"}, "app/lib/part.py", true, ""},
		"a module from elsewhere":          {"python3", []string{"-m", "weather", "app"}, "app/index.js", false, "-m weather: what it runs cannot be seen"},
		"a module that comes before that":  {"python3", []string{"-m", "weather"}, "weather.py", true, "-m weather: what it runs cannot be seen"},
		"a script that is found elsewhere": {"uv", []string{"--directory", "app", "run", "main.py"}, "app/main.py", false, "main.py: what it runs cannot be seen"},
		"a folder that a server works on":  {"notes-server", []string{"app"}, "app/index.js", false, ""},
		"a folder that a script works on":  {"python3", []string{"server.py", "app"}, "app/index.js", false, ""},
		"the interpreter":                  {"python3", []string{"server.py"}, "python3", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, file := range []string{tc.command, "server.py", "app/__main__.py", "app/index.js", "app/package.json", "app/lib/part.py", "app/data.db"} {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, filepath.FromSlash(file))), 0o700); err != nil {
					t.Fatal(err)
				}
				put(t, filepath.Join(dir, filepath.FromSlash(file)), "one of "+file)
			}
			s := config.Entry{Command: filepath.Join(dir, tc.command), Args: tc.args}
			before := Program(s, dir)
			if before == "" || !strings.Contains(before, tc.says) || tc.says == "" && strings.Contains(before, "cannot be seen") {
				t.Errorf("it says %q", before)
			}
			put(t, filepath.Join(dir, filepath.FromSlash(tc.change)), "another")
			if after := Program(s, dir); (after != before) != tc.pinned {
				t.Errorf("before %s\nafter %s", before, after)
			}
		})
	}
	if got := Program(config.Entry{Command: filepath.Join(t.TempDir(), "python3")}, os.TempDir()); got != "" {
		t.Errorf("of a program that is not there it says %q", got)
	}
}
