package tui

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/dialog"
)

func TestLongDialogIsAnsweredOnlyAtItsEnd(t *testing.T) {
	question, replies := chattest.Asked(chattest.LongArguments)
	inRig(t, 60, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("write")
		var seen strings.Builder
		seen.WriteString(r.text())
		for range 10 {
			r.pass(dialog.QuietPeriod)
			r.keys("y", "enter")
			if r.m.asks.Permission.Open() && !r.m.asks.Permission.Current().Seen {
				r.keys("pgdown")
				seen.WriteString(r.text())
			}
			if r.m.asks.Permission.Open() && r.m.asks.Permission.Current().Seen && len(*replies) == 0 &&
				!strings.Contains(seen.String(), "the end") {
				t.Fatal("it takes a yes before its end was shown")
			}
		}
	})
	if len(*replies) != 1 || (*replies)[0].Decision != agent.AllowOnce {
		t.Errorf("replies = %+v, want one yes", *replies)
	}
}

func TestKeysOfADialogAreAlwaysVisible(t *testing.T) {
	testenv.WithoutRace(t)
	for _, size := range [][2]int{{40, 12}, {40, 8}, {60, 12}, {200, 60}, {300, 80}, {30, 10}} {
		for _, question := range []agent.PermissionAsked{chattest.TaskAsked, chattest.LongArguments} {
			inRig(t, size[0], size[1], chattest.WithWorld(chattest.Hold(chattest.Story(chattest.Planning,
				[]agent.Body{question})...)), func(r *rig) {
				r.ask("go")
				for _, keys := range [][]string{{}, {"d"}, {"pgdown"}, {"typed a little"}, {"pgdown"}} {
					r.keys(keys...)
					if !strings.Contains(r.text(), "\n  Allow once") && !strings.Contains(r.text(), "│  y Allow once") {
						t.Errorf("%v: no line begins with Allow once:\n%s", size, r.text())
					}
					r.pass(dialog.QuietPeriod)
				}
			})
		}
	}
}

func TestTwoQuestionsAreAnsweredInTurn(t *testing.T) {
	first, firstReplies := chattest.Asked(chattest.TaskAsked)
	second, secondReplies := chattest.Asked(agent.PermissionAsked{
		Name: "create_note", Call: "q",
		Input: chattest.Raw(`{"path":"a.md"}`),
	})
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(first, second)), func(r *rig) {
		r.ask("go")
		r.pass(dialog.QuietPeriod)
		r.mustShow("1 of 2")
		r.keys("y", "enter")
		r.mustShow("Allow create_note?")
		r.pass(dialog.QuietPeriod)
		r.keys("n", "enter")
		if r.m.asks.Permission.Open() {
			t.Error("a question is still open")
		}
	})
	if len(*firstReplies) != 1 || (*firstReplies)[0].Decision != agent.AllowOnce {
		t.Errorf("first replies = %+v", *firstReplies)
	}
	if len(*secondReplies) != 1 || (*secondReplies)[0].Decision != agent.Refuse {
		t.Errorf("second replies = %+v", *secondReplies)
	}
}

func TestQuestionAnsweredElsewhereIsClosed(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(chattest.TaskAsked,
		agent.PermissionGiven{Call: "p", Decision: agent.Refuse})), func(r *rig) {
		r.ask("go")
		if r.m.asks.Permission.Open() {
			t.Error("the question is still open")
		}
	})
}

func TestSeenQuestionsAreAllowedTogether(t *testing.T) {
	first, firstReplies := chattest.Asked(chattest.TaskAsked)
	second, secondReplies := chattest.Asked(agent.PermissionAsked{
		Name: "create_note", Call: "q",
		Input: chattest.Raw(`{"path":"a.md"}`),
	})
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(first, second)), func(r *rig) {
		r.ask("go")
		r.pass(dialog.QuietPeriod)
		r.mustNotShow("Allow all once")
		r.keys("tab")
		r.mustShow("2 of 2")
		r.pass(dialog.QuietPeriod)
		r.mustShow("Allow all once")
		r.keys("A", "enter")
		if r.m.asks.Permission.Open() {
			t.Error("a question is still open")
		}
	})
	for _, replies := range []*[]agent.Reply{firstReplies, secondReplies} {
		if len(*replies) != 1 || (*replies)[0].Decision != agent.AllowOnce {
			t.Errorf("replies = %+v, want one yes", *replies)
		}
	}
}

