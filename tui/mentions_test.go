package tui

import (
	"context"
	"errors"
	"testing"

	"lifehub/tui/backend"
	"lifehub/tui/dialog"
)

// withLibrary is options whose servers have resources and prompts.
func withLibrary() backend.Options {
	o := withEverything()
	o.Preview = func(_ context.Context, name string) string { return "The beginning of\n" + name }
	o.Mentions = func(_ context.Context, place string) ([]backend.Mention, error) {
		if place == "./" {
			return []backend.Mention{{Name: "./photos/", Detail: "folder"}, {Name: "./report of 2026.txt"}}, nil
		}
		if place == "./photos/" {
			return []backend.Mention{{Name: "./photos/cat.png", Detail: "image"}}, nil
		}
		return []backend.Mention{
			{Name: "fitness.md", Detail: "Fitness"},
			{Name: "daily/2026-11-20.md", Detail: "Friday"},
			{Name: "recipes/Apple pie.md", Detail: "Grandma's apple pie"},
			{Name: "everything:demo://resource/static/document/features.md", Detail: "features.md"},
			{Name: "everything:demo://resource/dynamic/text/{resourceId}", Detail: "Dynamic Text Resource"},
			{Name: "files:file:///home/ana/plan.md", Detail: "plan.md: the training plan"},
		}, nil
	}
	o.Templates = func() []backend.Template {
		fill := func(_ context.Context, args map[string]string) (string, error) {
			if args["city"] == "Nowhere" {
				return "", errors.New("no such city")
			}
			return "What's weather in " + args["city"] + "?", nil
		}
		return []backend.Template{
			{Name: "everything:args-prompt", Help: "A prompt with two arguments", Blanks: []backend.Blank{{Name: "city", Help: "Name of the city", Required: true}, {Name: "state"}}, Fill: fill},
			{Name: "everything:simple-prompt", Help: "A prompt with no arguments", Fill: fill},
		}
	}
	return o
}

func TestThePromptOfAServerIsFilledIn(t *testing.T) {
	for name, c := range map[string]struct {
		keys      []string
		want, see string
	}{
		"by its form":      {[]string{"/everything:args-prompt", "enter", "Ham", "enter", "enter", "enter"}, "What's weather in Ham?", ""},
		"chosen":           {[]string{"/everything:ar", "enter"}, "", "city*"},
		"by what is typed": {[]string{"/everything:args-prompt New York", "enter"}, "What's weather in New?", ""},
		"by name":          {[]string{`/everything:args-prompt city="New York"`, "enter"}, "What's weather in New York?", ""},
		"not by others":    {[]string{`/everything:args-prompt state=NY`, "enter"}, "", "NY"},
		"not half":         {[]string{"/everything:args-prompt", "enter", "down", "enter", "enter"}, "", "city has to be filled in"},
		"without blanks":   {[]string{"/everything:simple-prompt", "enter"}, "What's weather in ?", ""},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 100, 30, withLibrary(), func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.Text(); got != c.want {
					t.Errorf("the composer holds %q, want %q", got, c.want)
				}
				r.mustShow(c.see)
			})
		})
	}
}

func TestANameAfterAnAtIsCompleted(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"by its beginning": {[]string{"see @files", "tab"}, "see @files:file:///home/ana/plan.md "},
		"by letters of it": {[]string{"see @dyntext", "enter"}, "see @everything:demo://resource/dynamic/text/{resourceId} "},
		"by what it says":  {[]string{"@training", "tab"}, "@files:file:///home/ana/plan.md "},
		"the next one":     {[]string{"@", "down", "tab"}, "@daily/2026-11-20.md "},
		"closed":           {[]string{"@fi", "esc", "tab"}, "@fi"},
		"a note":           {[]string{"@fit", "tab"}, "@fitness.md "},
		"a note by title":  {[]string{"@friday", "tab", "and more"}, "@daily/2026-11-20.md and more"},
		"with blanks":      {[]string{"@grandm", "tab"}, `@"recipes/Apple pie.md" `},
		"letters far off":  {[]string{"@gapie", "tab"}, `@"recipes/Apple pie.md" `},
		"no match":         {[]string{"@xyzzy", "tab"}, "@xyzzy"},
		"a file":           {[]string{"@./rep", "tab"}, `@"./report of 2026.txt" `},
		"into a folder":    {[]string{"@./ph", "tab", "cat", "tab"}, "@./photos/cat.png "},
		"amid the text":    {[]string{"look well", "ctrl+a", "@fitn", "tab"}, "@fitness.md look well"},
		"an address":       {[]string{"ana@files", "tab"}, "ana@files"},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 100, 30, withLibrary(), func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.Text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAPromptOfAServerIsFilledIntoTheComposer(t *testing.T) {
	inRig(t, 100, 30, withLibrary(), func(r *rig) {
		r.keys("/everything:simple-prompt", "enter")
		if got := r.m.composer.Text(); got != "What's weather in ?" {
			t.Errorf("got %q", got)
		}
		r.keys("ctrl+c", "/args", "tab", "enter", "Hamburg", "enter", "enter", "enter")
		if got := r.m.composer.Text(); got != "What's weather in Hamburg?" {
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
