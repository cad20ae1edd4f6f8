package cli

import (
	"path/filepath"
	"testing"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestAPromptIsFilledIn(t *testing.T) {
	for _, c := range [][3]string{
		{"Sum up my week.", "", "Sum up my week."},
		{"Sum up my week.\n", "in German", "Sum up my week.\n\nin German"},
		{"Translate to $1: $2", `German "good morning"`, "Translate to German: good morning"},
		{"About $ARGUMENTS, and $ARGUMENTS again", "a b", "About a b, and a b again"},
		{"$1 costs $20 or $2", "it", "it costs $20 or "},
		{"$1", "$2 x", "$2"},
	} {
		if got := filledPrompt(c[0], c[1]); got != c[2] {
			t.Errorf("%q with %q: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestAFileOfPromptsIsACommand(t *testing.T) {
	a := apptest.Open(t, apptest.Vault(t))
	apptest.Write(t, filepath.Join(a.Paths.PromptsFolder(), "week.md"), "# Sum up my week\n\nFor $ARGUMENTS.\n")
	apptest.Write(t, filepath.Join(a.Paths.PromptsFolder(), "Not this.md"), "x")
	list := userPrompts(a)
	if len(list) != 1 || list[0].Name != "week" || list[0].Args != "TEXT" || list[0].Help != "Sum up my week" {
		t.Fatalf("got %+v", list)
	}
	if text, err := list[0].Prompt("November"); err != nil || text != "# Sum up my week\n\nFor November." {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestTheScreenHasSettings(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	dir := t.TempDir()
	file := filepath.Join(dir, "config.yaml")
	apptest.Write(t, filepath.Join(dir, "mine.yaml"), "# mine\nbrand: \"#ff00ff\"\ndim: 8\n")
	apptest.Write(t, file, "theme: "+dir+"/mine.yaml\nediting: vi\nnotify: false\nkeys:\n  compose: ctrl+x\n  newline: [ctrl+j, alt+enter]\n")
	c, err := settings.Load(file, none)
	if err != nil {
		t.Fatal(err)
	}
	if c.Editing != "vi" || c.Notify || len(c.Keys["newline"]) != 2 || c.Keys["compose"][0] != "ctrl+x" {
		t.Errorf("got %+v", c)
	}
	own, err := settings.OwnColours(c.Theme)
	if err != nil || own["brand"] != "#ff00ff" || own["dim"] != "8" {
		t.Errorf("colours %v, %v", own, err)
	}
	for text, want := range map[string]string{
		"keys:\n  compose: ctrl+r\n": ":1: keys: ctrl+r is both search and compose",
		"keys:\n  compse: ctrl+x\n":  `:1: keys: no action is called "compse"`,
		"keys: ctrl+x\n":             ":1: further keys are expected, not a value",
		"theme: purple\n":            `:1: theme: "purple" is none of auto, dark, light, ansi, contrast`,
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
