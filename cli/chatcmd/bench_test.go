package chatcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/store"
	"lifehub/tui"
)

// BenchmarkOpenAndScroll opens conversations on the real store and screen and scrolls through them.
// It measures the wait until the end is visible, and each frame (at most 150 ms more than an empty
// conversation; 16 ms). Earlier turns are loaded while the user reads; whole-ms is the time until
// all are loaded.
func BenchmarkOpenAndScroll(b *testing.B) {
	for _, messages := range []int{0, 5000} {
		b.Run(fmt.Sprintf("%d messages", messages), func(b *testing.B) {
			s := longTalk(b, messages)
			var opening, whole, frames, worst time.Duration
			rounds, pages := 0, 0
			for b.Loop() {
				began := time.Now()
				m, rest, end := openScreen(b, s)
				opening += time.Since(began)
				rest()
				whole += time.Since(began)
				rounds++
				for range min(200, messages) {
					began := time.Now()
					m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
					m.View()
					took := time.Since(began)
					frames, worst = frames+took, max(worst, took)
					pages++
				}
				end()
			}
			b.ReportMetric(float64(opening.Microseconds())/float64(rounds)/1000, "open-ms")
			b.ReportMetric(float64(whole.Microseconds())/float64(rounds)/1000, "whole-ms")
			if pages > 0 {
				b.ReportMetric(float64(frames.Microseconds())/float64(pages)/1000, "frame-ms")
				b.ReportMetric(float64(worst.Microseconds())/1000, "worst-frame-ms")
			}
		})
	}
}

// longTalk saves a conversation with sources and verdicts.
func longTalk(tb testing.TB, messages int) *store.Store {
	tb.Helper()
	s, err := store.Open(filepath.Join(tb.TempDir(), "lifehub.db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	passage := agent.Source{
		N: 1, Path: "running/plan.md", Line: 3, EndLine: 9, Heading: "Plan",
		Text: strings.Repeat("I run three times a week. ", 30),
	}
	for i := range messages / 2 {
		turn, err := s.Begin(tb.Context(), "talk", fmt.Sprintf("Question %d: how often do I run, and how far?", i))
		if err == nil {
			err = s.Finish(tb.Context(), turn, agent.Answer{
				Text: fmt.Sprintf("Answer **%d**: three times a week [1].\n\n- Monday: easy\n- Sunday: long\n\n%s\n",
					i, strings.Repeat("More words follow here. ", 20)),
				Sources:   []agent.Source{passage, passage, passage},
				Citations: []agent.Citation{{N: 1, Path: passage.Path, Line: 4, Verdict: agent.Verified}},
			})
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// openScreen opens the conversation and returns when its end was drawn. rest does the remaining
// work.
func openScreen(tb testing.TB, s *store.Store) (m *tui.Model, rest, end func()) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	m, err := tui.New(ctx, chat.Options{
		Assistant: nobody{}, Conversations: conversations{Store: s},
		Branches: s, Conversation: "talk",
	})
	if err != nil {
		tb.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	next := run(m, m.Init())
	m.View()
	return m, func() {
		for len(next) > 0 {
			next = append(next[1:], run(m, next[0])...)
		}
	}, cancel
}

// run executes a command as Bubble Tea does, except those that wait for a terminal, and returns the
// resulting commands.
func run(m *tui.Model, cmd tea.Cmd) (next []tea.Cmd) {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, c := range msg {
			next = append(next, run(m, c)...)
		}
	default:
		_, after := m.Update(msg)
		next = append(next, after)
	}
	return next
}

// nobody is an assistant that never answers.
type nobody struct{}

func (nobody) Ask(context.Context, string, string) <-chan agent.Event { return nil }

func TestLongConversationOpensAtItsEnd(t *testing.T) {
	s := longTalk(t, 200)
	m, rest, end := openScreen(t, s)
	defer end()
	opened := m.View().Content
	if !strings.Contains(opened, "Answer") || !strings.Contains(opened, "99") {
		t.Errorf("the end of the conversation is not in sight:\n%s", opened)
	}
	rest()
	if screen := m.View().Content; screen != opened {
		t.Errorf("what was in sight moved when the turns above came:\n%s\nbefore:\n%s", screen, opened)
	}
	for range 400 {
		m.Update(tea.KeyPressMsg{Code: tea.KeyPgUp})
	}
	if screen := m.View().Content; !strings.Contains(screen, "Question 0:") {
		t.Errorf("its beginning cannot be scrolled to:\n%s", screen)
	}
}
