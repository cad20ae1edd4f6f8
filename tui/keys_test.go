package tui

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/llm"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/transcript"
)

func TestEnterSendsAndEmptiesTheComposer(t *testing.T) {
	assistant := chattest.Play(agent.Ended{})
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.keys("one", "ctrl+j", "two", "enter")
		r.pass(100 * time.Millisecond)
		if !slices.Equal(assistant.Asked, []string{"one\ntwo"}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
		if !r.m.composer.Empty() {
			t.Errorf("the composer holds %q", r.m.composer.Text())
		}
		r.keys("  ", "enter")
		if len(assistant.Asked) != 1 {
			t.Error("blanks were sent")
		}
	})
}

func TestEscStopsAndKeepsWhatWasStreamed(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(agent.Said{Content: "Half an ans"})), func(r *rig) {
		r.ask("go")
		r.keys("esc")
		r.mustShow("Half an ans")
		r.mustShow("■ stopped")
		r.pass(100 * time.Millisecond)
		if r.m.turn != nil {
			t.Error("the turn goes on")
		}
	})
}

func TestStoppedTurnShowsNoError(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(agent.Said{Content: "Half"})), func(r *rig) {
		r.ask("go")
		r.keys("esc")
		r.send(batchMsg{Turn: 1, Events: []agent.Event{{Body: agent.Failed{Message: "context canceled"}}}})
		r.mustNotShow("context canceled")
	})
}

func TestCtrlCClearsThenStopsThenQuits(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(agent.Said{Content: "Half"})), func(r *rig) {
		r.ask("go")
		r.keys("a draft", "ctrl+c")
		if !r.m.composer.Empty() || r.m.turn.shown.Stopped {
			t.Error("the first does not only clear")
		}
		r.keys("ctrl+c")
		if r.m.last == nil || !r.m.last.shown.Stopped || r.quit {
			t.Error("the second does not only stop")
		}
		r.keys("x", "backspace", "ctrl+c")
		if r.quit {
			t.Error("it quits though another key came between")
		}
		r.keys("ctrl+c")
		if !r.quit || r.m.leaving.exit != chat.Quit {
			t.Errorf("quit = %v, how = %v", r.quit, r.m.leaving.exit)
		}
	})
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(agent.Said{Content: "Half"})), func(r *rig) {
		r.ask("go")
		r.keys("ctrl+c", "ctrl+c")
		if !r.quit || r.m.leaving.exit != chat.Interrupted {
			t.Errorf("in a turn: quit = %v, how = %v", r.quit, r.m.leaving.exit)
		}
	})
}

// Nothing is interrupted by leaving between two turns, or right before the first.
func TestCtrlCTwiceQuitsBetweenTurns(t *testing.T) {
	for name, ask := range map[string]bool{"without a question": false, "after an answer": true} {
		o := chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning,
			chattest.Searched, chattest.Answered)...))
		inRig(t, 80, 24, o, func(r *rig) {
			if ask {
				r.ask("hello")
			}
			r.keys("ctrl+c", "ctrl+c")
			if !r.quit || r.m.leaving.exit != chat.Quit {
				t.Errorf("%s: quit = %v, how = %v", name, r.quit, r.m.leaving.exit)
			}
		})
	}
}

func TestCtrlDQuitsOnlyWhenNothingIsTyped(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
		r.keys("ab", "ctrl+a", "ctrl+d")
		if r.quit || r.m.composer.Text() != "b" {
			t.Errorf("quit = %v, composer %q", r.quit, r.m.composer.Text())
		}
		r.keys("ctrl+e", "backspace", "ctrl+d")
		if !r.quit || r.m.leaving.exit != chat.Quit {
			t.Errorf("quit = %v, how = %v", r.quit, r.m.leaving.exit)
		}
	})
}

func TestReadlineKeysEdit(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
		r.keys("one two three", "ctrl+w", "ctrl+a")
		r.send(tea.KeyPressMsg{Code: 'f', Mod: tea.ModCtrl})
		r.send(tea.KeyPressMsg{Code: 'f', Mod: tea.ModAlt})
		r.send(tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl})
		r.keys("ctrl+k", "X", "ctrl+e", "Y")
		if got := r.m.composer.Text(); got != "onXY" {
			t.Errorf("composer holds %q", got)
		}
		r.keys("ctrl+u")
		if got := r.m.composer.Text(); got != "" {
			t.Errorf("after ctrl+u it holds %q", got)
		}
	})
}

