package plain

import (
	"context"
	"testing"

	"lifehub/agent"
	"lifehub/tui/backend"
	"lifehub/tui/panel"
)

type documents backend.Artifacts // embedded by another name than that of its method

func TestEveryCommandHasAHandlerAndEveryHandlerACommand(t *testing.T) {
	o := backend.Options{
		Conversations: struct{ backend.Conversations }{}, Branches: struct{ backend.Branches }{}, Models: struct{ backend.Models }{},
		Artifacts: struct{ documents }{}, Servers: struct{ backend.Servers }{}, UseMode: func(string) {},
		Resume:  func(context.Context, string, string) <-chan agent.Event { return nil },
		Rename:  func(context.Context, string, string) error { return nil },
		Figures: func(context.Context, string) ([]agent.Figures, error) { return nil, nil },
	}
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
