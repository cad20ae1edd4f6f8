package tui

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/draw"
)

func TestWelcomeQuestionsAreChosenByArrows(t *testing.T) {
	questions := chattest.World.Questions
	for name, test := range map[string]struct {
		keys []string
		want []string // asked
	}{
		"nothing is chosen":                   {[]string{"enter"}, nil},
		"down":                                {[]string{"down", "down", "enter"}, questions[1:2]},
		"up begins at the last":               {[]string{"up", "up", "enter"}, questions[1:2]},
		"down beyond the last":                {[]string{"down", "down", "down", "down", "enter"}, nil},
		"up beyond the first: earlier ones":   {[]string{"up", "up", "up", "up", "enter"}, []string{"an earlier one"}},
		"what is written takes its place":     {[]string{"down", "x", "enter"}, []string{"x"}},
		"what was written leaves it as it is": {[]string{"down", "x", "backspace", "enter"}, questions[:1]},
	} {
		t.Run(name, func(t *testing.T) {
			assistant := chattest.Hold()
			o := chattest.WithWorld(assistant)
			inRig(t, 80, 24, o, func(r *rig) {
				r.m.composer.Remember("an earlier one")
				r.keys(test.keys...)
				if !slices.Equal(assistant.Asked, test.want) {
					t.Errorf("asked %q, want %q", assistant.Asked, test.want)
				}
			})
		})
	}
}

func TestClickedWelcomeQuestionIsSentByEnter(t *testing.T) {
	assistant := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		question := chattest.World.Questions[2]
		line := slices.IndexFunc(strings.Split(r.text(), "\n"),
			func(l string) bool { return strings.Contains(l, question) })
		at := tea.Mouse{X: 30, Y: line, Button: tea.MouseLeft}
		r.send(tea.MouseClickMsg(at))
		r.send(tea.MouseReleaseMsg(at))
		r.settle()
		if got := r.m.composer.Text(); got != question || len(assistant.Asked) > 0 {
			t.Errorf("the composer holds %q, asked was %q", got, assistant.Asked)
		}
		r.keys("enter")
		if !slices.Equal(assistant.Asked, []string{question}) {
			t.Errorf("asked %q", assistant.Asked)
		}
	})
}

func TestADueTaskOpensItsNote(t *testing.T) {
	assistant := chattest.Hold()
	o := withNotes()
	o.Assistant = assistant
	inRig(t, 100, 34, o, func(r *rig) {
		world := chattest.World
		world.Due = []chat.Task{{Text: "Run three times", When: "due today", Note: "/notes/fitness.md", Line: 12}}
		r.send(statusMsg(world))
		r.mustShow("[ ] Run three times")
		r.mustShow("due today")
		r.keys("down")
		r.mustShow("▌ enter opens this task")
		r.keys("enter")
		r.mustShow("fitness.md")
		r.mustShow("┃ Run three times a week.")
		r.keys("esc")
		line := slices.IndexFunc(strings.Split(r.text(), "\n"),
			func(l string) bool { return strings.Contains(l, "[ ] Run") })
		r.click(30, line)
		r.mustShow("┃ Run three times a week.")
		r.keys("esc", "down", "enter")
		if want := chattest.World.Questions[:1]; !slices.Equal(assistant.Asked, want) {
			t.Errorf("asked %q, want %q", assistant.Asked, want)
		}
	})
}

func TestTasksOfTheSameTextAreChosenApart(t *testing.T) {
	assistant := chattest.Hold()
	inRig(t, 100, 34, chattest.WithWorld(assistant), func(r *rig) {
		world := chattest.World
		world.Due = []chat.Task{
			{Text: "Call Ines", Note: "/notes/a.md", Line: 1},
			{Text: "Call Ines", Note: "/notes/b.md", Line: 2},
		}
		r.send(statusMsg(world))
		r.keys("down", "down")
		if task := r.m.welcome.Task(); task == nil || task.Note != "/notes/b.md" {
			t.Errorf("the second task is not chosen: %+v", task)
		}
		r.keys("down", "enter")
		if want := world.Questions[:1]; !slices.Equal(assistant.Asked, want) {
			t.Errorf("asked %q, want %q", assistant.Asked, want)
		}
	})
}

// They are visible or they are not there: not below a page, and not where only
// some notes are used.
func TestHiddenWelcomeQuestionsAreNotAsked(t *testing.T) {
	assistant := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		world := chattest.World
		world.Scope = "notes off"
		r.send(statusMsg(world))
		r.mustNotShow(world.Questions[0])
		r.keys("down", "enter")
		r.send(statusMsg(chattest.World))
		r.mustShow(world.Questions[0])
		r.keys("/context", "enter")
		r.send(noticeMsg(strings.Repeat("much to read ", 400)))
		r.mustNotShow(world.Questions[0])
		r.keys("down", "enter")
		if len(assistant.Asked) > 0 {
			t.Errorf("asked %q", assistant.Asked)
		}
	})
}