func TestHistoryOpensAtTheFirstAndLastLine(t *testing.T) {
	o := chattest.WithWorld(chattest.Play(agent.Ended{}))
	o.Archive = asked{prompts: []string{"older", "oldest"}}
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("newest")
		r.keys("draft", "up")
		for _, want := range []string{"newest", "older", "oldest", "oldest"} {
			if got := r.m.composer.Text(); got != want {
				t.Errorf("composer holds %q, want %q", got, want)
			}
			r.keys("up")
		}
		r.keys("down", "down", "down")
		if got := r.m.composer.Text(); got != "draft" {
			t.Errorf("the draft came back as %q", got)
		}
		r.keys("ctrl+j", "second line", "up")
		if got := r.m.composer.Text(); got != "draft\nsecond line" {
			t.Errorf("up inside the text showed history: %q", got)
		}
	})
}

func TestMessagesTypedMeanwhileWaitTheirTurn(t *testing.T) {
	assistant := chattest.Hold(agent.Said{Content: "x"})
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.ask("first")
		r.keys("second", "enter", "third", "enter")
		r.mustShow("queued: “second”")
		r.keys("up") // takes the last back
		if got := r.m.composer.Text(); got != "third" {
			t.Errorf("composer holds %q", got)
		}
		r.keys("!", "enter", "esc")
		r.pass(100 * time.Millisecond)
		// What waited is given back when the turn was stopped.
		if got := r.m.composer.Text(); got != "second\nthird!" {
			t.Errorf("composer holds %q", got)
		}
	})
	// What is sent after the stop, while the turn ends, is asked.
	assistant = chattest.Hold(agent.Said{Content: "x"})
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.ask("first")
		for _, name := range []string{"esc", "4", "t", "h", "enter"} {
			r.send(boxtest.Presses(name)[0]) // no time passes
		}
		if r.m.turn == nil {
			t.Fatal("the turn was over before the message was sent")
		}
		r.pass(100 * time.Millisecond)
		if !slices.Equal(assistant.Asked, []string{"first", "4th"}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
	})
	assistant = chattest.Play(agent.Said{Content: "x"}, agent.Ended{})
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.keys("first")
		r.m.composer.Queue = []string{"second", "third"}
		r.keys("enter")
		r.pass(time.Second)
		if !slices.Equal(assistant.Asked, []string{"first", "second", "third"}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
	})
}

