package tui

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

// withLibrary is options whose servers have resources and prompts.
func withLibrary() Options {
	o := withEverything()
	o.Mentions = func() []Mention {
		return []Mention{
			{Name: "everything:demo://resource/static/document/features.md", Detail: "features.md"},
			{Name: "everything:demo://resource/dynamic/text/{resourceId}", Detail: "Dynamic Text Resource"},
			{Name: "files:file:///home/ana/plan.md", Detail: "plan.md: the training plan"},
		}
	}
	o.Templates = func() []Template {
		fill := func(_ context.Context, values json.RawMessage) (string, error) {
			var args map[string]string
			if err := json.Unmarshal(values, &args); err != nil {
				return "", err
			}
			if args["city"] == "Nowhere" {
				return "", errors.New("no such city")
			}
			return "What's weather in " + args["city"] + "?", nil
		}
		return []Template{
			{Name: "everything:args-prompt", Help: "A prompt with two arguments", Schema: raw(`{"properties":{"city":{"type":"string","description":"Name of the city"},"state":{"type":"string"}},"required":["city"]}`), Fill: fill},
			{Name: "everything:simple-prompt", Help: "A prompt with no arguments", Fill: fill},
		}
	}
	return o
}

func TestANameAfterAnAtIsCompleted(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"by its beginning": {[]string{"see @files", "tab"}, "see @files:file:///home/ana/plan.md "},
		"by letters of it": {[]string{"see @dyntext", "enter"}, "see @everything:demo://resource/dynamic/text/{resourceId} "},
		"by what it says":  {[]string{"@training", "tab"}, "@files:file:///home/ana/plan.md "},
		"the next one":     {[]string{"@", "down", "tab"}, "@everything:demo://resource/dynamic/text/{resourceId} "},
		"closed":           {[]string{"@fi", "esc", "tab"}, "@fi"},
		"an address":       {[]string{"ana@files", "tab"}, "ana@files"},
	} {
		t.Run(name, func(t *testing.T) {
			inRig(t, 100, 30, withLibrary(), func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
}

func TestAPromptOfAServerIsFilledIntoTheComposer(t *testing.T) {
	inRig(t, 100, 30, withLibrary(), func(r *rig) {
		r.keys("/everything:simple-prompt", "enter")
		if got := r.m.composer.text(); got != "What's weather in ?" {
			t.Errorf("got %q", got)
		}
		r.keys("ctrl+c", "/args", "tab", "enter", "Hamburg", "enter", "enter", "enter")
		if got := r.m.composer.text(); got != "What's weather in Hamburg?" {
			t.Errorf("got %q\n%s", got, r.text())
		}
		r.keys("ctrl+c", "/args", "tab", "enter", "Nowhere", "enter", "enter", "enter")
		r.mustShow("no such city")
		r.keys("/args", "tab", "enter", "Ham", "esc")
		r.pass(guard)
		r.keys("n", "more text")
		if got := r.m.composer.text(); got != "more text" {
			t.Errorf("after a no: got %q\n%s", got, r.text())
		}
	})
}
