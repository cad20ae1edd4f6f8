package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
)

// asked returns a question and where its answer will be found.
func asked(from agent.PermissionAsked) (agent.PermissionAsked, *[]agent.Reply) {
	var replies []agent.Reply
	from.Reply = func(r agent.Reply) { replies = append(replies, r) }
	return from, &replies
}

func TestKeysOfAQuestion(t *testing.T) {
	tests := map[string]struct {
		keys []string
		want agent.Reply
	}{
		"y allows once":                    {[]string{"y"}, agent.Reply{Decision: agent.AllowOnce}},
		"s allows for the conversation":    {[]string{"s"}, agent.Reply{Decision: agent.AllowConversation}},
		"a allows always when asked twice": {[]string{"a", "wait", "a"}, agent.Reply{Decision: agent.AllowAlways}},
		"n refuses":                        {[]string{"n"}, agent.Reply{Decision: agent.Refuse}},
		"Esc refuses":                      {[]string{"esc"}, agent.Reply{Decision: agent.Refuse}},
		"N refuses and says why":           {[]string{"N", "too soonn", "backspace", "enter"}, agent.Reply{Decision: agent.Refuse, Reason: "too soon"}},
		"Esc leaves the why":               {[]string{"N", "hm", "esc", "wait", "n"}, agent.Reply{Decision: agent.Refuse}},
		"d shows details and keeps asking": {[]string{"d", "wait", "y"}, agent.Reply{Decision: agent.AllowOnce}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			question, replies := asked(taskAsked)
			inRig(t, 80, 24, withWorld(hold(question)), func(r *rig) {
				r.ask("add a task")
				r.pass(guard)
				for _, k := range tc.keys {
					if k == "wait" {
						r.pass(guard)
						continue
					}
					r.keys(k)
				}
			})
			if len(*replies) != 1 || (*replies)[0] != tc.want {
				t.Errorf("replies = %+v, want %+v", *replies, tc.want)
			}
		})
	}
}

func TestAlwaysIsNotGivenByOneHeldKey(t *testing.T) {
	question, replies := asked(taskAsked)
	inRig(t, 80, 24, withWorld(hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(guard)
		for range 50 { // a held key repeats
			r.keys("a")
			r.pass(30 * time.Millisecond)
		}
	})
	if len(*replies) != 0 {
		t.Errorf("replies = %+v, want none", *replies)
	}
}

// Who types at 3 to 12 keys a second when a question opens answers none of
// them, and finds what was typed in the composer.
func TestTypingNeverAnswersAQuestion(t *testing.T) {
	letters := []rune("yes yay sassy any nay stay asyn")
	random := rand.New(rand.NewPCG(1, 2))
	openings := 20 // at each of ten speeds
	if os.Getenv("LIFEHUB_SOAK") != "" {
		openings = 100
	}
	for speed := 3; speed <= 12; speed++ {
		t.Run(fmt.Sprintf("%d keys a second", speed), func(t *testing.T) {
			for range openings {
				question, replies := asked(taskAsked)
				assistant := hold(question)
				inRig(t, 80, 24, withWorld(assistant), func(r *rig) {
					typed := ""
					between := time.Second / time.Duration(speed)
					opens := 5 + random.IntN(20)
					r.keys("go", "enter")
					r.m.permission.close()
					for i := range 40 {
						if i == opens {
							r.m.show(agent.Event{Body: question}, time.Now())
						}
						letter := letters[random.IntN(len(letters))]
						r.keys(string(letter))
						typed += string(letter)
						r.pause(time.Duration(float64(between) * (0.5 + random.Float64())))
						if letter == ' ' && random.IntN(6) == 0 {
							r.pause(time.Second) // a thought
						}
					}
					if got := r.m.composer.text(); got != typed {
						t.Errorf("composer holds %q, want %q", got, typed)
					}
				})
				if len(*replies) != 0 {
					t.Fatalf("replies = %+v, want none", *replies)
				}
			}
		})
	}
}

func TestAPasteAnswersNothing(t *testing.T) {
	question, replies := asked(taskAsked)
	inRig(t, 80, 24, withWorld(hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(time.Second)
		r.send(tea.PasteMsg{Content: "y\na\ny\n"})
		r.keys("y") // too soon after the paste
		if got := r.m.composer.text(); got != "y\na\ny\ny" {
			t.Errorf("composer holds %q", got)
		}
	})
	if len(*replies) != 0 {
		t.Errorf("replies = %+v, want none", *replies)
	}
}

