package tui

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
	"lifehub/tui/draw"
	"lifehub/tui/panel"

	"lifehub/internal/testenv"
)

func TestLetterSelectsAndEnterConfirms(t *testing.T) {
	once, refuse := agent.Reply{Decision: agent.AllowOnce}, agent.Reply{Decision: agent.Refuse}
	tests := map[string]struct {
		keys []string
		want agent.Reply // the zero value: none
		text string      // what the composer holds
	}{
		"y allows once": {[]string{"y", "enter"}, once, ""},
		"s allows for the conversation": {
			[]string{"s", "enter"},
			agent.Reply{Decision: agent.AllowConversation},
			"",
		},
		"a allows always":                {[]string{"a", "enter"}, agent.Reply{Decision: agent.AllowAlways}, ""},
		"n refuses":                      {[]string{"n", "enter"}, refuse, ""},
		"Esc refuses":                    {[]string{"esc"}, refuse, ""},
		"Esc refuses while a text waits": {[]string{"hello", "wait", "esc"}, refuse, "hello"},
		"N refuses and says why": {
			[]string{"N", "enter", "too soonn", "backspace", "enter"},
			agent.Reply{Decision: agent.Refuse, Reason: "too soon"},
			"",
		},
		"Esc leaves the why":               {[]string{"N", "enter", "hm", "esc", "n", "enter"}, refuse, ""},
		"arrows choose":                    {[]string{"right", "right", "left", "enter"}, once, ""},
		"an arrow back chooses the last":   {[]string{"left", "left", "left", "enter"}, refuse, ""},
		"another choice by arrow":          {[]string{"y", "right", "right", "right", "enter"}, refuse, ""},
		"details, then a quick y":          {[]string{"d", "y", "enter"}, once, ""},
		"details twice, then a quick n":    {[]string{"d", "d", "n", "enter"}, refuse, ""},
		"reading between letter and Enter": {[]string{"y", "pgdown", "enter"}, once, ""},
		"details twice, and Enter":         {[]string{"dd", "enter"}, agent.Reply{}, ""},
		"details, Enter, always": {
			[]string{"d", "enter", "a", "enter"},
			agent.Reply{Decision: agent.AllowAlways},
			"",
		},
		"a letter alone does nothing":     {[]string{"y", "wait"}, agent.Reply{}, ""},
		"Enter alone does nothing":        {[]string{"enter", "wait", "enter"}, agent.Reply{}, ""},
		"a held key is a text":            {[]string{"yyyy"}, agent.Reply{}, "yyyy"},
		"always behind details is a text": {[]string{"da", "enter"}, agent.Reply{}, ""},
		"a second choice is a text":       {[]string{"yn"}, agent.Reply{}, "yn"},
		"details behind a choice":         {[]string{"ad"}, agent.Reply{}, "ad"},
		"a choice and a new line":         {[]string{"A", "ctrl+j", "y"}, agent.Reply{}, "A\ny"},
		"a space first":                   {[]string{" y", "enter"}, agent.Reply{}, ""},
		"a question mark":                 {[]string{"?"}, agent.Reply{}, "?"},
		"backspace takes a choice back":   {[]string{"y", "backspace", "enter"}, agent.Reply{}, ""},
		"and another is chosen":           {[]string{"y", "backspace", "n", "enter"}, refuse, ""},
		"what is deleted was a text":      {[]string{"ye", "backspace", "backspace", "y"}, agent.Reply{}, "y"},
		"and after a while a letter answers": {
			[]string{"ye", "backspace", "backspace", "wait", "y", "enter"},
			once,
			"",
		},
		"a typo behind a letter is text": {[]string{"d", "n", "backspace", "o", "e", "s"}, agent.Reply{}, "does"},
		"a key of the composer is, too":  {[]string{"y", "ctrl+a", "x"}, agent.Reply{}, "xy"},
		"Ctrl+C takes a choice back":     {[]string{"y", "ctrl+c", "enter", "n", "enter"}, refuse, ""},
		"clearing lets it answer":        {[]string{"hello", "ctrl+c", "wait", "y", "enter"}, once, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			inRig(t, 60, 18, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
				r.ask("add a task")
				r.pass(dialog.QuietPeriod)
				for _, k := range tc.keys {
					if k == "wait" {
						r.pass(dialog.QuietPeriod)
						continue
					}
					r.keys(k)
				}
				if got := r.m.composer.Text(); got != tc.text {
					t.Errorf("the composer holds %q, want %q", got, tc.text)
				}
			})
			var got agent.Reply
			if len(*replies) > 0 {
				got = (*replies)[0]
			}
			if got != tc.want || len(*replies) > 1 {
				t.Errorf("replies = %+v, want %+v", *replies, tc.want)
			}
		})
	}
}

