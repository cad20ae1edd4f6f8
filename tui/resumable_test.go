package tui

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
)

// cutOff is a store whose only conversation ends with a turn that was cut.
type cutOff struct {
	chattest.Kept
	last agent.Exchange
}

func (c cutOff) Exchanges(context.Context, string) ([]agent.Exchange, error) {
	return []agent.Exchange{{Turn: "c1.1", Question: "Hello", Answer: agent.Answer{Text: "Hi."}}, c.last}, nil
}

func (c cutOff) Latest(ctx context.Context, id string, _ int) ([]agent.Exchange, error) {
	return c.Exchanges(ctx, id)
}

// resuming resumes turns with the events of a script, and notes which.
type resuming struct {
	events  []agent.Body
	resumed *[]string
}

func (r resuming) Resume(ctx context.Context, conversation, turn string) <-chan agent.Event {
	*r.resumed = append(*r.resumed, conversation+" "+turn)
	return chattest.Play(r.events...).Ask(ctx, conversation, "")
}

// withLeft are options whose conversation ends with a cut turn; resumed notes
// what was resumed.
func withLeft(last agent.Exchange, bodies ...agent.Body) (o chat.Options, resumed *[]string) {
	resumed = &[]string{}
	o = chattest.WithWorld(chattest.Play(agent.Started{}, agent.Said{Content: "new answer"}, agent.Ended{}))
	o.Conversations, o.Conversation = cutOff{last: last}, "c1"
	o.Resumer = resuming{bodies, resumed}
	return o, resumed
}

var (
	killed = agent.Exchange{
		Turn: "c1.2", Question: "Add a task", Open: true,
		Answer: agent.Answer{Text: "I will", Cut: true},
	}
	goingOn = []agent.Body{agent.Started{Resumed: true}, agent.Said{Content: "It is added."}, agent.Ended{}}
)

func TestKilledTurnResumesOnlyOnRequest(t *testing.T) {
	for name, tc := range map[string]struct {
		last    agent.Exchange
		do      func(r *rig)
		resumed string
		offered bool
	}{
		"it waits":       {killed, func(r *rig) { r.pass(time.Minute) }, "", true},
		"enter":          {killed, func(r *rig) { r.pass(dialog.QuietPeriod); r.keys("enter") }, "c1 c1.2", false},
		"enter too soon": {killed, func(r *rig) { r.pass(dialog.QuietPeriod / 2); r.keys("enter") }, "", true},
		"enter too soon, then again": {killed, func(r *rig) {
			r.pass(dialog.QuietPeriod - time.Millisecond)
			r.keys("enter")
			r.pass(time.Millisecond)
			r.keys("enter")
		}, "c1 c1.2", false},
		"another key too soon": {killed, func(r *rig) {
			r.pass(dialog.QuietPeriod - time.Millisecond)
			r.keys("left")
			r.pass(time.Millisecond)
			r.keys("enter")
		}, "", true},
		"enter while typing": {killed, func(r *rig) {
			r.pass(dialog.QuietPeriod)
			r.keys("enter"[:0], "x", "backspace", "enter")
		}, "", true},
		"a command": {killed, func(r *rig) { r.keys("/continue", "enter") }, "c1 c1.2", false},
		"another conversation": {killed, func(r *rig) {
			r.keys("ctrl+n")
			r.pass(dialog.QuietPeriod)
			r.keys("enter", "/continue", "enter")
		}, "", false},
		"another question": {killed, func(r *rig) { r.ask("Something else") }, "", false},
		"another process is at it": {
			agent.Exchange{
				Turn: "c1.2", Question: "Add a task", Open: true,
				Running: true,
			},
			func(r *rig) { r.pass(dialog.QuietPeriod); r.keys("enter", "/continue", "enter") }, "",
			false,
		},
		"the user stopped it": {
			agent.Exchange{
				Turn: "c1.2", Question: "Add",
				Answer: agent.Answer{Text: "so", Cut: true},
			},
			func(r *rig) { r.pass(dialog.QuietPeriod); r.keys("enter") },
			"", false,
		},
		"the user stopped it, /continue": {
			agent.Exchange{
				Turn: "c1.2", Question: "Add",
				Answer: agent.Answer{Text: "so", Cut: true},
			},
			func(r *rig) { r.keys("/continue", "enter") }, "c1 c1.2",
			false,
		},
		"it is done": {agent.Exchange{
			Turn: "c1.2", Question: "Add",
			Answer: agent.Answer{Text: "Done."},
		}, func(r *rig) {
			r.pass(dialog.QuietPeriod)
			r.keys("enter", "/continue", "enter")
		}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			options, resumed := withLeft(tc.last, goingOn...)
			inRig(t, 80, 24, options, func(r *rig) {
				tc.do(r)
				r.pass(0)
				if got := strings.Join(*resumed, ", "); got != tc.resumed {
					t.Errorf("gone on with %q, want %q", got, tc.resumed)
				}
				if offered := strings.Contains(r.text(), "╭ This was cut"); offered != tc.offered {
					t.Errorf("offered %t, want %t:\n%s", offered, tc.offered, r.text())
				}
				if tc.resumed != "" {
					r.mustShow("It is added.")
				}
			})
		})
	}
}

