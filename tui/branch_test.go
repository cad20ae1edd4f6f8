package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/panel"
	"lifehub/tui/transcript"
)

// branching is a store that writes down how the screen moves in the tree.
type branching struct {
	chattest.Kept
	moves []string
}

func (b *branching) GoOn(_ context.Context, id, turn string) error {
	b.moves = append(b.moves, "go on "+id+" "+turn)
	return nil
}

func (b *branching) Show(_ context.Context, id, turn string) error {
	b.moves = append(b.moves, "show "+id+" "+turn)
	return nil
}

func (b *branching) Fork(_ context.Context, id, turn string) (agent.Conversation, error) {
	b.moves = append(b.moves, "fork "+id+" "+turn)
	return agent.Conversation{ID: "c1", Title: "A week in Lisbon (fork)"}, nil
}

func TestKeysMoveInTheTreeOfAConversation(t *testing.T) {
	for name, test := range map[string]struct {
		keys  []string
		moves string
		asked string
	}{
		"retry asks again beside the first": {[]string{"/retry", "enter"}, "go on c1 c1.6", "Are you there?"},
		"retry of a chosen question":        {[]string{"tab", "g", "r"}, "go on c1 ", "When do I fly to Lisbon?"},
		"edit branches where the question was": {
			[]string{"/edit 3", "enter", "!", "enter"},
			"go on c1 c1.4", "And back?!",
		},
		"edit of a chosen question": {
			[]string{"tab", "g", "e", " soon", "enter"},
			"go on c1 ",
			"When do I fly to Lisbon? soon",
		},
		"esc leaves the question as it was": {[]string{"draft", "ctrl+u", "/edit", "enter", "esc"}, "", ""},
		"a command ends the edit": {[]string{
			"/edit", "enter", "ctrl+u", "/help", "enter", "esc",
			"another", "enter",
		}, "", "another"},
		"the alternative before":                {[]string{"tab", "g", "h"}, "show c1 c1.1", ""},
		"there is no alternative after":         {[]string{"tab", "g", "l"}, "", ""},
		"fork":                                  {[]string{"/fork", "enter"}, "fork c1 c1.7", ""},
		"the tree shows a branch":               {[]string{"/tree", "enter", "g", "down", "enter"}, "show c1 c1.2", ""},
		"the tree goes on from a turn":          {[]string{"/tree", "enter", "up", "c"}, "go on c1 c1.6", ""},
		"the tree forks":                        {[]string{"/tree", "enter", "g", "f"}, "fork c1 c1.1", ""},
		"esc closes the tree":                   {[]string{"/tree", "enter", "esc"}, "", ""},
		"a question further back than there is": {[]string{"/edit 9", "enter"}, "", ""},
		"a number that is none":                 {[]string{"/edit x", "enter"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			options := chattest.WithEverything()
			store, assistant := &branching{}, chattest.Play(agent.Started{}, agent.Said{Content: "yes"}, agent.Ended{})
			options.Branches, options.Conversations, options.Assistant,
				options.Conversation = store, store, assistant, "c1"
			inRig(t, 80, 24, options, func(r *rig) {
				r.keys(test.keys...)
				r.pass(0)
				if got := strings.Join(store.moves, ", "); got != test.moves {
					t.Errorf("it moved %q, want %q", got, test.moves)
				}
				if got := strings.Join(assistant.Asked, ", "); got != test.asked {
					t.Errorf("it asked %q, want %q", got, test.asked)
				}
			})
		})
	}
}

func TestATreeOf5000TurnsIsDrawnAtOnce(t *testing.T) {
	var list []agent.Exchange
	for i := range 5000 {
		e := agent.Exchange{Turn: fmt.Sprintf("c.%d", i+1), Question: "Question?", Current: true}
		if i > 0 {
			e.After = fmt.Sprintf("c.%d", max(1, i-i%7))
		}
		list = append(list, e)
	}
	m, err := New(context.Background(), chattest.WithEverything())
	if err != nil {
		t.Fatal(err)
	}
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	m.Update(panel.OpenMsg{Panel: panel.NewTree(list, time.Now())})
	if tree := m.panel.(*panel.Tree); len(tree.Rows) != 5000 || !strings.Contains(m.View().Content, "Question?") {
		t.Errorf("%d rows are in the tree", len(tree.Rows))
	}
}

// The window is named after a conversation as the lists do, without its markup, and the header does not repeat a
// question that is visible.
func TestTheWindowHasThePlainTitle(t *testing.T) {
	options := chattest.WithEverything()
	options.Assistant = chattest.Play(agent.Started{}, agent.Said{Content: "On 3 May."}, agent.Ended{})
	inRig(t, 80, 24, options, func(r *rig) {
		r.ask("## When do **I** <b>fly</b>?")
		if got := r.m.View().WindowTitle; !strings.Contains(got, "When do I fly ?") {
			t.Errorf("the window is %q", got)
		}
		r.mustNotShow("  When do I fly ?")
	})
}

// long is a store whose conversation c1 is longer than what is read at first.
type long struct {
	branching
	length int
}

func (l *long) Exchanges(_ context.Context, id string) (list []agent.Exchange, err error) {
	for n := 1; n <= l.length; n++ {
		e := agent.Exchange{
			Turn: fmt.Sprintf("%s.%d", id, n), Current: true, Question: fmt.Sprintf("Question %d", n),
			Answer: agent.Answer{Text: "Yes."},
		}
		if n > 1 {
			e.After = fmt.Sprintf("%s.%d", id, n-1)
		}
		list = append(list, e)
	}
	return list, nil
}