func TestQuestionsAreShownWithoutControls(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
		r.send(statusMsg(chat.Status{
			Notes: 2, Vault: "no\x1b]0;x\x07tes", News: "1\x1b[2J new",
			Questions: []string{"what of \x1b[31mred\x1b[0m?"},
		}))
		if strings.ContainsAny(r.m.View().Content, "\x07") || strings.Contains(r.m.View().Content, "\x1b]0") ||
			strings.Contains(r.m.View().Content, "\x1b[2J") || strings.Contains(r.m.View().Content, "\x1b[31m") {
			t.Errorf("controls reach the screen:\n%q", r.m.View().Content)
		}
	})
}

func TestShellCommandStaysInTheComposer(t *testing.T) {
	assistant := chattest.Hold()
	inRig(t, 80, 24, chattest.WithWorld(assistant), func(r *rig) {
		r.keys("!rm -rf notes", "enter")
		r.mustShow("no shell")
		r.mustShow("▌ !rm -rf notes")
		r.keys("/sorces", "enter")
		if len(assistant.Asked) > 0 {
			t.Errorf("asked %q", assistant.Asked)
		}
	})
}

// asked are the user's latest questions.
type asked struct {
	chattest.Kept
	prompts []string
}

func (a asked) Prompts(context.Context, int) ([]string, error) { return a.prompts, nil }

func TestWelcomeOffersEarlierConversations(t *testing.T) {
	for _, prompts := range [][]string{nil, {"how far did I run?"}} {
		o := chattest.WithEverything()
		o.Archive = asked{prompts: prompts}
		inRig(t, 80, 24, o, func(r *rig) {
			if offered := strings.Contains(r.text(), "earlier conversations"); offered != (prompts != nil) {
				t.Errorf("after the prompts %q: %v", prompts, offered)
			}
		})
	}
}

// The start screen is centred in at most 76 columns, with its rows in two groups.
func TestTheStartIsCentred(t *testing.T) {
	inRig(t, 80, 40, withNotes(), func(r *rig) {
		world := chattest.World
		world.Due = []chat.Task{{
			Text: "Run three times", When: "due today", Note: "/notes/fitness.md",
			Name: "fitness.md", Line: 12,
		}}
		r.send(statusMsg(world))
		for width := 80; width <= 200; width += 7 {
			r.send(tea.WindowSizeMsg{Width: width, Height: 40})
			left, right, groups := width, 0, []string{}
			for _, line := range strings.Split(r.text(), "\n")[2:] {
				if text := strings.TrimLeft(line, " "); text != "" {
					left, right = min(left, draw.Width(line)-draw.Width(text)), max(right, draw.Width(line))
					groups = append(groups, text)
				}
			}
			if left < (width-76)/2 || right > (width+76)/2+1 {
				t.Errorf("%d columns: it is from %d to %d:\n%s", width, left, right, r.text())
			}
			due, ask := slices.Index(groups, "Due"), slices.Index(groups, "Ask")
			if due < 0 || ask != due+2 || groups[ask+1] != world.Questions[0] {
				t.Errorf("%d columns: the groups are not named:\n%s", width, r.text())
			}
		}
	})
}

func TestSpaceTicksADueTaskOff(t *testing.T) {
	var done []string
	o := withNotes()
	o.Commands = append(o.Commands, chat.Command{
		Name: chat.Done, Args: "TASK",
		Turn: func(ctx context.Context, _, asked, args string) <-chan agent.Event {
			done = append(done, args)
			return chattest.Play(agent.Said{Content: "done"}, agent.Ended{}).Ask(ctx, "", asked)
		},
	})
	inRig(t, 100, 34, o, func(r *rig) {
		world := chattest.World
		world.Due = []chat.Task{{
			Text: "Run three times", When: "due today", Note: "/notes/fitness.md",
			Name: "fitness.md", Line: 12,
		}}
		r.send(statusMsg(world))
		r.keys("down")
		r.mustShow("space ticks it off")
		r.keys("up", "space", "backspace", "down", "down", "space") // it is text where no task is chosen
		if len(done) > 0 || r.m.composer.Text() != " " {
			t.Errorf("ticked off %q, the composer holds %q", done, r.m.composer.Text())
		}
		r.keys("backspace", "up", "space")
		r.pass(100 * time.Millisecond)
		r.mustShow("done")
	})
	if !slices.Equal(done, []string{"fitness.md:12"}) {
		t.Errorf("ticked off %q", done)
	}
}
