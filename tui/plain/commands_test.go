package plain

import (
	"testing"

	"lifehub/internal/chattest"
	"lifehub/tui/panel"
)

func TestEveryCommandHasAHandlerAndEveryHandlerACommand(t *testing.T) {
	o := chattest.WithEveryCommand()
	own := map[string]bool{}
	for _, c := range panel.Commands(&o) {
		own[c.Name] = panel.PageOf(c.Name) == nil
		if own[c.Name] && ownCommands()[c.Name] == nil {
			t.Errorf("a chat by lines does not know /%s", c.Name)
		}
	}
	for name := range ownCommands() {
		if !own[name] {
			t.Errorf("nobody can type /%s", name)
		}
	}
}
