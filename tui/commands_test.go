package tui

import (
	"regexp"
	"strings"
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/panel"
)

func TestCommandsAndHandlersMatch(t *testing.T) {
	o := chattest.WithEveryCommand()
	own := map[string]bool{}
	for _, c := range panel.Commands(&o) {
		if !c.Own() {
			continue
		}
		own[c.Name] = panel.PageOf(c.Name) == nil
		if own[c.Name] && screenCommands()[c.Name] == nil {
			t.Errorf("the screen does not know /%s", c.Name)
		}
	}
	for name := range screenCommands() {
		if !own[name] {
			t.Errorf("nobody can type /%s", name)
		}
	}
}

func TestThePaletteSortsByUse(t *testing.T) {
	o := chattest.WithEverything()
	o.Used = map[string]int{"theme": 2, "gone": 9}
	inRig(t, 100, 30, o, func(r *rig) {
		first := func() string {
			r.keys("ctrl+p")
			defer r.keys("esc")
			return r.m.lists.Palette.Rows[0].Name
		}
		if got := first(); got != "theme" {
			t.Errorf("first is /%s", got)
		}
		for range 3 {
			r.ask("/help")
			r.keys("esc")
		}
		if got := first(); got != "help" || o.Used["help"] != 3 {
			t.Errorf("first is /%s of %v", got, o.Used)
		}
	})
}

// A link of a help page leads to one, or to the web.
func TestHelpPagesLinkToWhatIsThere(t *testing.T) {
	links := 0
	for _, topic := range panel.HelpTopics() {
		page, err := panel.HelpPage(topic)
		if err != nil {
			t.Error(err)
		}
		for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(page.Text, -1) {
			links++
			if _, err := panel.HelpPage(link[1]); err != nil && !strings.HasPrefix(link[1], "http") &&
				!strings.HasPrefix(link[1], "#") {
				t.Errorf("%s links to %s", topic, link[1])
			}
		}
		if topic == "screen" && (strings.Contains(page.Text, "design/") ||
			!strings.Contains(page.Text, "Why the screen is built this way: design.")) {
			t.Error("its link to a page that is not here is no text")
		}
	}
	if links < 20 {
		t.Errorf("%d links of the pages are left", links)
	}
}

func TestHelpPagesOpenInTheReader(t *testing.T) {
	inRig(t, 100, 40, chattest.WithEverything(), func(r *rig) {
		r.ask("/help permissions")
		r.mustShow("passes one gate")
		r.mustNotShow("# Permissions")
		r.keys("tab", "enter") // its first link leads to another page
		r.mustShow("The tools")
		r.keys("backspace")
		r.mustShow("passes one gate")
		r.keys("q")
		r.ask("/help gardening")
		r.mustShow("/help conversations") // the list of all
		r.mustShow("/help permissions")
	})
}

// It is read from its first line, also where an answer is above it.
func TestWhatACommandPrintsIsShownFromItsStart(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		long := "the first line\n\n" + strings.Repeat("more\n\n", 40) + "the last line"
		for range 2 {
			r.send(panel.PageMsg{Text: long})
			r.mustShow("the first line")
			r.mustNotShow("the last line")
			r.ask("how often do I run?")
		}
		r.send(panel.PageMsg{Text: "a short line"})
		r.mustShow("a short line")
	})
}