func TestALongQuestionIsAnsweredOnlyAfterItsEnd(t *testing.T) {
	question, replies := asked(longArguments)
	inRig(t, 60, 24, withWorld(hold(question)), func(r *rig) {
		r.ask("write")
		var seen strings.Builder
		seen.WriteString(r.text())
		for range 10 {
			r.pass(guard)
			r.keys("y")
			if r.m.permission.open() && !r.m.permission.current().seen {
				r.pass(guard)
				r.keys("backspace", "pgdown")
				seen.WriteString(r.text())
			}
			if r.m.permission.open() && r.m.permission.current().seen && len(*replies) == 0 && !strings.Contains(seen.String(), "the end") {
				t.Fatal("it takes a yes before its end was shown")
			}
		}
	})
	if len(*replies) != 1 || (*replies)[0].Decision != agent.AllowOnce {
		t.Errorf("replies = %+v, want one yes", *replies)
	}
}

// contentOf returns the lines of what a dialog asks about, without colours.
func contentOf(p *permission, width int) (lines []string) {
	for _, line := range p.content(width, newTheme("", true, false, nil)) {
		lines = append(lines, line.style(line.text))
	}
	return lines
}

// All of what would run is in the dialog: put together, its lines give every
// word of the arguments, in order.
func TestNothingOfTheArgumentsIsCut(t *testing.T) {
	for _, width := range []int{20, 40, 60, 137} {
		var words []string
		for i := range 400 {
			words = append(words, fmt.Sprintf("word%04d", i))
		}
		p := permission{}
		p.ask(agent.PermissionAsked{Name: "x", Input: raw(`{"text":"` + strings.Join(words, " ") + `"}`)}, time.Time{})
		lines := contentOf(&p, width)
		all := ansi.Strip(strings.Join(lines, ""))
		if want := "text: " + strings.Join(words, " "); all != want {
			t.Errorf("width %d: the dialog holds %.80q…", width, all)
		}
		for _, line := range lines {
			if cells(line) > width {
				t.Errorf("width %d: a line is %d wide", width, cells(line))
			}
		}
	}
}

// A line of the note that looks like the head of a diff is shown like any other.
func TestNoLineOfADiffIsHidden(t *testing.T) {
	const diff = "--- a.md\n+++ a.md\n@@ -1,3 +1,3 @@\n # A\n--- old rule\n+++ pay Mallory\n"
	p := permission{}
	p.ask(agent.PermissionAsked{Name: "edit_note", Input: raw(`{}`), Preview: agent.Preview{Path: "a.md", Diff: diff}}, time.Time{})
	text := ansi.Strip(strings.Join(contentOf(&p, 80), "\n"))
	if !strings.Contains(text, "- -- old rule") || !strings.Contains(text, "+ ++ pay Mallory") || strings.Contains(text, "++ a.md") {
		t.Errorf("the dialog shows\n%s", text)
	}
}

func TestValuesThatDifferLookDifferent(t *testing.T) {
	values := []string{`"5"`, `5`, `""`, `" a"`, `"a"`, `null`, `"null"`, `true`, `"true"`, `[]`, `"[]"`, `{}`, `"{}"`, `"\u0430"`, `"a\u200b"`, `"\u202ea"`, `"a\u0000"`}
	shown := map[string]string{}
	for _, v := range values {
		p := permission{}
		p.ask(agent.PermissionAsked{Name: "x", Input: raw(`{"v":` + v + `}`)}, time.Time{})
		text := ansi.Strip(strings.Join(contentOf(&p, 80), "\n"))
		if other, taken := shown[text]; taken && v != `"\u0430"` {
			t.Errorf("%s and %s both look like %q", v, other, text)
		}
		shown[text] = v
	}
}

func TestTheKeysOfAQuestionAreAlwaysInSight(t *testing.T) {
	for _, size := range [][2]int{{40, 12}, {40, 8}, {60, 12}, {200, 60}, {300, 80}, {30, 10}} {
		for _, question := range []agent.PermissionAsked{taskAsked, longArguments} {
			inRig(t, size[0], size[1], withWorld(hold(story(planning, []agent.Body{question})...)), func(r *rig) {
				r.ask("go")
				r.keys("typed a little")
				for range 3 {
					if !strings.Contains(r.text(), "\ny once") {
						t.Errorf("%v: no line begins with y once:\n%s", size, r.text())
					}
					r.pass(guard)
					r.keys("pgdown")
					r.pass(guard)
					r.keys("N")
				}
			})
		}
	}
}