// What the user sends to a running turn is taken by it, or is the next message, or
// comes back when the turn is stopped; it is never lost or asked twice.
func TestSteeringIsTakenOrAskedNextOrComesBack(t *testing.T) {
	texts := func(offered []agent.Steering) (list []string) {
		for _, s := range offered {
			list = append(list, s.Text)
		}
		return list
	}
	t.Run("taken", func(t *testing.T) {
		assistant := chattest.Hold(agent.Started{Mode: "plan"})
		assistant.Takes = true
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("first")
			r.keys("queued", "enter", "one", "ctrl+y", "two", "ctrl+enter")
			r.pass(time.Second)
			r.mustShow("▌ one")
			r.mustShow("▌ two")
			r.mustNotShow("for this turn")
			r.mustShow("queued: “queued”")
			r.m.turn.stop(nil)
			r.pass(time.Second)
			if !slices.Equal(assistant.Asked, []string{"first", "queued"}) ||
				!slices.Equal(texts(assistant.Offered), []string{"one", "two"}) {
				t.Errorf("asked %q, offered %q", assistant.Asked, texts(assistant.Offered))
			}
		})
	})
	t.Run("too late", func(t *testing.T) {
		assistant := chattest.Hold(agent.Started{Mode: "plan"})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("first")
			r.keys("queued", "enter", "one", "ctrl+y", "two", "ctrl+y")
			r.mustShow("turn: “one”")
			r.m.turn.stop(nil) // it ends, and not because the user stopped it
			r.pass(time.Second)
			r.mustShow("queued: “two”")
			r.m.turn.stop(nil)
			r.pass(time.Second)
			if !slices.Equal(assistant.Asked, []string{"first", "one", "two"}) {
				t.Errorf("asked %q", assistant.Asked)
			}
		})
	})
	t.Run("stopped", func(t *testing.T) {
		assistant := chattest.Hold(agent.Started{Mode: "plan"})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("first")
			r.keys("queued", "enter", "one", "ctrl+y", "two", "ctrl+y", "draft", "esc")
			r.pass(time.Second)
			if got := r.m.composer.Text(); got != "one\ntwo\nqueued\ndraft" {
				t.Errorf("the composer holds %q", got)
			}
			if !slices.Equal(assistant.Asked, []string{"first"}) {
				t.Errorf("asked %q", assistant.Asked)
			}
		})
	})
	t.Run("a turn that takes none", func(t *testing.T) {
		assistant := chattest.Hold(agent.Said{Content: "x"})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("first")
			r.m.turn.begun = true // its first event offered nothing
			r.keys("one", "ctrl+y")
			r.mustShow("queued: “one”")
		})
	})
	t.Run("no turn", func(t *testing.T) {
		assistant := chattest.Play(agent.Said{Content: "x"}, agent.Ended{})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.keys("first", "ctrl+y")
			r.pass(time.Second)
			if !slices.Equal(assistant.Asked, []string{"first"}) {
				t.Errorf("asked %q", assistant.Asked)
			}
		})
	})
	t.Run("a question waits", func(t *testing.T) {
		question, replies := chattest.Asked(chattest.TaskAsked)
		assistant := chattest.Hold(agent.Started{Mode: "plan"}, question)
		inRig(t, 100, 30, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("add a task")
			r.pass(dialog.QuietPeriod)
			r.keys("ye", "ctrl+y")
			if !slices.Equal(texts(assistant.Offered), []string{"ye"}) || len(*replies) > 0 {
				t.Errorf("offered %q, replied %v", texts(assistant.Offered), *replies)
			}
		})
	})
}

// While a turn has not taken a message, the saved draft has it.
func TestSteeringIsInTheDraftUntilItIsTaken(t *testing.T) {
	for _, takes := range []bool{true, false} {
		d := &drawer{}
		o := withDrawer(d)
		script := chattest.Hold(agent.Started{Mode: "plan"})
		script.Takes = takes
		o.Assistant = script
		inRig(t, 80, 24, o, func(r *rig) {
			r.ask("first")
			r.keys("one", "ctrl+y")
			r.pass(time.Second)
			if got := d.last().Steering; (len(got) == 0) != takes || !takes && !slices.Equal(got, script.Offered) {
				t.Errorf("takes %t: the draft has %+v", takes, got)
			}
		})
	}
}

func TestEachMessageThatWaitsIsChangedOrCancelled(t *testing.T) {
	waiting := func(t *testing.T, keys []string, written string, want ...string) {
		t.Helper()
		o := chattest.WithEverything()
		o.Assistant = chattest.Hold(agent.Said{Content: "x"})
		o.Commands = []chat.Command{{
			Name: "note", Args: "TEXT",
			Turn: func(context.Context, string, string, string) <-chan agent.Event { return nil },
		}}
		inRig(t, 80, 24, o, func(r *rig) {
			r.ask("first")
			r.keys("one", "enter", "two", "enter", "/note milk", "enter", "four", "enter")
			r.mustShow("↑ change or cancel")
			r.keys(keys...)
			if got := r.m.composer.Queue; !slices.Equal(got, want) {
				t.Errorf("after %q wait %q, want %q", keys, got, want)
			}
			if got := r.m.composer.Text(); got != written {
				t.Errorf("after %q is written %q, want %q", keys, got, written)
			}
		})
	}
	waiting(t, []string{"up", "up", "up", "!", "enter"}, "", "one", "two!", "/note milk", "four")
	waiting(t, []string{"up", "up", " and eggs", "enter"}, "", "one", "two", "/note milk and eggs", "four")
	waiting(t, []string{"up", "up", "up", "ctrl+u", "enter"}, "", "one", "/note milk", "four")
	waiting(t, []string{"up", "up", "up", "ctrl+c"}, "", "one", "/note milk", "four")
	waiting(t, []string{"up", "up", "up", "up", "up"}, "one", "two", "/note milk", "four")
	waiting(t, []string{"up", "!", "up", "?", "down", "down"}, "", "one", "two", "/note milk?", "four!")
	// the turn is stopped: all come back, in their order
	waiting(t, []string{"up", "up", "up", "esc"}, "one\ntwo\n/note milk\nfour")
}

