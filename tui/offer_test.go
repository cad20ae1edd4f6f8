package tui

import (
	"context"
	"testing"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
)

// The command that fits a message is offered in the empty composer. ↓ writes it, and Enter runs it.
func TestOfferedCommandRunsOnlyWhenItIsTaken(t *testing.T) {
	const question = "remind me to call Ines"
	o := chattest.WithWorld(chattest.Play(agent.Started{Message: question}, agent.Said{Content: "I cannot."},
		agent.Ended{Answer: "I cannot.", Effects: agent.Effects{}}))
	var ran []string
	o.Commands = append(o.Commands, chat.Command{
		Name: "task", Group: chat.InNotes, Args: "TEXT", Help: "add a task",
		Run: func(_ context.Context, _, args string) (string, error) {
			ran = append(ran, args)
			return "added", nil
		},
	})
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask(question)
		r.mustShow("→ /task call Ines")
		for _, keys := range [][]string{{"enter"}, {"up", "enter"}, {"x", "backspace", "enter"}} {
			r.keys(keys...)
			r.settle()
			if len(ran) > 0 {
				t.Fatalf("%q ran %q", keys, ran)
			}
		}
		r.keys("down")
		if r.m.composer.Text() != "/task call Ines" {
			t.Fatalf("↓ writes %q", r.m.composer.Text())
		}
		r.keys("enter")
		r.settle()
		if len(ran) != 1 || ran[0] != "call Ines" {
			t.Fatalf("ran %q", ran)
		}
		r.mustNotShow("→ /task")
	})
}