func TestTwoQuestionsAreAnsweredInTurn(t *testing.T) {
	first, firstReplies := asked(taskAsked)
	second, secondReplies := asked(agent.PermissionAsked{Name: "create_note", Call: "q", Input: raw(`{"path":"a.md"}`)})
	inRig(t, 80, 24, withWorld(hold(first, second)), func(r *rig) {
		r.ask("go")
		r.pass(guard)
		r.mustShow("1 of 2")
		r.keys("y", "y") // the second one comes too soon for the second question
		r.mustShow("create_note asks")
		r.pass(guard)
		r.keys("n")
		if r.m.permission.open() {
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

func TestAQuestionDecidedElsewhereGoes(t *testing.T) {
	inRig(t, 80, 24, withWorld(hold(taskAsked, agent.PermissionGiven{Call: "p", Decision: agent.Refuse})), func(r *rig) {
		r.ask("go")
		if r.m.permission.open() {
			t.Error("the question is still open")
		}
	})
}

func TestSeveralQuestionsAreAllowedAtOnceOnceAllWereSeen(t *testing.T) {
	first, firstReplies := asked(taskAsked)
	second, secondReplies := asked(agent.PermissionAsked{Name: "create_note", Call: "q", Input: raw(`{"path":"a.md"}`)})
	inRig(t, 80, 24, withWorld(hold(first, second)), func(r *rig) {
		r.ask("go")
		r.pass(guard)
		r.mustNotShow("once to all")
		r.keys("A")
		r.pass(guard)
		r.keys("tab")
		r.mustShow("2 of 2")
		r.pass(guard)
		r.mustShow("A once to all")
		r.keys("A")
		if r.m.permission.open() {
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
	question, replies := asked(taskAsked)
	question.Check = func(input json.RawMessage) error {
		if strings.Contains(string(input), "wine") {
			return errors.New("no wine")
		}
		return nil
	}
	inRig(t, 80, 24, withWorld(hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(guard)
		r.keys("e")
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

func TestTheTitleSaysWhetherAKeyCounts(t *testing.T) {
	inRig(t, 80, 24, withWorld(hold(taskAsked)), func(r *rig) {
		r.ask("add a task")
		r.mustShow("wait…")
		r.pass(guard)
		r.mustShow("your answer?")
	})
}

func TestAQuestionObeysTheKeyMap(t *testing.T) {
	keys := map[string][]string{
		"page_down": {"ctrl+x"}, "send": {"ctrl+y"}, "stop": {"ctrl+g"}, "compose": {"f1"}, "help": {"ctrl+e"},
		"argument_next": {"f1"}, "always": {"ctrl+a"},
	}
	t.Run("it is read, and refused with a reason", func(t *testing.T) {
		question, replies := asked(longArguments)
		o := withWorld(hold(question))
		o.Keys = keys
		inRig(t, 60, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(guard)
			r.mustShow("ctrl+x reads on")
			r.keys("y") // not yet read
			for range 30 {
				r.keys("ctrl+x")
			}
			r.pass(guard)
			r.mustShow("your answer?")
			r.keys("N", "not nnow", "enter")
			r.mustShow("ctrl+y sends · ctrl+g back")
			r.keys("ctrl+u", "no", "ctrl+y")
		})
		want := agent.Reply{Decision: agent.Refuse, Reason: "no"}
		if len(*replies) != 1 || (*replies)[0] != want {
			t.Errorf("replies = %+v, want %+v", *replies, want)
		}
	})
	t.Run("its arguments are changed", func(t *testing.T) {
		question, replies := asked(taskAsked)
		o := withWorld(hold(question))
		o.Keys = keys
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(guard)
			r.keys("e")
			r.mustShow("ctrl+y check and show again")
			r.mustShow("f1 next argument")
			r.keys("f1", "backspace", "1", "ctrl+y")
		})
		want := agent.Reply{Decision: agent.Edited, Input: `{"text":"Buy milk","due":"2026-11-31"}`}
		if len(*replies) != 1 || (*replies)[0] != want {
			t.Errorf("replies = %+v, want %+v", *replies, want)
		}
	})
	t.Run("always is asked twice with its own key", func(t *testing.T) {
		o := withWorld(hold(taskAsked))
		o.Keys = keys
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("write", "ctrl+y")
			r.pass(guard)
			r.keys("ctrl+a")
			r.mustShow("press ctrl+a again")
		})
	})
}

func TestAKeyThatReadsOnAnswersNoQuestion(t *testing.T) {
	for _, keys := range []map[string][]string{
		{"page_down": {"y"}},
		{"once": {"pgdown"}},
		{"later": {"s"}},
		{"agree": {"pgup"}},
		{"argument_next": {"enter"}},
	} {
		if err := CheckKeys(keys); err == nil {
			t.Errorf("%v is taken", keys)
		}
	}
}

func TestWhatTheUserDidNotSayIsMarkedInTheArguments(t *testing.T) {
	look := newTheme("dark", true, true, nil)
	p := permission{}
	p.ask(agent.PermissionAsked{Name: "web_search", Input: raw(`{"query":"weather Zürich \u200b4711"}`), New: []string{"Zürich", "4711", "", "and more"}}, time.Time{})
	line := p.content(80, look)[0]
	shown := line.style(line.text)
	for _, word := range []string{"Zürich", "4711"} {
		if !strings.Contains(shown, look.Warning.Underline(true).Render(word)) {
			t.Errorf("%q is not marked in %q", word, shown)
		}
	}
	if ansi.Strip(shown) != line.text {
		t.Errorf("marked, it reads %q, want %q", ansi.Strip(shown), line.text)
	}
}