func TestEditedMessageKeepsItsPlaceInTheQueue(t *testing.T) {
	assistant := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.ask("first")
		r.keys("one", "enter", "two", "enter", "three", "enter", "four", "enter", "up", "up", "up")
		r.mustShow("queued message 2 of 4")
		for range 2 {
			r.m.turn.stop(nil) // it ends, and not because the user stopped it
			r.pass(100 * time.Millisecond)
		}
		if want := []string{"first", "one", "three"}; !slices.Equal(assistant.Asked, want) {
			t.Fatalf("asked = %q, want %q", assistant.Asked, want)
		}
		r.keys("!", "enter")
		if want := []string{"two!", "four"}; !slices.Equal(r.m.composer.Queue, want) {
			t.Errorf("queue = %q, want %q", r.m.composer.Queue, want)
		}
	})
}

func TestPastes(t *testing.T) {
	t.Run("line ends are one", func(t *testing.T) {
		inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
			r.send(tea.PasteMsg{Content: "a\r\nb\rc\x1b[31m\x00"})
			if got := r.m.composer.Pastes; len(got) != 1 || got[0].Text != "a\nb\nc" {
				t.Errorf("pasted %+v", got)
			}
		})
	})
	t.Run("one line is text", func(t *testing.T) {
		inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
			r.send(tea.PasteMsg{Content: "one line\n"})
			if got := r.m.composer.Text(); got != "one line" {
				t.Errorf("composer holds %q", got)
			}
		})
	})
	t.Run("the path of an image attaches it", func(t *testing.T) {
		there := filepath.Join(t.TempDir(), "a chart.png")
		if err := os.WriteFile(there, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for pasted, want := range map[string]string{there: `@"` + there + `" `, there + "x.png": there + "x.png"} {
			inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
				r.send(tea.PasteMsg{Content: pasted})
				r.pass(100 * time.Millisecond)
				if got := r.m.composer.Text(); got != want {
					t.Errorf("composer holds %q, want %q", got, want)
				}
			})
		}
	})
	t.Run("a megabyte is a name at once and is sent whole", func(t *testing.T) {
		assistant := chattest.Play(agent.Ended{})
		big := strings.Repeat("/quit y\n", 1<<17)
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.keys("see ")
			r.send(tea.PasteMsg{Content: big})
			r.mustShow("see [paste 1 · 131,072 lines]")
			if len(assistant.Asked) != 0 || r.quit {
				t.Error("the paste did something by itself")
			}
			r.keys("enter")
			r.pass(100 * time.Millisecond)
			if len(assistant.Asked) != 1 || assistant.Asked[0] != "see [paste 1 · 131,072 lines]\n\n```attached "+
				"paste 1 · 131,072 lines\n"+strings.TrimSpace(big)+"\n```" {
				t.Error("the paste was not sent whole")
			}
			r.mustShow("▌ see [paste 1 · 131,072 lines]\n")
			r.mustNotShow("/quit")
			r.keys("tab", "space")
			r.mustShow("/quit y")
			r.keys("space", "esc")
			r.mustNotShow("/quit")
			r.keys("up", "!")
			r.mustShow("▌ see [paste 1 · 131,072 lines]!")
			r.keys("enter")
			r.pass(100 * time.Millisecond)
			if want := strings.Replace(assistant.Asked[0], "]", "]!", 1); len(assistant.Asked) != 2 ||
				assistant.Asked[1] != want {
				t.Error("the paste was not sent whole once more")
			}
		})
	})
	t.Run("a fence in it does not end it", func(t *testing.T) {
		assistant := chattest.Play(agent.Ended{})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.send(tea.PasteMsg{Content: strings.Repeat("a\n```\n@/etc/passwd\n````\n", 20)})
			r.ask(" what is it?")
			if got := agent.ParseMessage(assistant.Asked[0]); got.Text != "[paste 1 · 80 lines] what is it?" ||
				len(got.Attached) != 1 || strings.Count(got.Attached[0].Text, "/etc/passwd") != 20 {
				t.Errorf("asked %+v", got)
			}
		})
	})
}

