package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
)

var (
	undoKey = tea.KeyPressMsg{Code: '_', Mod: tea.ModCtrl}
	redoKey = tea.KeyPressMsg{Code: '/', Mod: tea.ModAlt}
)

func TestInputIsUndoneAndRedone(t *testing.T) {
	long := strings.Repeat("a line\n", 40)
	for name, c := range map[string]struct {
		write func(r *rig)
		want  []string // after each undo; then redone to where it was
	}{
		"letters go back by the word": {
			func(r *rig) { r.keys("one two  three") },
			[]string{"one two  ", "one ", "", ""},
		},
		"letters deleted one by one come back together": {
			func(r *rig) { r.keys("one", "backspace", "backspace") },
			[]string{"one", ""},
		},
		"a cut is a step": {
			func(r *rig) { r.keys("one two", "ctrl+w", "ctrl+u") },
			[]string{"one ", "one two", "one "},
		},
		"a move parts what is written": {
			func(r *rig) { r.keys("one", "left", "x") },
			[]string{"one", ""},
		},
		"a paste is a step": {
			func(r *rig) { r.keys("see "); r.send(tea.PasteMsg{Content: "a\nb"}) },
			[]string{"see ", ""},
		},
		"a long paste too": {
			func(r *rig) { r.send(tea.PasteMsg{Content: long}); r.keys(" why?") },
			[]string{"[paste 1 · 40 lines] ", "[paste 1 · 40 lines]", ""},
		},
		"a completed name is a step": {
			func(r *rig) { r.keys("see @fit", "tab") },
			[]string{"see @fit", "see ", ""},
		},
		"a message that ctrl+c cleared comes back": {
			func(r *rig) { r.keys("one"); r.send(tea.PasteMsg{Content: long}); r.keys("ctrl+c") },
			[]string{"one[paste 1 · 40 lines]", "one"},
		},
		"what an earlier prompt stood in place of comes back": {
			func(r *rig) { r.m.composer.History = []string{"before"}; r.keys("now", "up") },
			[]string{"now", ""},
		},
		"lines": {
			func(r *rig) { r.keys("one", "ctrl+j", "two") },
			[]string{"one\n", "one", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := chattest.WithWorld(chattest.Hold())
			o.Notes = chattest.Library{}
			inRig(t, 80, 24, o, func(r *rig) {
				c.write(r)
				whole := r.m.composer.Text()
				for n, want := range c.want {
					r.send(undoKey)
					if got := r.m.composer.Text(); got != want {
						t.Errorf("after %d: got %q, want %q", n+1, got, want)
					}
				}
				for range c.want {
					r.send(redoKey)
				}
				if got := r.m.composer.Text(); got != whole {
					t.Errorf("redone: got %q, want %q", got, whole)
				}
			})
		})
	}
}

func TestRestoredPasteIsSentCompletely(t *testing.T) {
	s := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(s), func(r *rig) {
		r.send(tea.PasteMsg{Content: strings.Repeat("first\n", 40)})
		r.keys("ctrl+c")
		r.send(tea.PasteMsg{Content: strings.Repeat("second\n", 40)})
		r.send(undoKey)
		r.send(undoKey)
		r.keys("enter")
		if got := s.Asked[0]; strings.Count(got, "first\n") != 40 || strings.Contains(got, "second") {
			t.Errorf("sent %q", got)
		}
	})
}

func TestUndoStaysWithinOneMessage(t *testing.T) {
	s := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(s), func(r *rig) {
		r.keys("one", "enter", "two", "enter") // two waits
		r.send(undoKey)
		if got := r.m.composer.Text(); got != "" {
			t.Errorf("what was sent came back as a draft: %q", got)
		}
		r.mustShow("nothing to undo")
		r.keys("up") // two is taken back
		r.send(undoKey)
		if got := r.m.composer.Text(); got != "two" {
			t.Errorf("the message that waited turned into %q", got)
		}
	})
}

func TestDraftKeepsItsPastesWhileEditing(t *testing.T) {
	for name, keys := range map[string][]string{"sent": {"!", "enter"}, "left": {"esc"}} {
		t.Run(name, func(t *testing.T) {
			options := chattest.WithEverything()
			store := &branching{}
			options.Branches, options.Conversations, options.Assistant, options.Conversation = store, store,
				chattest.Play(agent.Started{}, agent.Said{Content: "yes"}, agent.Ended{}), "c1"
			inRig(t, 80, 24, options, func(r *rig) {
				r.send(tea.PasteMsg{Content: strings.Repeat("mine\n", 40)})
				r.m.edit(r.m.transcript.QuestionBack(1))
				r.keys(keys...)
				r.pass(time.Second)
				if got := r.m.composer.Take(); strings.Count(got, "mine\n") != 40 {
					t.Errorf("the draft became %q", got)
				}
			})
		})
	}
}

func TestQueuedCommandKeepsDraftAndPastes(t *testing.T) {
	s := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(s), func(r *rig) {
		r.keys("one", "enter")
		r.m.composer.Wait("/help", -1)
		r.send(tea.PasteMsg{Content: strings.Repeat("mine\n", 40)})
		r.m.askQueued(r.m.composer.Next())
		if got := r.m.composer.Take(); strings.Count(got, "mine\n") != 40 {
			t.Errorf("the draft became %q", got)
		}
	})
}
