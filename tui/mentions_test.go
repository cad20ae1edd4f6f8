package tui

import (
	"testing"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

func TestThePromptOfAServerIsFilledIn(t *testing.T) {
	for name, c := range map[string]struct {
		keys      []string
		want, see string
	}{
		"by its form": {
			[]string{"/everything:args-prompt", "enter", "Ham", "enter", "enter", "enter"},
			prompted("args-prompt"), "What's weather in Ham?",
		},
		"chosen": {[]string{"/everything:ar", "enter"}, "", "city*"},
		"by what is typed": {
			[]string{"/everything:args-prompt New York", "enter"},
			prompted("args-prompt"),
			"What's weather in New?",
		},
		"by name": {
			[]string{`/everything:args-prompt city="New York"`, "enter"},
			prompted("args-prompt"),
			"What's weather in New York?",
		},
		"not by others": {[]string{`/everything:args-prompt state=NY`, "enter"}, "", "NY"},
		"not half": {
			[]string{"/everything:args-prompt", "enter", "down", "enter", "enter"},
			"",
			"city is required",
		},
		"without blanks": {
			[]string{"/everything:simple-prompt", "enter"},
			prompted("simple-prompt"), "What's weather in ?",
		},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 100, 30, chattest.WithLibrary(), func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.Text(); got != c.want {
					t.Errorf("the composer holds %q, want %q", got, c.want)
				}
				r.mustShow(c.see)
			})
		})
	}
}

// prompted is the message that uses a prompt of the server everything.
func prompted(name string) string { return agent.DoAsAsked("[prompt everything:" + name + "]") }

func TestANameAfterAnAtIsCompleted(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"by its beginning": {[]string{"see @files", "tab"}, "see @files:file:///home/ana/plan.md "},
		"by letters of it": {
			[]string{"see @dyntext", "enter"},
			"see @everything:demo://resource/dynamic/text/{resourceId} ",
		},
		"by what it says": {[]string{"@training", "tab"}, "@files:file:///home/ana/plan.md "},
		"the next one":    {[]string{"@", "down", "tab"}, "@daily/2026-11-20.md "},
		"closed":          {[]string{"@fi", "esc", "tab"}, "@fi"},
		"a note":          {[]string{"@fit", "tab"}, "@fitness.md "},
		"a note by title": {[]string{"@friday", "tab", "and more"}, "@daily/2026-11-20.md and more"},
		"with blanks":     {[]string{"@grandm", "tab"}, `@"recipes/Apple pie.md" `},
		"letters far off": {[]string{"@gapie", "tab"}, `@"recipes/Apple pie.md" `},
		"no match":        {[]string{"@xyzzy", "tab"}, "@xyzzy"},
		"a file":          {[]string{"@./rep", "tab"}, `@"./report of 2026.txt" `},
		"into a folder":   {[]string{"@./ph", "tab", "cat", "tab"}, "@./photos/cat.png "},
		"amid the text":   {[]string{"look well", "ctrl+a", "@fitn", "tab"}, "@fitness.md look well"},
		"an address":      {[]string{"ana@files", "tab"}, "ana@files"},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 100, 30, chattest.WithLibrary(), func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.Text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestServerPromptFillsTheComposer(t *testing.T) {
	inRig(t, 100, 30, chattest.WithLibrary(), func(r *rig) {
		r.keys("/everything:simple-prompt", "enter")
		if got := r.m.composer.Text(); got != prompted("simple-prompt") {
			t.Errorf("got %q", got)
		}
		r.keys("ctrl+c", "/args", "tab", "enter", "Hamburg", "enter", "enter", "enter")
		if got := r.m.composer.Text(); got != prompted("args-prompt") {
			t.Errorf("got %q\n%s", got, r.text())
		}
		r.keys("ctrl+c", "/args", "tab", "enter", "Nowhere", "enter", "enter", "enter")
		r.mustShow("no such city")
		r.keys("/args", "tab", "enter", "Ham", "esc")
		r.pass(dialog.QuietPeriod)
		r.keys("n", "enter", "more text")
		if got := r.m.composer.Text(); got != "more text" {
			t.Errorf("after a no: got %q\n%s", got, r.text())
		}
	})
}
