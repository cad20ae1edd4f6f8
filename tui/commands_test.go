package tui

import (
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/panel"
)

func TestEveryCommandHasAHandlerAndEveryHandlerACommand(t *testing.T) {
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