func TestTripleQuotesEncloseSeveralLines(t *testing.T) {
	assistant := chattest.Play(agent.Ended{})
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.keys(`"""one`, "enter", "two", "enter", `"""`, "enter")
		r.pass(100 * time.Millisecond)
		r.keys(`say """ to me`, "enter")
		r.pass(100 * time.Millisecond)
		want := []string{"one\ntwo", `say """ to me`}
		if !slices.Equal(assistant.Asked, want) {
			t.Errorf("asked %q, want %q", assistant.Asked, want)
		}
	})
}

func TestCommands(t *testing.T) {
	t.Run("/quit leaves", func(t *testing.T) {
		for _, name := range []string{"/quit", "/bye", "/exit", "/q"} {
			inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
				r.keys(name, "enter")
				if !r.quit || r.m.leaving.exit != chat.Quit {
					t.Errorf("%s: quit = %v, how = %v", name, r.quit, r.m.leaving.exit)
				}
			})
		}
	})
	t.Run("a path is a question, not a command", func(t *testing.T) {
		assistant := chattest.Play(agent.Ended{})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.keys(" what is /etc/hosts", "enter")
			r.pass(100 * time.Millisecond)
			if len(assistant.Asked) != 1 {
				t.Errorf("asked = %q", assistant.Asked)
			}
		})
	})
	t.Run("enter runs what is chosen", func(t *testing.T) {
		inRig(t, 80, 24, chattest.WithEverything(), func(r *rig) {
			r.keys("/res", "enter")
			r.mustShow("Marathon training")
		})
	})
	t.Run("ctrl+n begins another conversation", func(t *testing.T) {
		assistant := chattest.Play(agent.Said{Content: "an answer"}, agent.Ended{})
		inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
			r.ask("go")
			r.mustShow("an answer")
			r.keys("ctrl+n")
			r.mustNotShow("an answer")
			if r.m.chat.id != "" {
				t.Errorf("conversation = %q", r.m.chat.id)
			}
		})
	})
}

// The keys that open and fold are offered only where they do.
func TestOpenIsOfferedWhereItDoesSomething(t *testing.T) {
	assistant := chattest.Play(agent.Said{Content: "an answer"}, agent.Ended{Effects: agent.Effects{}})
	inRig(t, 100, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.ask("go")
		for _, key := range []string{"tab", "k", "k"} {
			r.keys(key)
			before := r.m.transcript.View()
			r.mustShow("y copy")
			r.mustNotShow("enter open")
			r.keys("enter")
			if after := r.m.transcript.View(); !slices.Equal(after, before) {
				t.Errorf("after %s, enter shows\n%s", key, strings.Join(after, "\n"))
			}
		}
	})
	inRig(t, 100, 24, finished(), func(r *rig) {
		r.ask("go")
		r.keys("tab")
		r.mustShow("enter open")
	})
}

func TestAClosedPaletteOpensAgain(t *testing.T) {
	inRig(t, 80, 24, chat.Options{}, func(r *rig) {
		for range 2 {
			r.keys("ctrl+p")
			r.mustShow("▌ Start a new conversation")
			r.keys("esc")
			r.mustNotShow("▌ Start")
			r.mustShow("▌ Ask") // no slash is left behind
		}
		r.keys("/c", "esc")
		r.mustNotShow("▐")
		r.mustShow("▌ Ask") // nothing of it is left typed
		r.keys("/c")
		r.mustShow("/copy")
	})
}

