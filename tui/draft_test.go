package tui

import (
	"context"
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/composer"
)

// drawer keeps what is typed in memory.
type drawer struct {
	left agent.Draft // by an earlier screen
	kept []agent.Draft
	err  error
}

func (d *drawer) SaveDraft(_ context.Context, u agent.Draft) error {
	d.kept = append(d.kept, u)
	return d.err
}

func (d *drawer) LoadDraft(context.Context, string) (agent.Draft, error) {
	u := d.left
	d.left = agent.Draft{}
	return u, nil
}

func (d *drawer) DraftFile() (*os.File, error) { return nil, errors.New("no room") }

func (d *drawer) last() agent.Draft {
	if len(d.kept) == 0 {
		return agent.Draft{}
	}
	return d.kept[len(d.kept)-1]
}

// withDrawer are options of a conversation with one turn.
func withDrawer(d *drawer) chat.Options {
	o := chattest.WithWorld(chattest.Play(agent.Started{}, agent.Said{Content: "Hello."}, agent.Ended{}))
	o.Branches, o.Conversations, o.Conversation, o.Drafts = chattest.Kept{},
		cutOff{last: agent.Exchange{Turn: "c1.2", Question: "And now?", Answer: agent.Answer{Text: "Now."}}}, "c1", d
	return o
}

func TestDraftIsSavedAfterAPause(t *testing.T) {
	d := &drawer{}
	inRig(t, 80, 24, withDrawer(d), func(r *rig) {
		r.pass(time.Minute)
		if len(d.kept) > 0 {
			t.Fatalf("nothing is typed, and kept was %+v", d.kept)
		}
		for range 40 {
			r.keys("a")
			r.pass(25 * time.Millisecond)
		}
		r.pass(draftPause)
		if n := len(d.kept); n < 2 || n > 3 {
			t.Errorf("a second of typing was written %d times", n)
		}
		if got := d.last(); got.Text != strings.Repeat("a", 40) || got.Conversation != "c1" {
			t.Errorf("kept is %+v", got)
		}
		n := len(d.kept)
		r.pass(time.Minute)
		if len(d.kept) != n {
			t.Error("it is written again though nothing has changed")
		}
		r.keys("ctrl+c")
		r.pass(draftPause)
		if got := d.last(); !got.Empty() {
			t.Errorf("after it was emptied %+v is kept", got)
		}
	})
}

