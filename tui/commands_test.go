package tui

import "testing"

func TestEveryCommandHasAHandlerAndEveryHandlerACommand(t *testing.T) {
	o, _ := withAllOfIt()
	own := map[string]bool{}
	for _, c := range o.AllCommands() {
		if !c.Own() {
			continue
		}
		own[c.Name] = true
		if screenCommands()[c.Name] == nil {
			t.Errorf("the screen does not know /%s", c.Name)
		}
	}
	for name := range screenCommands() {
		if !own[name] {
			t.Errorf("nobody can type /%s", name)
		}
	}
}