func TestFoldingLeavesTheHeadingWhereItIs(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Play(chattest.Story(chattest.Planning, chattest.Searched,
		chattest.Answered)...)), func(r *rig) {
		r.ask("running?")
		r.keys("tab")
		for !strings.Contains(r.text(), "▌ ✗") {
			r.keys("k")
		}
		row := func() int {
			return slices.IndexFunc(strings.Split(r.text(), "\n"),
				func(line string) bool { return strings.HasPrefix(line, "  ▌ ✗") })
		}
		at := row()
		for range 2 {
			r.keys("space")
			if row() != at || at < 0 {
				t.Errorf("the plan's heading moved from row %d to %d:\n%s", at, row(), r.text())
			}
		}
	})
}

func TestFocusMovesToTheTranscriptAndBack(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.ask("running?")
		r.keys("tab")
		if !r.m.focused {
			t.Fatal("tab gives it no keys")
		}
		r.keys("y")
		if !strings.Contains(r.clip, "[1] fitness.md:12") {
			t.Errorf("copied %q from the sources", r.clip)
		}
		r.keys("k", "y")
		if !strings.HasPrefix(r.clip, "You run **three times a week**") {
			t.Errorf("copied %q from the answer", r.clip)
		}
		r.keys("g", "y")
		if r.clip != "running?" {
			t.Errorf("copied %q from the question", r.clip)
		}
		r.keys("x")
		if r.m.focused || r.m.composer.Text() != "x" {
			t.Errorf("typing does not give the keys back: composer %q", r.m.composer.Text())
		}
		r.keys("backspace", "tab", "esc")
		if r.m.focused {
			t.Error("Esc does not give the keys back")
		}
	})
}

func TestSpaceFoldsWhatIsChosen(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.ask("running?")
		r.keys("tab", "g", "j")
		r.mustShow("failed: no network") // a plan that failed stays open
		r.keys("space")
		r.mustNotShow("failed: no network")
		r.keys("enter")
		r.mustShow("failed: no network")
		r.mustNotShow("took 84 ms")
		r.keys("ctrl+o")
		r.mustShow("took 84 ms")
		r.keys("ctrl+o", "ctrl+t")
		r.mustNotShow("failed: no network")
	})
}

func TestEverySourceIsReached(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.ask("running?")
		r.keys("/sources", "enter", "j")
		r.mustShow("› [2]")
		r.keys("k")
		r.mustShow("› [1]")
	})
}

func TestEnterOnASourceReadsItsNote(t *testing.T) {
	o := finished()
	o.Notes = oneNote{note: chat.Note{Path: "running/plan.md", Text: strings.Repeat("A line of the plan.\n\n", 40)}}
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("running?")
		r.keys("/sources", "enter", "enter")
		r.mustShow("running/plan.md ─")
		r.mustShow("┃ A line of the plan.")
		r.keys("q")
		r.mustNotShow("A line of the plan.")
	})
}

func TestASourceOutsideItsVaultIsNotOpened(t *testing.T) {
	o := finished()
	o.Notes = chattest.Library{}
	inRig(t, 80, 24, o, func(r *rig) {
		for _, path := range []string{"../../etc/passwd", "/etc/passwd", ""} {
			if cmd := r.m.openSource(transcript.Cited{
				Citation: agent.Citation{Path: path, Line: 1},
				Source:   agent.Source{Vault: "/home/ana/notes"},
			}); cmd != nil {
				t.Errorf("%q is opened", path)
			}
		}
		if cmd := r.m.openSource(transcript.Cited{
			Citation: agent.Citation{Path: "a.md", Line: 1},
			Source:   agent.Source{},
		}); cmd != nil {
			t.Error("a source without a vault is opened")
		}
		if cmd := r.m.openSource(transcript.Cited{
			Citation: agent.Citation{Path: "a.md", Line: 1},
			Source:   agent.Source{Vault: "/home/ana/notes"},
		}); cmd == nil {
			t.Error("a good source is not opened")
		}
	})
}

func TestRepeatedNoticeDoesNotHideTheWelcome(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Play()), func(r *rig) {
		r.send(statusMsg{Provider: "offline"})
		r.send(noticeMsg(chat.OfflineText))
		r.mustShow("▌ Ask")
		r.mustShow("no notes yet")
		r.send(noticeMsg("Ollama does not answer any more; " + chat.OfflineText))
		r.mustShow("does not answer any more")
	})
}