// Whoever begins to write while a question waits, at any speed, at any time,
// answers nothing and loses nothing, with Enter behind it too.
func TestNoSentenceAnswersAQuestion(t *testing.T) {
	testenv.WithoutRace(t)
	all := chattest.Sentences()
	if len(all) < 200 {
		t.Fatalf("%d beginnings, want 200", len(all))
	}
	speeds, delays, drafts := []int{1, 3, 7, 12}, []time.Duration{
		0, 450 * time.Millisecond, 1300 * time.Millisecond,
		5 * time.Second,
	}, []string{"", "what I "}
	share := 36 // of the sentences, at each speed and time another
	if os.Getenv("LIFEHUB_SOAK") != "" {
		speeds, delays, share = nil, nil, 1
		for speed := range 12 {
			speeds = append(speeds, speed+1)
		}
		for half := range 11 {
			delays = append(delays, time.Duration(half)*500*time.Millisecond)
		}
	}
	questions := map[string]func() (chat.Options, func() bool){
		"permission": func() (chat.Options, func() bool) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			return chattest.WithWorld(chattest.Hold(question)), func() bool { return len(*replies) > 0 }
		},
		"unknown": func() (chat.Options, func() bool) {
			question, replies := chattest.Asked(chattest.UnknownOutcome)
			return chattest.WithWorld(chattest.Hold(question)), func() bool { return len(*replies) > 0 }
		},
		"form": func() (chat.Options, func() bool) {
			o, given := chattest.AsksFor(chattest.FormAsked)
			return o, func() bool { return len(*given) > 0 }
		},
		"page": func() (chat.Options, func() bool) {
			o, given := chattest.AsksFor(agent.InputAsked{
				ID:       "1.1",
				Question: agent.Question{From: "s", Kind: agent.URLInput, URL: "https://x.org"},
			})
			return o, func() bool { return len(*given) > 0 }
		},
	}
	for name, open := range questions {
		t.Run(name, func(t *testing.T) {
			options, answered := open()
			share, turn, typed := share, 0, 0
			if name != "permission" { // all share the rule
				share *= 7
			}
			inRig(t, 60, 20, options, func(r *rig) {
				r.ask("go")
				m := r.m
				for _, speed := range speeds {
					for _, delay := range delays {
						for _, draft := range drafts {
							turn++
							for at, sentence := range all {
								if (at+turn)%share != 0 {
									continue
								}
								typed++
								m.asks.Permission.Dialog, m.asks.Input.Dialog = dialog.Dialog{}, dialog.Dialog{}
								m.composer.Clear()
								m.composer.Queue = nil
								m.composer.Set(draft)
								m.Update(armedMsg{}) // it opens
								time.Sleep(delay)
								for _, letter := range sentence {
									m.Update(tea.KeyPressMsg{Code: letter, Text: string(letter)})
									time.Sleep(time.Second / time.Duration(speed))
								}
								if got := m.composer.Text(); got != draft+sentence &&
									strings.Trim(draft+sentence, "cd") != "" && !chattest.IsAnswer(draft+sentence) {
									t.Fatalf("%q at %d keys a second, %v after it opened: the composer holds %q",
										sentence, speed, delay, got)
								}
								if chattest.IsAnswer(draft + sentence) {
									continue
								}
								m.Update(boxtest.Keys["enter"])
								if answered() || m.panel != nil || m.asks.Input.Entered {
									t.Fatalf("%q at %d keys a second, %v after it opened, answered", sentence, speed,
										delay)
								}
								if !strings.HasPrefix(draft+sentence, "/") &&
									(len(m.composer.Queue) != 1 || m.composer.Queue[0] != draft+sentence) {
									t.Fatalf("%q at %d keys a second, %v after it opened: %q waits", sentence,
										speed, delay, m.composer.Queue)
								}
							}
						}
					}
				}
				t.Logf("%d sentences, 0 answered, no letter lost", typed)
			})
		})
	}
}

// Who is typing when a question opens, anywhere in a sentence, answers nothing.
func TestSentenceBeingTypedAnswersNoDialog(t *testing.T) {
	testenv.WithoutRace(t)
	for _, sentence := range []string{"yes, and say any nay", "no y no s no a", "so y"} {
		for opens := range len(sentence) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
				r.ask("go")
				for at, letter := range sentence {
					if at == opens {
						r.m.show(agent.Event{Body: question}, time.Now())
					}
					r.keys(string(letter))
					r.pause(400 * time.Millisecond)
				}
				if got := r.m.composer.Text(); got != sentence {
					t.Errorf("it opened before letter %d: the composer holds %q", opens, got)
				}
				r.keys("enter")
			})
			if len(*replies) != 0 {
				t.Errorf("it opened before letter %d of %q: %+v", opens, sentence, *replies)
			}
		}
	}
}

// The letter of a text is not lost with a question that goes away.
func TestClosedDialogReturnsItsLetters(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("go")
		r.pass(dialog.QuietPeriod)
		r.keys("y")
		r.m.show(agent.Event{Body: agent.PermissionGiven{Call: "p", Decision: agent.Refuse}}, time.Now())
		r.keys("esterday")
		if got := r.m.composer.Text(); got != "yesterday" {
			t.Errorf("the composer holds %q", got)
		}
	})
	if len(*replies) != 0 {
		t.Errorf("replies = %+v", *replies)
	}
}