func TestAnswerCutByTheServerCanBeResumed(t *testing.T) {
	options, resumed := withLeft(agent.Exchange{Turn: "c1.2", Question: "Hello", Answer: agent.Answer{Text: "Hi."}},
		goingOn...)
	options.Assistant = numbered{chattest.Play(agent.Started{}, agent.Said{Content: "Half an"},
		agent.Failed{Message: "The power went."})}
	inRig(t, 80, 24, options, func(r *rig) {
		r.ask("More?")
		r.mustShow("▌Resume it▐")
		r.pass(dialog.QuietPeriod)
		r.keys("enter")
		r.pass(0)
		if got := strings.Join(*resumed, ", "); got != "c1 c1.3" {
			t.Errorf("gone on with %q", got)
		}
		r.mustShow("It is added.")
		r.mustNotShow("Resume it")
	})
}

// numbered is a script whose turns have an id.
type numbered struct{ *chattest.Script }

func (n numbered) Ask(ctx context.Context, conversation, message string) <-chan agent.Event {
	events := make(chan agent.Event)
	go func() {
		defer close(events)
		for e := range n.Script.Ask(ctx, conversation, message) {
			e.Turn = "c1.3"
			events <- e
		}
	}()
	return events
}

func TestUnknownOutcomeIsAskedWithTheSameGuard(t *testing.T) {
	for name, tc := range map[string]struct {
		key  string
		want agent.Decision
	}{
		"run again":               {"r", agent.AllowOnce},
		"skip":                    {"n", agent.Refuse},
		"esc skips":               {"esc", agent.Refuse},
		"it is done":              {"c", agent.AlreadyDone},
		"yes is no answer":        {"y", ""},
		"always is no answer":     {"a", ""},
		"this conversation isn't": {"s", ""},
	} {
		for _, armed := range []bool{true, false} {
			question, replies := chattest.Asked(chattest.UnknownOutcome)
			inRig(t, 90, 30, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
				r.ask("go on")
				if armed {
					r.pass(dialog.QuietPeriod)
				}
				r.keys(tc.key, "enter")
				var got agent.Decision
				if len(*replies) > 0 {
					got = (*replies)[0].Decision
				}
				want := tc.want
				if !armed {
					want = ""
				}
				if got != want {
					t.Errorf("%s, armed %t: got %q, want %q\n%s", name, armed, got, want, r.text())
				}
			})
		}
	}
}

func TestMailCanOnlyBeAllowedOnce(t *testing.T) {
	for _, k := range []string{"s", "a"} {
		question, replies := chattest.Asked(chattest.MailAsked)
		inRig(t, 90, 30, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
			r.ask("mail Bob")
			r.pass(dialog.QuietPeriod)
			r.mustShow("│  y Allow once   n Deny   N")
			r.mustNotShow("lways")
			r.mustShow("Goes to: bob@example.com")
			r.mustShow("From: ana@example.org")
			r.keys(k, "enter")
			if len(*replies) > 0 {
				t.Errorf("%s answered %+v", k, (*replies)[0])
			}
		})
	}
}