func TestTheTranscriptFollowsUnlessScrolled(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Play(longAnswer()...)), func(r *rig) {
		r.ask("go")
		r.mustNotShow("Paragraph 59.") // it came as a whole: it is read from its question on
		r.mustShow("▌ go")
		r.mustShow("more   ctrl+end to the end")
		r.keys("ctrl+end")
		r.mustShow("Paragraph 59.")
		r.keys("ctrl+home")
		r.mustShow("Paragraph 0.")
		r.mustNotShow("Paragraph 59.")
		shown := func() string { text, _, _ := strings.Cut(r.text(), "Ask anything"); return text }
		before := shown()
		r.send(noticeMsg("something new"))
		if shown() != before {
			t.Error("it moved though the user had scrolled")
		}
		r.keys("pgdown", "pgdown")
		r.mustNotShow("something new")
		r.keys("ctrl+end")
		r.mustShow("something new")
		r.send(noticeMsg("newer still"))
		r.mustShow("newer still")
		for range 5 {
			r.send(tea.MouseWheelMsg{Button: tea.MouseWheelUp})
		}
		r.mustNotShow("newer still")
		for range 5 {
			r.send(tea.MouseWheelMsg{Button: tea.MouseWheelDown})
		}
		r.mustShow("newer still")
		if r.m.transcript.Scrolled {
			t.Error("it does not follow again")
		}
	})
}

// Moving down and up passes every item, and the chosen one is visible.
func TestEveryItemCanBeSelectedAndIsVisible(t *testing.T) {
	inRig(t, 60, 14, finished(), func(r *rig) {
		r.ask("running?")
		r.keys("the second", "enter")
		r.pass(200 * time.Millisecond)
		r.keys("tab", "g")
		seen := map[int]bool{}
		for range 80 {
			chosen := r.m.transcript.Chosen
			seen[chosen] = true
			if !slices.Contains(r.m.transcript.Shown, chosen) {
				t.Fatalf("item %d is chosen and not in sight, top %+v away %v h %d:\n%s", chosen, r.m.transcript.Top,
					r.m.transcript.Scrolled, r.m.transcript.Height, r.text())
			}
			r.keys("j")
		}
		if len(seen) != len(r.m.transcript.Entries) {
			t.Errorf("down reaches %d of %d items", len(seen), len(r.m.transcript.Entries))
		}
		for range 80 {
			if !slices.Contains(r.m.transcript.Shown, r.m.transcript.Chosen) {
				t.Fatalf("item %d is chosen and not in sight", r.m.transcript.Chosen)
			}
			r.keys("k")
		}
		if r.m.transcript.Chosen != 0 {
			t.Errorf("up ends at item %d", r.m.transcript.Chosen)
		}
	})
}

func TestAClickChoosesWhatIsUnderIt(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.ask("running?")
		lines := strings.Split(r.text(), "\n")
		for y, line := range lines {
			if at := strings.Index(line, "[2] log/2026-03.md"); at >= 0 {
				r.click(at, y)
			}
		}
		r.keys("esc") // a click opened it
		r.mustShow("› [2]")
		r.click(4, 22)
		if r.m.focused {
			t.Error("a click on the composer does not give the keys back")
		}
	})
}

func TestKeysCanBeRebound(t *testing.T) {
	o := chattest.WithWorld(chattest.Hold())
	o.Keys = map[string][]string{"help": {"f2"}, "plan": {"ctrl+x"}}
	inRig(t, 80, 24, o, func(r *rig) {
		r.send(tea.KeyPressMsg{Code: tea.KeyF2})
		r.mustShow("Writing")
		r.keys("f", "2")
		r.mustShow("f2")
	})
	for name, bound := range map[string]map[string][]string{
		"no such action":     {"jump": {"x"}},
		"two meanings":       {"plan": {"ctrl+o"}},
		"a key of the typed": {"copy": {"j"}},
		"a key of all lists": {"tree_fork": {"j"}},
		"no key at all":      {"plan": {}},
	} {
		if err := draw.CheckKeys(bound); err == nil {
			t.Errorf("%s: %v is accepted", name, bound)
		}
	}
	if err := draw.CheckKeys(nil); err != nil {
		t.Errorf("the built-in keys clash: %v", err)
	}
}

