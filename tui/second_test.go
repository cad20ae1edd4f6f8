package tui

import (
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

// second is a second view in which the test sends and answers.
type second struct {
	sent     chan chat.Sent
	answered chan agent.Event
	followed int
}

// Sent makes the channel, which has to be of the rig's bubble, as Follow does.
func (s *second) Sent() <-chan chat.Sent {
	if s.sent == nil {
		s.sent = make(chan chat.Sent)
	}
	return s.sent
}

func (s *second) Follow(_ string, events <-chan agent.Event) <-chan agent.Event {
	s.followed++
	s.answered = make(chan agent.Event)
	passed := make(chan agent.Event)
	go func() {
		defer close(passed)
		for {
			select {
			case e, open := <-events:
				if !open {
					return
				}
				passed <- e
			case e := <-s.answered:
				passed <- e
			}
		}
	}()
	return passed
}

func TestDialogClosesWhenTheSecondViewAnswered(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	input := agent.InputAsked{ID: "i", Question: agent.Question{
		From: "files",
		Kind: agent.FormInput, Message: "Which?",
	}}
	two := &second{}
	o := chattest.WithWorld(chattest.Hold(question, input))
	o.Second = two
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("go")
		r.pass(dialog.QuietPeriod)
		r.mustShow("Allow once")
		r.keys("y") // chosen, not confirmed
		two.answered <- agent.Event{Body: agent.PermissionGiven{Call: question.Call, Decision: agent.AllowOnce}}
		r.pass(batchWindow)
		if r.m.asks.Permission.Open() || !r.m.asks.Input.Open() {
			t.Errorf("the dialogs: %t, %t", r.m.asks.Permission.Open(), r.m.asks.Input.Open())
		}
		two.answered <- agent.Event{Body: agent.InputGiven{ID: "i", Action: agent.InputDeclined}}
		r.pass(batchWindow)
		if r.m.asks.Open() {
			t.Error("a dialog is still open")
		}
		r.keys("enter")
		close(two.sent)
	})
	if len(*replies) != 0 {
		t.Errorf("the screen answered, too: %v", *replies)
	}
}

func TestMessagesOfTheSecondView(t *testing.T) {
	two := &second{}
	assistant := chattest.Hold(agent.Started{})
	o := chattest.WithWorld(assistant)
	o.Second = two
	inRig(t, 80, 24, o, func(r *rig) {
		send := func(s chat.Sent) { two.sent <- s; r.pass(batchWindow) }
		r.m.composer.Set("half a thought")
		send(chat.Sent{Message: "from the page"})
		r.mustShow("from the page")
		send(chat.Sent{Message: "and then"})
		asked, queued := []string{"from the page"}, []string{"and then"}
		if !slices.Equal(assistant.Asked, asked) || !slices.Equal(r.m.composer.Queue, queued) {
			t.Errorf("asked are %q, queued %q", assistant.Asked, r.m.composer.Queue)
		}
		send(chat.Sent{Stop: true})
		if r.m.turn != nil {
			t.Error("the turn was not stopped")
		}
		got := r.m.composer.Text()
		if !strings.Contains(got, "half a thought") || !strings.Contains(got, "and then") || two.followed != 1 {
			t.Errorf("the composer holds %q; %d turns were followed", got, two.followed)
		}
		send(chat.Sent{Resume: true}) // nothing can be: there is no resumer
		if r.m.turn != nil {
			t.Error("a turn was resumed")
		}
		close(two.sent)
	})
}