func TestArgumentsAreEditedInPlace(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	question.Check = func(input json.RawMessage) error {
		if strings.Contains(string(input), "wine") {
			return errors.New("no wine")
		}
		return nil
	}
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(dialog.QuietPeriod)
		r.keys("e", "enter")
		r.mustShow("editing")
		r.keys("backspace", "backspace", "backspace", "backspace", "wine", "enter")
		r.mustShow("no wine")
		r.keys("ctrl+w", "tea", "tab", "backspace", "1", "enter")
	})
	want := agent.Reply{Decision: agent.Edited, Input: `{"text":"Buy tea","due":"2026-11-31"}`}
	if len(*replies) != 1 || (*replies)[0] != want {
		t.Errorf("replies = %+v, want %+v", *replies, want)
	}
}

func TestTitleShowsWhetherKeysAreAccepted(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(chattest.TaskAsked)), func(r *rig) {
		r.ask("add a task")
		r.mustShow("wait…")
		r.pass(dialog.QuietPeriod)
		r.mustNotShow("wait…")
	})
}

func TestAQuestionObeysTheKeyMap(t *testing.T) {
	keys := map[string][]string{
		"page_down": {"ctrl+x"}, "send": {"ctrl+y"}, "steer": {"f3"}, "stop": {"ctrl+g"},
		"compose": {"f1"}, "help": {"ctrl+e"},
		"argument_next": {"f1"}, "always": {"ctrl+a"},
	}
	t.Run("it is read, and refused with a reason", func(t *testing.T) {
		question, replies := chattest.Asked(chattest.LongArguments)
		o := chattest.WithWorld(chattest.Hold(question))
		o.Keys = keys
		inRig(t, 60, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(dialog.QuietPeriod)
			r.mustShow("(ctrl+x)")
			r.keys("y", "ctrl+y") // not yet read
			for range 30 {
				r.keys("ctrl+x")
			}
			r.pass(dialog.QuietPeriod)
			r.mustNotShow("more below")
			r.keys("N", "ctrl+y", "not nnow", "enter")
			r.mustShow("ctrl+y sends · ctrl+g back")
			r.keys("ctrl+u", "no", "ctrl+y")
		})
		want := agent.Reply{Decision: agent.Refuse, Reason: "no"}
		if len(*replies) != 1 || (*replies)[0] != want {
			t.Errorf("replies = %+v, want %+v", *replies, want)
		}
	})
	t.Run("its arguments are changed", func(t *testing.T) {
		question, replies := chattest.Asked(chattest.TaskAsked)
		o := chattest.WithWorld(chattest.Hold(question))
		o.Keys = keys
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(dialog.QuietPeriod)
			r.keys("e", "ctrl+y")
			r.mustShow("ctrl+y check")
			r.mustShow("f1 next argument")
			r.keys("f1", "backspace", "1", "ctrl+y")
		})
		want := agent.Reply{Decision: agent.Edited, Input: `{"text":"Buy milk","due":"2026-11-31"}`}
		if len(*replies) != 1 || (*replies)[0] != want {
			t.Errorf("replies = %+v, want %+v", *replies, want)
		}
	})
	t.Run("always is chosen by its own key", func(t *testing.T) {
		question, replies := chattest.Asked(chattest.TaskAsked)
		o := chattest.WithWorld(chattest.Hold(question))
		o.Keys = keys
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(dialog.QuietPeriod)
			r.keys("ctrl+a")
			r.mustShow("writes the rule “allow add_task”")
			r.keys("enter")
			if len(*replies) != 0 {
				t.Errorf("Enter confirmed, which is not the key that sends: %+v", *replies)
			}
			r.pass(dialog.QuietPeriod)
			r.m.composer.Clear() // of the new line that Enter is not
			r.keys("ctrl+a", "ctrl+y")
		})
		if want := (agent.Reply{Decision: agent.AllowAlways}); len(*replies) != 1 || (*replies)[0] != want {
			t.Errorf("replies = %+v, want %+v", *replies, want)
		}
	})
}
