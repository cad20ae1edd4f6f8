package tui

import (
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/panel"
)

// onlyOnScreen are the commands of the screen that a chat by lines does without.
var onlyOnScreen = map[string]bool{
	"artifacts": true, "copy": true, "edit": true, "find": true, "fork": true,
	"pull": true, "theme": true, "tree": true,
}

func TestPlainCommandsAndHandlersMatch(t *testing.T) {
	o := chattest.WithEveryCommand()
	own := map[string]bool{}
	for _, c := range panel.Commands(&o) {
		own[c.Name] = panel.PageOf(c.Name) == nil
		if _, ok := plainCommands()[c.Name]; own[c.Name] && ok == onlyOnScreen[c.Name] {
			t.Errorf("/%s: handled %v, want %v", c.Name, ok, !onlyOnScreen[c.Name])
		}
	}
	for name := range plainCommands() {
		if !own[name] {
			t.Errorf("/%s cannot be typed", name)
		}
	}
}