func (l *long) Latest(ctx context.Context, id string, n int) ([]agent.Exchange, error) {
	list, err := l.Exchanges(ctx, id)
	return list[max(0, len(list)-n):], err
}

// The turns above those that are read first come once each, whatever the user
// did meanwhile, and not into another conversation.
func TestEarlierTurnsAreLoadedOnce(t *testing.T) {
	for name, test := range map[string]struct {
		meanwhile []string
		want      int // questions in the transcript
	}{
		"nothing was done":               {nil, 120},
		"a question was asked":           {[]string{"one more", "enter"}, 121},
		"the first in sight was edited":  {[]string{"tab", "g", "e", "!", "enter"}, 71},
		"another conversation was begun": {[]string{"/new", "enter"}, 0},
		"it was opened once more":        {[]string{"/fork", "enter"}, 120},
	} {
		t.Run(name, func(t *testing.T) {
			options := chattest.WithEverything()
			store := &long{length: 120}
			options.Branches, options.Conversations, options.Assistant, options.Prompt = store, store,
				chattest.Play(agent.Started{}, agent.Said{Content: "yes"}, agent.Ended{}), ""
			inRig(t, 80, 24, options, func(r *rig) {
				m := r.m
				opened := readConversation(m.base, &m.Options, conversationMsg{ID: "c1", Title: "Long"})
				if len(opened.Exchanges) != firstRead {
					t.Fatalf("%d turns were read first", len(opened.Exchanges))
				}
				m.opened(opened)
				m.transcript.Awaited = "" // what was read then is thrown away
				late := m.readEarlier()().(earlierMsg)
				r.keys(test.meanwhile...)
				r.send(late)
				questions := map[string]int{}
				for _, e := range m.transcript.Entries {
					if q, ok := e.Item.(*transcript.Question); ok {
						questions[q.Text]++
					}
				}
				if len(questions) != test.want {
					t.Errorf("%d questions, want %d", len(questions), test.want)
				}
				for text, times := range questions {
					if times != 1 {
						t.Errorf("%q stands there %d times", text, times)
					}
				}
			})
		})
	}
}

// chatting is an assistant whose answers a long store holds.
type chatting struct{ *long }

func (g chatting) Ask(_ context.Context, conversation, _ string) <-chan agent.Event {
	g.length++
	events := make(chan agent.Event, 3)
	for n, body := range []agent.Body{
		agent.Started{Conversation: conversation},
		agent.Said{Content: "Yes."},
		agent.Ended{Answer: "Yes."},
	} {
		events <- agent.Event{Turn: fmt.Sprintf("%s.%d", conversation, g.length), Seq: n + 1, Body: body}
	}
	close(events)
	return events
}

// However many turns a chat has, it holds a bounded number of them, and the
// others are read again when the user scrolls there.
func TestALongChatHoldsItsLastTurns(t *testing.T) {
	testenv.WithoutRace(t)
	store := &long{}
	options := chattest.WithEverything()
	options.Branches, options.Conversations, options.Assistant, options.Prompt = store, store, chatting{store}, ""
	inRig(t, 80, 24, options, func(r *rig) {
		questions := func() (list []string) {
			for _, e := range r.m.transcript.Entries {
				if q, ok := e.Item.(*transcript.Question); ok {
					list = append(list, q.Text)
				}
			}
			return list
		}
		ask := func(turns int) {
			for range turns {
				r.ask(fmt.Sprintf("Question %d", store.length+1))
				if n := len(questions()); n > mostTurns {
					r.t.Fatalf("%d turns are held", n)
				}
			}
		}
		ask(mostTurns + 7)
		r.mustShow(fmt.Sprintf("Question %d", mostTurns+7))
		if n := len(questions()); n >= mostTurns {
			r.t.Errorf("%d turns are held", n)
		}
		r.keys("/edit 100", "enter")
		if got := r.m.composer.Text(); got != "Question 8" {
			r.t.Errorf("%q is edited, not the 100th last question", got)
		}
		r.keys("esc")
		r.keys("ctrl+home")
		r.mustShow("Question 1\n")
		got := questions()
		for i := range mostTurns + 7 {
			if want := fmt.Sprintf("Question %d", i+1); i >= len(got) || got[i] != want {
				r.t.Fatalf("of the questions %d is %q, want %q", i, got[min(i, len(got)-1)], want)
			}
		}
		r.keys("ctrl+end")
		ask(1)
		if n := len(questions()); n != firstRead {
			r.t.Errorf("%d turns are held after reading back, want %d", n, firstRead)
		}
	})
}

// searched notes what was searched for, and where.
type searched struct {
	chattest.Kept
	words []string
}

func (s *searched) Search(ctx context.Context, conversation, words string, limit int) ([]agent.Hit, error) {
	s.words = append(s.words, conversation+" "+words)
	return s.Kept.Search(ctx, conversation, words, limit)
}

// /find lists the messages of the open conversation only, with the words marked, and goes to the chosen one.
func TestFindSearchesTheOpenConversation(t *testing.T) {
	o := chattest.WithEverything()
	o.Conversation = "c1"
	archive := &searched{}
	o.Archive = archive
	inRig(t, 100, 30, o, func(r *rig) {
		r.keys("/find fly", "enter")
		r.mustShow("…when do I fly to Lisbon")
		r.keys("enter")
		r.pass(100 * time.Millisecond)
		if r.m.panel != nil || r.m.chat.id != "c1" || !r.m.focused {
			t.Errorf("the message was not opened:\n%s", r.text())
		}
	})
	if !slices.Equal(archive.words, []string{"c1 fly"}) {
		t.Errorf("searched %q", archive.words)
	}
}