// Whatever the composer shows, nothing that was typed is left out of what is kept.
func TestAllTypedTextIsInTheDraft(t *testing.T) {
	long := strings.Repeat("line\n", composer.LongLines+1)
	for name, tc := range map[string]struct {
		do   func(r *rig)
		want agent.Draft
	}{
		"a draft": {func(r *rig) { r.keys("a", "shift+enter", "b") }, agent.Draft{Text: "a\nb"}},
		"a paste": {
			func(r *rig) { r.keys("a "); r.m.paste(long) },
			agent.Draft{Text: "a [paste 1 · 31 lines]", Pastes: []agent.Paste{{
				Name: "[paste 1 · 31 lines]",
				Text: long,
			}}},
		},
		"behind the history": {func(r *rig) { r.keys("a draft", "up") }, agent.Draft{Text: "a draft"}},
		"and the history too": {
			func(r *rig) { r.keys("a draft", "up", "!") },
			agent.Draft{Text: "earlier!", Waiting: []string{"a draft"}},
		},
		"a question that is changed": {
			func(r *rig) { r.keys("a draft"); r.m.editBack("1"); r.keys("!") },
			agent.Draft{Text: "And now?!", Changing: "c1.2", Waiting: []string{"a draft"}},
		},
		"what waits": {
			func(r *rig) { r.m.composer.Wait("one", -1); r.m.composer.QueueRestored("zero", 0); r.keys("two") },
			agent.Draft{Text: "two", Waiting: []string{"zero", "one"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := &drawer{}
			inRig(t, 80, 24, withDrawer(d), func(r *rig) {
				r.m.composer.History = []string{"earlier"}
				tc.do(r)
				r.keys("left") // any message draws, and looks
				r.pass(draftPause)
				tc.want.Conversation = "c1"
				if got := d.last(); !reflect.DeepEqual(got, tc.want) {
					t.Errorf("got  %+v\nwant %+v", got, tc.want)
				}
				again := &drawer{left: d.last()}
				inOther(t, again, func(r *rig) {
					if got := r.m.typed(); !reflect.DeepEqual(got, tc.want) {
						t.Errorf("taken up it is %+v\nwant %+v", got, tc.want)
					}
				})
			})
		})
	}
}

// inOther shows what is left to another screen in the same bubble.
func inOther(t *testing.T, d *drawer, test func(r *rig)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	m, err := New(ctx, withDrawer(d))
	if err != nil {
		t.Fatal(err)
	}
	m.resize(80, 24)
	m.opened(readConversation(m.base, &m.Options, conversationMsg{ID: "c1"}))
	m.Update(m.loadDraft()())
	test(&rig{t: t, m: m})
}

func TestRestoredDraftIsNotSentAutomatically(t *testing.T) {
	d := &drawer{left: agent.Draft{
		Conversation: "other", Title: "Old times", Text: "half a",
		Waiting: []string{"one", "two"},
	}}
	options := withDrawer(d)
	script := options.Assistant.(*chattest.Script)
	inRig(t, 80, 24, options, func(r *rig) {
		r.mustShow("not sent: “one”")
		r.mustShow("not sent: “two”")
		r.mustShow("▌ half a")
		r.mustShow("in “Old times”")
		r.pass(time.Minute)
		r.keys(" thought", "enter")
		r.pass(time.Second)
		r.mustShow("Hello.")
		r.mustShow("not sent: “one”")
		r.mustShow("not sent: “two”")
		r.keys("up", "up")
		r.mustShow("▌ one")
		r.mustShow("queued message 1 of 2 · enter to send")
		r.keys("!", "down") // it stays where it was, as it is now
		r.mustShow("not sent: “one!”")
		r.mustShow("▌ two")
		r.keys("down")
		r.mustShow("not sent: “one!”")
		r.mustShow("not sent: “two”")
		r.keys("up", "enter")
		r.pass(time.Second)
		if want := []string{"half a thought", "two"}; !slices.Equal(script.Asked, want) {
			t.Errorf("asked was %q, want %q", script.Asked, want)
		}
		r.mustShow("not sent: “one!”")
		r.keys("up", "ctrl+c")
		r.pass(time.Second)
		r.mustNotShow("not sent")
		r.mustNotShow("one!")
		if got := d.last(); !got.Empty() {
			t.Errorf("kept is %+v", got)
		}
	})
}

func TestMessageIsSavedBeforeItIsAsked(t *testing.T) {
	d := &drawer{}
	options := withDrawer(d)
	order := &askedAfter{Script: options.Assistant.(*chattest.Script), d: d}
	options.Assistant = order
	inRig(t, 80, 24, options, func(r *rig) {
		r.ask("And then?")
		if want := (agent.Draft{Conversation: "c1", Sending: "And then?"}); len(order.before) == 0 ||
			!reflect.DeepEqual(order.before[len(order.before)-1], want) {
			t.Errorf("before it was asked, kept was %+v", order.before)
		}
		r.pass(draftPause)
		if got := d.last(); !got.Empty() {
			t.Errorf("it was asked, and kept is %+v", got)
		}
	})
}

// askedAfter notes what was kept when a question came, and gives its turn an id.
type askedAfter struct {
	*chattest.Script
	d      *drawer
	before []agent.Draft
}

func (o *askedAfter) Ask(ctx context.Context, conversation, message string) <-chan agent.Event {
	o.before = slices.Clone(o.d.kept)
	return numbered{o.Script}.Ask(ctx, conversation, message)
}

func TestUnsavableDraftIsReportedOnce(t *testing.T) {
	d := &drawer{err: errors.New("no space left on device")}
	inRig(t, 80, 24, withDrawer(d), func(r *rig) {
		for range 5 {
			r.keys("a")
			r.pass(draftPause)
		}
		r.mustShow("no space left on device")
		r.mustShow("▌ aaaaa")
		if n := strings.Count(r.text(), "no space left"); n != 1 {
			t.Errorf("it is said %d times:\n%s", n, r.text())
		}
	})
}
