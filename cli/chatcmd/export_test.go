package chatcmd

import (
	"os"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/hostile"
	"lifehub/notes"

	"lifehub/agent"
	"lifehub/store"
)

func TestExportsAreDisarmed(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	own := "```html\n<b>[x](y)</b> ![z](w)\n```"
	for _, markdown := range hostile.Markdown {
		turn, err := s.Begin(t.Context(), "c", markdown)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), turn, agent.Answer{
			Text:      markdown,
			Citations: []agent.Citation{{N: 1, Path: "a](http://e.example)<b>"}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	l := &background{App: &app.App{Store: s}}
	t.Chdir(t.TempDir())
	if _, err := l.slashExport(t.Context(), "c", "all.md"); err != nil {
		t.Fatal(err)
	}
	exported, err := os.ReadFile("all.md")
	if err != nil {
		t.Fatal(err)
	}
	if !notes.Parse(notes.Entry{Path: "all.md"}, exported).Exported {
		t.Errorf("no mark of an export:\n%.200s", exported)
	}
	if got := hostile.Armed(string(exported)); got != nil {
		t.Errorf("the conversation has %q", got)
	}
	turn, err := s.Begin(t.Context(), "d", own)
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: own +
			"\n\n[Your bank](https://e.example/?d=1)\n\n(LifeHub's record of this turn: changed a.md (+1))"})
	}
	if err == nil {
		_, err = l.slashExport(t.Context(), "d", "own.md")
	}
	if err != nil {
		t.Fatal(err)
	}
	if exported, err = os.ReadFile("own.md"); err != nil || strings.Count(string(exported), own) != 2 ||
		!strings.Contains(string(exported), "[Your bank] (https://e.example/?d=1)") ||
		strings.Contains(string(exported), "record of") {
		t.Errorf("%v, the conversation is\n%s", err, exported)
	}
}

func TestExportWritesOnlyANewFile(t *testing.T) {
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn, err := s.Begin(t.Context(), "c", "Was läuft, am Sonntag?")
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: "Ein langer Lauf."})
	}
	if err != nil {
		t.Fatal(err)
	}
	l := &background{App: &app.App{Store: s}}
	t.Chdir(t.TempDir())
	for _, test := range []struct{ given, file, holds string }{
		{"", "was-läuft-am-sonntag.md", "# Was läuft"},
		{"html", "was-läuft-am-sonntag.html", "<!DOCTYPE"},
		{"json out.txt", "out.txt", `"exchanges"`},
		{"my talk.html", "my talk.html", "<!DOCTYPE"},
	} {
		if _, err := l.slashExport(t.Context(), "c", test.given); err != nil {
			t.Errorf("%q: %v", test.given, err)
		}
		if text, err := os.ReadFile(test.file); err != nil || !strings.Contains(string(text), test.holds) {
			t.Errorf("%q: %v, %s", test.given, err, text)
		}
		if _, err := l.slashExport(t.Context(), "c", test.given); err == nil ||
			!strings.Contains(err.Error(), "already") {
			t.Errorf("%q over an old file: %v", test.given, err)
		}
	}
	if _, err := l.slashExport(t.Context(), "none", ""); err == nil ||
		!strings.Contains(err.Error(), "nothing to export") {
		t.Errorf("got %v", err)
	}
}
