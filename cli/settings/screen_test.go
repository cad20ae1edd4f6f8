package settings_test

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestScreenHasSettings(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	apptest.Write(t, filepath.Join(dir, "mine.yaml"), "# mine\nbrand: \"#ff00ff\"\ndim: 8\n")
	apptest.Write(t, file, "theme: "+dir+"/mine.yaml\nnotify: false\nkeys:\n  compose: ctrl+x\n  newline: [ctrl+j, alt+enter]\n")
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
	for text, want := range map[string]string{
		"keys:\n  compose: ctrl+r\n": ":1: keys: ctrl+r is both search and compose",
		"keys:\n  compse: ctrl+x\n":  `:1: keys: no action is called "compse"`,
		"keys: ctrl+x\n":             ":1: key: value pairs are expected, not a single value",
		"theme: purple\n":            `:1: theme: "purple" is not one of auto, dark, light, catppuccin-mocha, catppuccin-latte, dracula, gruvbox-dark, gruvbox-light, nord, solarized-dark, solarized-light, tokyo-night, ansi, contrast`,
	} {
		apptest.Write(t, file, text)
		if _, err := settings.Load(file, none); err == nil || err.Error() != file+want {
			t.Errorf("%q: %v", text, err)
		}
	}
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
