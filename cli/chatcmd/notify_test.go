package chatcmd

import (
	"testing"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
)

func TestNoticeOfTheModelServerIsNotRepeated(t *testing.T) {
	bg := &background{App: &app.App{}}
	bg.App.Paths = settings.Paths{State: t.TempDir()}
	const words, other = "notes are found by words only", "something else is missing"
	for i, step := range []struct {
		state llm.State
		told  bool
	}{
		{llm.State{Provider: "ollama", Text: words, Lacks: words, First: true}, true},
		{llm.State{Provider: "ollama", Text: words, Lacks: words, First: true}, false}, // another start
		{llm.State{Provider: "offline", Text: "offline", First: true}, true},
		{llm.State{Provider: "ollama", Text: "Ollama is up; " + words, Lacks: words}, true},
		{llm.State{Provider: "ollama", Text: words, Lacks: words, First: true}, false},
		{llm.State{Provider: "ollama", Text: other, Lacks: other, First: true}, true},
		{llm.State{Provider: "ollama"}, false}, // nothing is missing
		{llm.State{Provider: "ollama", First: true}, false},
		{llm.State{Provider: "ollama", Text: words, Lacks: words, First: true}, true},
	} {
		if got := bg.shouldNotify(step.state); got != step.told {
			t.Errorf("step %d: told %t, want %t", i, got, step.told)
		}
	}
}