func TestUnsavedQuestionReturnsToTheComposer(t *testing.T) {
	options := chattest.WithWorld(chattest.Play(agent.Started{},
		agent.Failed{Message: "The disk is full.", Err: errors.New("full"), Unkept: true}))
	inRig(t, 80, 24, options, func(r *rig) {
		r.ask("a long question")
		r.mustShow("▌ a long question")
		r.mustShow("The disk is full.")
	})
}

func TestPlainChatResumesAndAsksAboutUnknown(t *testing.T) {
	for reply, want := range map[string]agent.Decision{
		"r": agent.AllowOnce, "n": agent.Refuse, "c": agent.AlreadyDone,
		"y": agent.Refuse, "": agent.Refuse,
	} {
		question, replies := chattest.Asked(chattest.UnknownOutcome)
		options, resumed := withLeft(killed, question, agent.Ended{})
		in, typed := io.Pipe()
		go func() {
			io.WriteString(typed, "/continue\n"+reply+"\n/continue\n/quit\n")
			typed.Close()
		}()
		var out strings.Builder
		if _, err := RunPlain(context.Background(), options, in, &out); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if len(*resumed) != 1 || len(*replies) != 1 || (*replies)[0].Decision != want {
			t.Errorf("%s: gone on with %v, replied %+v\n%s", reply, *resumed, *replies, text)
		}
		for _, part := range []string{"/continue resumes", "r run again · n skip · c", "nothing to resume"} {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing in\n%s", part, text)
			}
		}
	}
}

// The work and the text before a kill are replaced by those of the resumed turn, and stay if it comes to nothing.
func TestResumedTurnHasOneAnswer(t *testing.T) {
	count := map[bool]int{true: 1}
	plan := agent.PlanMade{Steps: []agent.Step{{ID: "1", Tool: "add_task", Input: chattest.Raw(`{"text":"milk"}`)}}}
	course := func(bodies ...agent.Body) (list []agent.CourseEvent) {
		for _, body := range bodies {
			list = append(list, agent.CourseEvent{Event: agent.Event{Body: body}})
		}
		return list
	}
	last := killed
	last.Answer.Course = course(plan, agent.StepChanged{Step: "1", Status: agent.Done}, agent.Said{})
	done := []agent.Body{agent.Started{Resumed: true}, plan, agent.StepChanged{Step: "1", Status: agent.Done}}
	for name, tc := range map[string]struct {
		bodies []agent.Body
		stays  bool // the text of before
	}{
		"it answers": {append(slices.Clone(done), agent.Said{Content: "It is "},
			agent.Said{Content: "added."}, agent.Ended{}), false},
		"it only ends":   {append(slices.Clone(done), agent.Ended{Answer: "It is added."}), false},
		"it fails again": {append(slices.Clone(done), agent.Failed{Message: "no server"}), true},
		"it fails first": {[]agent.Body{agent.Failed{Message: "no server"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := withLeft(last, tc.bodies...)
			inRig(t, 80, 30, o, func(r *rig) {
				r.mustShow("I will")
				r.pass(dialog.QuietPeriod)
				r.keys("enter")
				r.pass(100 * time.Millisecond)
				for text, want := range map[string]int{
					"I will": count[tc.stays], "It is added.": count[!tc.stays],
					"✓ add task": 1, "▌ Add a task": 1,
				} {
					if got := strings.Count(r.text(), text); got != want {
						t.Errorf("%q is there %d times, want %d:\n%s", text, got, want, r.text())
					}
				}
			})
		})
	}
}

func TestResumedAnswerIsNoLongerMarkedCut(t *testing.T) {
	for name, text := range map[string]string{"with words": "I will", "without": ""} {
		t.Run(name, func(t *testing.T) {
			last := killed
			last.Answer.Text = text
			o, _ := withLeft(last, goingOn...)
			inRig(t, 80, 24, o, func(r *rig) {
				r.mustShow("■ LifeHub was stopped")
				r.pass(dialog.QuietPeriod)
				r.keys("enter")
				r.pass(100 * time.Millisecond)
				r.mustShow("It is added.")
				r.mustNotShow("■")
				r.fits("gone on", 80, 24)
			})
		})
	}
}
