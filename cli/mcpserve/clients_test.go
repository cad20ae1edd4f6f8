package mcpserve

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		if strings.HasSuffix(p.file, ".toml") {
			read = toml.Unmarshal
		}
		var file map[string]map[string]run
		if err := read(out, &file); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		entry := file[p.path]["lifehub"]
		if !filepath.IsAbs(entry.Command) || !slices.Equal(entry.Args,
			[]string{"mcp", "serve", "--notes", dir, "--writes"}) || entry.Env["LIFEHUB_HOME"] != home {
			t.Errorf("%s starts %+v", name, entry)
		}
	}
	for _, name := range []string{"esc\x1b[31m", "tab\t", "\u202ebidi", "c1\u009b31m", "line\nfeed", "bad\xff"} {
		dir := filepath.Join(t.TempDir(), name)
		if os.Mkdir(dir, 0o700) != nil {
			continue // the system does not allow such names
		}
		cmd := exec.Command(os.Args[0], "--print-config", "zed", "--notes", dir)
		cmd.Env = append(os.Environ(), environ(home)...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "cannot be shown") ||
			strings.Contains(string(out), name) {
			t.Errorf("%q: %v %q", name, err, out)
		}
	}
	cmd := exec.Command(os.Args[0], "--print-config", "curser")
	cmd.Env = append(os.Environ(), environ(home)...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Did you mean cursor?") {
		t.Errorf("an unknown client: %v %s", err, out)
	}
}