func TestListAndFormKeysCanBeRebound(t *testing.T) {
	o := chattest.WithEverything()
	o.Keys = map[string][]string{"list_down": {"ctrl+k"}, "picker_choose": {"ctrl+y"}, "complete": {"ctrl+x"}}
	inRig(t, 80, 24, o, func(r *rig) {
		r.keys("ctrl+s", "ctrl+k", "ctrl+y")
		r.mustShow("Are you there?")
		r.keys("/mo", "ctrl+x")
		if got := r.m.composer.Text(); got != "/model " {
			t.Errorf("completed to %q", got)
		}
	})
	o = chattest.WithFigures()
	o.Keys = map[string][]string{"stats_next": {"ctrl+y"}}
	inRig(t, 80, 24, o, func(r *rig) {
		r.keys("/stats", "enter", "ctrl+y")
		r.mustShow("by model")
	})
}

func TestQuestionToAMissingModelCanBeAskedAgain(t *testing.T) {
	o := chattest.WithEverything()
	failed := agent.FailedFrom(&llm.NotFoundError{Model: "qwen3:8b"})
	assistant := chattest.Play(agent.Started{Message: "why?"}, failed)
	assistant.Turn = "t1"
	o.Assistant = assistant
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("why?")
		r.mustShow("/pull qwen3:8b")
		r.keys("/pull qwen3:8b", "enter")
		r.mustShow("pulling qwen3:8b")
		r.mustShow("40 % · 2.1 GB of 5.2 GB")
		r.mustShow("esc stops")
		r.keys("esc")
		r.pass(10 * time.Millisecond)
		r.mustShow("pull of qwen3:8b stopped")
		r.keys("/retry", "enter")
		r.pass(10 * time.Millisecond)
		if !slices.Equal(assistant.Asked, []string{"why?", "why?"}) {
			t.Errorf("asked = %q", assistant.Asked)
		}
	})
}

func TestJumpKeysMoveBetweenQuestions(t *testing.T) {
	inRig(t, 60, 14, chattest.WithWorld(chattest.Play(longAnswer()...)), func(r *rig) {
		r.ask("the first question")
		r.ask("the second question")
		r.keys("ctrl+end")
		r.mustNotShow("▌ the second question\n")
		r.mustShow("▌ the second question  ") // in the first line, as it is above the visible part
		up, down := tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModAlt},
			tea.KeyPressMsg{Code: tea.KeyDown, Mod: tea.ModAlt}
		for _, step := range []struct {
			key  tea.KeyPressMsg
			show string
		}{
			{up, "▌ the second question\n"},
			{up, "▌ the first question\n"},
			{down, "▌ the second question\n"},
			{down, "Paragraph 59."},
		} {
			r.send(step.key)
			r.mustShow(step.show)
		}
	})
}

func TestHelpIsSearchedByTyping(t *testing.T) {
	inRig(t, 100, 30, chattest.WithEverything(), func(r *rig) {
		r.keys("?", "jk")
		r.mustShow("no matches")
		r.keys("esc")
		r.mustShow("type to search")
		r.keys("branch")
		r.mustShow("/tree")
		r.mustNotShow("in your editor")
		r.keys("backspace", "ctrl+u", "?")
		r.mustShow("▌ Ask")
		r.keys("f1", "down", "f1")
		r.mustNotShow("type to search")
	})
}

func TestACodeBlockIsCopiedByItsNumber(t *testing.T) {
	inRig(t, 80, 24, finished(), func(r *rig) {
		r.m.transcript.Add(answered("```\none\n```\n\n```\ntwo\n```\n", ""))
		r.keys("tab", "2")
		if r.clip != "two\n" {
			t.Errorf("2 copied %q", r.clip)
		}
		r.keys("esc", "/copy 1", "enter")
		if r.clip != "one\n" {
			t.Errorf("/copy 1 copied %q", r.clip)
		}
		r.clip = ""
		r.keys("/copy 7", "enter")
		if r.clip != "" {
			t.Errorf("/copy 7 copied %q", r.clip)
		}
		r.mustShow("2 code blocks")
	})
}
