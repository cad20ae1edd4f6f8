package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/internal/chattest"
)

// opens are options that take a while to open.
type opens struct {
	options chat.Options
	err     error
	wait    time.Duration
}

func (o opens) Open(context.Context) (chat.Options, error) {
	time.Sleep(o.wait)
	return o.options, o.err
}

// What is typed before all is there stands in the composer at once; a key that
// needs more than that waits, and what follows it too.
func TestKeysWaitUntilTheOptionsAreComplete(t *testing.T) {
	asks := &chattest.Script{}
	m, err := New(t.Context(), chat.Options{Opener: opens{options: chat.Options{Assistant: asks}}})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if !strings.Contains(m.View().Content, "sk your notes") {
		t.Fatalf("there is no prompt before all is there:\n%s", m.View().Content)
	}
	for _, r := range "hello" {
		m.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	time.Sleep(2 * atOnce) // as somebody types
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	time.Sleep(2 * atOnce)
	m.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if got := m.composer.Text(); got != "hello" {
		t.Errorf("before: the composer holds %q, want what was typed before Enter", got)
	}
	m.Update(m.opening.Begin(t.Context())())
	if m.turn == nil || m.turn.question != "hello" {
		t.Errorf("after: %+v was asked, want hello", m.turn)
	}
	if got := m.composer.Text(); got != "x" {
		t.Errorf("after: the composer holds %q, want what was typed after Enter", got)
	}
}

func TestErrorOfOpenEndsTheScreen(t *testing.T) {
	broken := errors.New("the disk is gone")
	m, err := New(t.Context(), chat.Options{Opener: opens{err: broken}})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	_, cmd := m.Update(m.opening.Begin(t.Context())())
	if m.opening.Err != broken {
		t.Errorf("err = %v, want %v", m.opening.Err, broken)
	}
	if cmd == nil || !quits(cmd) {
		t.Error("the screen stays")
	}
}

// quits reports whether a command, or one of its parts, ends the program.
func quits(cmd tea.Cmd) bool {
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		return true
	case tea.BatchMsg:
		for _, c := range msg {
			if c != nil && quits(c) {
				return true
			}
		}
	}
	return false
}

func TestUserCanLeaveWhileTheScreenOpens(t *testing.T) {
	m, err := New(t.Context(), chat.Options{Opener: opens{}})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(tea.KeyPressMsg{Code: tea.KeyEnter}) // which waits
	clear := tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	m.Update(clear)
	_, cmd := m.Update(clear)
	if cmd == nil || !quits(cmd) || m.leaving.exit != chat.Quit {
		t.Errorf("Ctrl+C twice does not leave: %v", m.leaving.exit)
	}
}

// Enter was meant for the question that was typed; what the first run offers
// had not been seen.
func TestEarlyEnterChoosesNothingInTheFirstRun(t *testing.T) {
	notes := &chattest.Folders{Found: chattest.NoModel}
	o := chattest.Newcomer(chattest.NoModel)()
	o.Setup = notes
	inRig(t, 80, 24, chat.Options{Opener: opens{options: o, wait: time.Second}}, func(r *rig) {
		r.keys("how often do I run?", "enter")
		r.pass(time.Second)
		r.mustShow("Welcome to LifeHub")
		if len(notes.Took) > 0 || r.m.composer.Text() != "how often do I run?" {
			t.Errorf("took %v, and the question is %q", notes.Took, r.m.composer.Text())
		}
		r.keys("esc", "enter")
		r.mustShow("▌ how often do I run?")
	})
}

func TestEarlyQuestionIsBelowTheSavedConversation(t *testing.T) {
	o := chattest.WithEverything()
	o.Conversation = "c1"
	inRig(t, 100, 60, chat.Options{Opener: opens{options: o}}, func(r *rig) {
		r.keys("and now?", "enter")
		r.pass(time.Second)
		r.mustNotShow("stop the turn")
		before, asked := strings.Index(r.text(), "When do I fly"), strings.Index(r.text(), "▌ and now?")
		if before < 0 || asked < before {
			t.Errorf("the question does not stand below:\n%s", r.text())
		}
	})
}

// What is said about the start is seen, whether it comes before or after the conversation is read.
func TestNoticeBeforeTheConversationIsKept(t *testing.T) {
	m, err := New(t.Context(), chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 40})
	m.Update(noticeMsg("this chat goes without the notes in old"))
	m.Update(conversationMsg{ID: "c1"})
	if !strings.Contains(m.View().Content, "without the notes") {
		t.Errorf("the notice is gone:\n%s", m.View().Content)
	}
}
