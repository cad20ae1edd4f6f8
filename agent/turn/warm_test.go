package turn

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// What a warm start has the model read is what the first prompt of the conversation
// begins with, in each mode and notation; nothing is saved.
func TestWarmStartReadsWhatTheFirstPromptBeginsWith(t *testing.T) {
	for name, tc := range map[string]struct {
		mode   agent.Mode
		traits Traits
		reply  string
	}{
		"small":         {agent.AutoMode, Traits{Small: true, Native: true}, `{"tool":"answer","input":{"text":"Porto."}}`},
		"native calls":  {agent.AutoMode, Traits{Native: true}, "Porto."},
		"calls as text": {agent.LoopMode, Traits{}, `{"tool":"answer","input":{"text":"Porto."}}`},
		"plan":          {agent.PlanMode, Traits{Native: true}, `{"steps":[],"answer":"Porto."}`},
		"team":          {agent.TeamMode, Traits{Native: true}, "Porto."},
	} {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: []line{say("P"), say(tc.reply), say("Porto.")}}
			history := &shelf{messages: []llm.Message{{Role: llm.User, Text: "I go to Porto."}, {Role: llm.Assistant, Text: "Nice."}}}
			o := small(model, search(), addTask())
			o.History, o.Session, o.Traits, o.Instructions = history, inMode(tc.mode), being(tc.traits), "Be kind."
			o.Notes = rereading(nil)
			a := New(o)
			if err := a.Warm(t.Context(), "c1"); err != nil || len(history.begun) > 0 || len(history.answers) > 0 {
				t.Fatalf("%v; saved %q, %+v", err, history.begun, history.answers)
			}
			collect(a.Ask(t.Context(), "c1", "Where do I go?"), nil)
			warm, first := model.requests[0], model.requests[1]
			last := len(warm.Messages) - 1
			if warm.MaxTokens != 1 || warm.Messages[last].Role != llm.User || last < 3 || !strings.HasPrefix(warm.Messages[0].Text, "Be kind.") ||
				!reflect.DeepEqual(warm.Messages[:last], first.Messages[:last]) || !reflect.DeepEqual(warm.Tools, first.Tools) {
				t.Errorf("read before:\n%+v\nthe first prompt:\n%+v", warm, first)
			}
		})
	}
}

// A turn that begins while the model reads the beginning searches the notes, tells how far
// the model is and asks when it has read. Stopping the turn does not stop the reading.
func TestATurnWaitsForTheWarmStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := line{text: "P", late: time.Minute, reading: &llm.Reading{Total: 700, Read: 300, Took: 10 * time.Second}}
		model := &script{lines: []line{reads, say(`{"tool":"answer","input":{"text":"Three times a week."}}`)}}
		a := New(small(model, search()))
		warm := make(chan error, 1)
		began := time.Now()
		go func() { warm <- a.Warm(t.Context(), "c1") }()
		synctest.Wait()
		stopped, stop := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Second, stop)
		collect(a.Ask(stopped, "c1", howOften), nil)
		if took := time.Since(began); took != 10*time.Second || len(model.requests) != 1 {
			t.Errorf("stopped after %s, %d requests", took, len(model.requests))
		}
		events := collect(a.Ask(t.Context(), "c1", howOften), nil)
		told := bodies[agent.Reading](events)
		if took := time.Since(began); took != time.Minute || ended(t, events).Answer != "Three times a week." || len(bodies[agent.ToolEnded](events)) != 1 {
			t.Errorf("answered %q after %s", ended(t, events).Answer, took)
		}
		if last := told[len(told)-1]; !last.Beginning || last.Tokens != 700 || last.Read != 300 || last.PerSecond != 30 {
			t.Errorf("told %+v", told)
		}
		if err := <-warm; err != nil {
			t.Error(err)
		}
	})
}

// broken is a model that panics.
type broken struct{}

func (broken) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] { panic("broken") }

// A warm start that fails, or is ended with the program, holds no turn up; a model that
// refuses native calls reads the other notation.
func TestWarmStartThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if err := New(small(broken{})).Warm(t.Context(), "c1"); err == nil {
			t.Error("a panic is no error")
		}
		model := &script{lines: []line{{hangs: true}, {err: &llm.UnsupportedError{Model: "tiny", Capability: "tools"}}, say("P"), say("Hello.")}}
		o := small(model, search())
		o.Traits = being{Native: true}
		a := New(o)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if err := a.Warm(ctx, "c1"); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := a.Warm(t.Context(), "c1"); err != nil {
			t.Error(err)
		}
		if other := model.requests[2]; other.Tools != nil || other.Schema == nil || other.MaxTokens != 1 {
			t.Errorf("asked %+v", other)
		}
		if end := ended(t, collect(a.Ask(t.Context(), "c1", "Nice day today!"), nil)); end.Answer != "Hello." {
			t.Errorf("answered %q", end.Answer)
		}
	})
}

// unlimited is a server that ignores how much it may write.
type unlimited struct{ pieces int }

func (e *unlimited) Name() string { return "unlimited" }

func (e *unlimited) Stream(context.Context, llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for yield(llm.Delta{Text: "word "}, nil) {
			e.pieces++
		}
	}
}

// The first question does not wait for a text that nobody reads.
func TestWarmStartEndsWhenAServerIgnoresItsLimit(t *testing.T) {
	model := &unlimited{}
	if err := New(small(model)).Warm(t.Context(), "c1"); err != nil || model.pieces != 1 {
		t.Errorf("it read on for %d pieces: %v", model.pieces, err)
	}
}
