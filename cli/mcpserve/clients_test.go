package mcpserve

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/pelletier/go-toml/v2"

	"lifehub/internal/apptest"
)

func TestEntryIsWhatItsClientReads(t *testing.T) {
	t.Parallel()
	dir, home := filepath.Join(t.TempDir(), `my "notes" & more`), t.TempDir()
	apptest.Write(t, filepath.Join(dir, "a.md"), "# A\n")
	for name, p := range programs {
		cmd := exec.Command(os.Args[0], "--print-config", name, "--writes", "--notes", filepath.Base(dir))
		cmd.Dir, cmd.Env = filepath.Dir(dir), append(os.Environ(), environ(home)...)
		var output strings.Builder
		cmd.Stderr = &output
		out, err := cmd.Output()
		if err != nil || !strings.Contains(output.String(), p.file) {
			t.Fatalf("%s: %v %s", name, err, output.String())
		}
		read := json.Unmarshal
		switch filepath.Ext(strings.Fields(p.file)[0]) {
		case ".toml":
			read = toml.Unmarshal
		case ".yaml":
			read = func(text []byte, into any) error { return yaml.Unmarshal(text, into) }
		}
		var file map[string]map[string]map[string]any
		if err := read(out, &file); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		entry := file[p.path]["lifehub"]
		var command []string
		for _, part := range []any{entry["command"], entry["cmd"], entry["args"]} {
			switch v := part.(type) {
			case string:
				command = append(command, v)
			case []any:
				for _, word := range v {
					command = append(command, word.(string))
				}
			}
		}
		if len(command) == 0 || !filepath.IsAbs(command[0]) || !slices.Equal(command[1:], []string{"mcp", "serve", "--notes", dir, "--writes"}) {
			t.Errorf("%s starts %q", name, command)
		}
		if env, ok := slices.Collect(maps.Values(entry))[0].(map[string]any); ok && len(env) != 1 || !strings.Contains(string(out), home) {
			t.Errorf("%s says nothing of LIFEHUB_HOME: %s", name, out)
		}
	}
	for _, name := range []string{"esc\x1b[31m", "tab\t", "\u202ebidi", "c1\u009b31m", "line\nfeed", "bad\xff"} {
		dir := filepath.Join(t.TempDir(), name)
		if os.Mkdir(dir, 0o700) != nil {
			continue // the system does not allow such names
		}
		cmd := exec.Command(os.Args[0], "--print-config", "goose", "--notes", dir)
		cmd.Env = append(os.Environ(), environ(home)...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot be shown") || strings.Contains(string(out), name) {
			t.Errorf("%q: %v %q", name, err, out)
		}
	}
	cmd := exec.Command(os.Args[0], "--print-config", "curser")
	cmd.Env = append(os.Environ(), environ(home)...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Did you mean cursor?") {
		t.Errorf("an unknown client: %v %s", err, out)
	}
}