// Who writes the reason of a no or other arguments pastes into them.
func TestPasteGoesToTheFocusedField(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(time.Second)
		r.keys("N", "enter", "wait, ")
		r.send(tea.PasteMsg{Content: "not\nnow"})
		r.keys("enter")
		if got := r.m.composer.Text(); got != "" {
			t.Errorf("the composer holds %q", got)
		}
	})
	if want := (agent.Reply{Decision: agent.Refuse, Reason: "wait, not now"}); len(*replies) != 1 ||
		(*replies)[0] != want {
		t.Errorf("replies = %+v, want %+v", *replies, want)
	}
}

func TestPasteAnswersNoQuestion(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(time.Second)
		r.keys("a")
		r.send(tea.PasteMsg{Content: "y\na\ny\n"})
		r.keys("y")
		if got := r.m.composer.Text(); got != "a[paste 1 · 3 lines]y" {
			t.Errorf("the composer holds %q", got)
		}
		r.keys("enter")
	})
	if len(*replies) != 0 {
		t.Errorf("replies = %+v, want none", *replies)
	}
}

// A word of letters that answer nothing is a message.
func TestWordThatIsNotAnAnswerIsSent(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
		r.ask("add a task")
		r.pass(dialog.QuietPeriod)
		r.keys("dd", "enter")
		if got := r.m.composer.Queue; len(got) != 1 || got[0] != "dd" {
			t.Errorf("%q waits", got)
		}
	})
	if len(*replies) != 0 {
		t.Errorf("replies = %+v, want none", *replies)
	}
}

// Whatever opens something elsewhere opens nothing over a question: by key, by
// command, by what arrives late, by a click, by another question.
func TestNothingOpensOverAQuestion(t *testing.T) {
	question, replies := chattest.Asked(chattest.TaskAsked)
	o := chattest.WithEverything()
	o.Assistant = chattest.Hold(question)
	o.Servers, o.Editor = chattest.ThreeServers(), "vi"
	inRig(t, 80, 24, o, func(r *rig) {
		r.ask("add a task")
		r.pass(dialog.QuietPeriod)
		inSight := func(what string) {
			t.Helper()
			if r.m.panel != nil || r.m.focused || r.m.lists.Open() || !strings.Contains(r.text(), "Allow add_task?") {
				t.Errorf("%s covers it:\n%s", what, r.text())
			}
			r.m.composer.Clear()
		}
		for _, k := range []string{
			"f1", "?", "ctrl+s", "ctrl+r", "ctrl+p", "ctrl+g", "ctrl+n", "alt+m", "tab",
			"shift+tab", "pgup", "/", "/mo", "@", "@f", "ctrl+o", "ctrl+t",
		} {
			r.keys(k)
			r.pass(50 * time.Millisecond)
			inSight(k)
		}
		for _, c := range panel.Commands(&r.m.Options) {
			if c.Name == "quit" {
				continue
			}
			r.keys("/"+c.Name, "enter")
			r.pass(50 * time.Millisecond)
			inSight("/" + c.Name)
		}
		r.send(panel.OpenMsg{Panel: &panel.Picker{Title: "late", Rows: []draw.Row{{Label: "x", Detail: ""}}}})
		inSight("a list that arrives late")
		for y := range 24 {
			r.click(5, y)
		}
		inSight("a click")
		r.m.show(agent.Event{Body: chattest.FormAsked}, time.Now())
		r.pass(0)
		inSight("a form")
		r.pass(dialog.QuietPeriod)
		r.keys("n", "enter")
		r.mustShow("everything asks you")
		r.m.show(agent.Event{Body: agent.PermissionAsked{Name: "create_note", Call: "q", Input: chattest.Raw(`{}`)}},
			time.Now())
		r.pass(dialog.QuietPeriod)
		r.keys("tab", "yes")
		r.mustShow("everything asks you")
		if got := r.m.asks.Input.Form.Fields[0].Line.Text; got != "yes" {
			t.Errorf("the field holds %q", got)
		}
		r.keys("esc", "esc")
		r.mustShow("Allow create_note?")
	})
	if len(*replies) != 1 || (*replies)[0].Decision != agent.Refuse {
		t.Errorf("replies = %+v", *replies)
	}
}

// A question is answerable in a window of any size in which it can be read.
func TestAChoiceIsMarkedAtAnySize(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {80, 24}, {40, 12}, {30, 8}, {20, 5}} {
		inRig(t, size[0], size[1], chattest.WithWorld(chattest.Hold(chattest.TaskAsked)), func(r *rig) {
			r.ask("go")
			r.pass(dialog.QuietPeriod)
			r.keys("y")
			marked := regexp.MustCompile("▌(y )?Allow once▐")
			if !marked.MatchString(r.text()) {
				t.Errorf("%v: no choice is marked:\n%s", size, r.text())
			}
			r.keys("backspace")
			r.mustNotShow("▌Allow")
			r.mustNotShow("▌y Allow")
			r.fits(fmt.Sprint(size), size[0], size[1])
		})
	}
}
