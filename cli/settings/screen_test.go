package settings_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestScreenHasSettings(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	apptest.Write(t, filepath.Join(dir, "mine.yaml"), "# mine\nbrand: \"#ff00ff\"\ndim: 8\n")
	apptest.Write(t, file, "theme: "+dir+"/mine.yaml\nnotify: false\nkeys:\n  compose: ctrl+x\n  newline: [ctrl+j, "+
		"alt+enter]\n")
	c, err := settings.Load(file, none)
	if err != nil {
		t.Fatal(err)
	}
	if c.Notify || len(c.Keys["newline"]) != 2 || c.Keys["compose"][0] != "ctrl+x" {
		t.Errorf("got %+v", c)
	}
	own, err := settings.OwnColours(c.Theme)
	if err != nil || own["brand"] != "#ff00ff" || own["dim"] != "8" {
		t.Errorf("colours %v, %v", own, err)
	}
	var errs strings.Builder
	for _, text := range []string{
		"keys:\n  compose: ctrl+r\n",
		"keys:\n  compse: ctrl+x\n",
		"keys: ctrl+x\n",
		"theme: purple\n",
	} {
		apptest.Write(t, file, text)
		_, err := settings.Load(file, none)
		if err == nil {
			t.Fatalf("%q has no error", text)
		}
		fmt.Fprintf(&errs, "%q\n\t%s\n", text, strings.ReplaceAll(err.Error(), file, "FILE"))
	}
	golden.RequireEqual(t, errs.String())
	apptest.Write(t, filepath.Join(dir, "bad.yaml"), "brand: red\n")
	if _, err := settings.OwnColours(filepath.Join(dir, "bad.yaml")); err == nil {
		t.Error("a colour that is none was taken")
	}
}

func TestSavingASettingPreservesTheFile(t *testing.T) {
	p := settings.Paths{Config: t.TempDir()}
	file := p.ConfigFile()
	for before, want := range map[string]string{
		"": "theme: \"nord\"\n",
		"# mine\ntheme: dark # at night\n# more\nmode: loop\n": "# mine\ntheme: \"nord\"\n# more\nmode: loop\n",
		"mode: loop": "mode: loop\ntheme: \"nord\"\n",
	} {
		apptest.Write(t, file, before)
		if err := p.Save("theme", "nord"); err != nil {
			t.Error(err)
		}
		if got, _ := os.ReadFile(file); string(got) != want {
			t.Errorf("%q became %q, want %q", before, got, want)
		}
	}
	if err := p.Save("theme", "purple\nmode: team"); err == nil {
		t.Error("a value that is none was saved")
	}
	apptest.Write(t, file, "theme: [\n")
	if err := p.Save("theme", "nord"); err == nil {
		t.Error("a file that cannot be read was written over")
	}
}
