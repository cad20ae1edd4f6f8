package tui

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/internal/testenv"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
)

// quick types keys, each with the pause before it, into a turn that asks when "asks" is reached.
type quick struct {
	key   string
	after time.Duration
}

// typedAt returns the keys of a text and Enter, at so many a second, with "asks" before letter opens.
func typedAt(text string, perSecond, opens int) (keys []quick) {
	for at, letter := range []rune(text + "\r") {
		if at == opens {
			keys = append(keys, quick{"asks", time.Second / time.Duration(2*perSecond)})
		}
		name := string(letter)
		if letter == '\r' {
			name = "enter"
		}
		keys = append(keys, quick{name, time.Second / time.Duration(perSecond)})
	}
	return keys
}

// A dialog opens while the user types. Exactly y, yes, n or no behind it is an answer, half a second after it at the
// earliest; whatever was there before, or is more, is a message.
func TestQuickAnswerToADialog(t *testing.T) {
	const once, refuse = agent.AllowOnce, agent.Refuse
	ms := time.Millisecond
	tests := map[string]struct {
		keys   []quick
		want   agent.Decision // after half a second; "": none
		text   string
		queued []string
	}{
		"y, Enter at once":       {[]quick{{"asks", 0}, {"y", 50 * ms}, {"enter", 80 * ms}}, once, "", nil},
		"yes, Enter at once":     {[]quick{{"asks", 0}, {"yes", 50 * ms}, {"enter", 80 * ms}}, once, "", nil},
		"n, Enter at once":       {[]quick{{"asks", 0}, {"n", 50 * ms}, {"enter", 80 * ms}}, refuse, "", nil},
		"No, Enter at once":      {[]quick{{"asks", 0}, {"No", 50 * ms}, {"enter", 80 * ms}}, refuse, "", nil},
		"y at once, Enter later": {[]quick{{"asks", 0}, {"y", 50 * ms}, {"enter", 2000 * ms}}, once, "", nil},
		"y late, Enter at once":  {[]quick{{"asks", 0}, {"y", 700 * ms}, {"enter", 10 * ms}}, once, "", nil},
		"y across the half second": {[]quick{
			{"asks", 0},
			{"y", 490 * ms},
			{"e", 20 * ms},
			{"s", 20 * ms},
			{"enter", 20 * ms},
		}, once, "", nil},
		"a corrected typo": {[]quick{
			{"asks", 0},
			{"yw", 50 * ms},
			{"backspace", 50 * ms},
			{"es", 50 * ms},
			{"enter", 50 * ms},
		}, once, "", nil},
		"behind a queued message": {[]quick{
			{"asks", 0},
			{"and when?", 50 * ms},
			{"enter", 50 * ms},
			{"y", 50 * ms},
			{"enter", 50 * ms},
		}, once, "", []string{"and when?"}},
		"y before it": {
			[]quick{{"y", 0}, {"asks", 30 * ms}, {"enter", 50 * ms}},
			"", "",
			[]string{"y"},
		},
		"y before it, Enter much later": {
			[]quick{{"y", 0}, {"asks", 30 * ms}, {"enter", 3000 * ms}},
			"", "",
			[]string{"y"},
		},
		"ye before it": {
			[]quick{{"ye", 0}, {"asks", 30 * ms}, {"s", 50 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"yes"},
		},
		"no before it": {
			[]quick{{"no", 0}, {"asks", 30 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"no"},
		},
		"y before it, cleared, n": {[]quick{
			{"y", 0},
			{"asks", 30 * ms},
			{"ctrl+c", 50 * ms},
			{"n", 50 * ms},
			{"enter", 50 * ms},
		}, refuse, "", nil},
		"a sentence": {
			[]quick{{"asks", 0}, {"yes please", 50 * ms}, {"enter", 600 * ms}},
			"",
			"",
			[]string{"yes please"},
		},
		"another letter": {
			[]quick{{"asks", 0}, {"s", 50 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"s"},
		},
		"Y and a space": {
			[]quick{{"asks", 0}, {"y ", 50 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"y "},
		},
		"more behind the Enter": {[]quick{
			{"asks", 0},
			{"no", 50 * ms},
			{"enter", 50 * ms},
			{"it is late", 50 * ms},
		}, "", "it is late", []string{"no"}},
		"Esc behind the Enter": {
			[]quick{{"asks", 0}, {"y", 50 * ms}, {"enter", 50 * ms}, {"esc", 50 * ms}},
			"", "", nil,
		},
		"Ctrl+C behind the Enter": {
			[]quick{{"asks", 0}, {"y", 50 * ms}, {"enter", 50 * ms}, {"ctrl+c", 50 * ms}},
			"", "", nil,
		},
		"Enter twice": {
			[]quick{{"asks", 0}, {"y", 50 * ms}, {"enter", 50 * ms}, {"enter", 50 * ms}},
			once, "", nil,
		},
		"settled behind the Enter": {[]quick{
			{"asks", 0},
			{"y", 50 * ms},
			{"enter", 50 * ms},
			{"settled", 50 * ms},
		}, "", "y", nil},
		"an earlier prompt": {
			[]quick{{"asks", 0}, {"up", 50 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"y"},
		},
		"a paste": {
			[]quick{{"asks", 0}, {"paste", 50 * ms}, {"enter", 600 * ms}},
			"", "",
			[]string{"y"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			question, replies := chattest.Asked(chattest.TaskAsked)
			inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
				r.ask("y") // up brings it back
				at := r.plays(tc.keys, question)
				r.pass(time.Until(at.Add(dialog.QuietPeriod - ms)))
				if len(*replies) > 0 && time.Since(at) < dialog.QuietPeriod {
					t.Errorf("answered %v after it opened", time.Since(at))
				}
				r.pass(dialog.QuietPeriod)
				if got := r.m.composer.Text(); got != tc.text {
					t.Errorf("the composer holds %q, want %q", got, tc.text)
				}
				if got := r.m.composer.Queue; !slices.Equal(got, tc.queued) {
					t.Errorf("queued: %q, want %q", got, tc.queued)
				}
			})
			var got agent.Decision
			for _, reply := range *replies {
				got += reply.Decision
			}
			if got != tc.want {
				t.Errorf("replies = %+v, want %q", *replies, tc.want)
			}
		})
	}
}

// plays presses keys, and returns when the dialog opened.
func (r *rig) plays(keys []quick, question agent.PermissionAsked) (opened time.Time) {
	for _, k := range keys {
		r.pass(k.after)
		switch k.key {
		case "asks":
			r.run(r.m.show(agent.Event{Body: question}, time.Now()))
			r.send(beatMsg(time.Now())) // it is drawn
			opened = time.Now()
		case "settled":
			r.m.show(agent.Event{Body: agent.PermissionGiven{Call: question.Call, Decision: agent.Refuse}}, time.Now())
		case "paste":
			r.send(tea.PasteMsg{Content: "y"})
		case "enter":
			r.send(boxtest.Keys["enter"])
			r.settle()
		default:
			r.keys(k.key)
		}
	}
	return opened
}

// Prose is a message wherever in it the dialog opens, at any speed; nothing of it is lost.
func TestProseAnswersNoDialogAtAnySpeed(t *testing.T) {
	testenv.WithoutRace(t)
	for _, text := range []string{"y", "no", "yes", "yes, at nine", "no y", "say", "nn", "n.", "sure", "Yesterday"} {
		for _, speed := range []int{1, 5, 12, 40} {
			for opens := range len(text) + 1 {
				if opens == 0 && slices.Contains([]string{"y", "yes", "no"}, text) {
					continue // an answer
				}
				question, replies := chattest.Asked(chattest.TaskAsked)
				inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
					r.ask("go")
					r.plays(typedAt(text, speed, opens), question)
					r.pass(2 * dialog.QuietPeriod)
					if got := r.m.composer.Queue; len(got) != 1 || got[0] != text || len(*replies) > 0 {
						t.Errorf("%q at %d letters a second, opened before letter %d: queued %q, replies %+v", text,
							speed, opens, got, *replies)
					}
				})
			}
		}
	}
}

// The dialog says what Enter does with what the composer holds.
func TestDialogSaysThatEnterQueues(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(chattest.Hold()), func(r *rig) {
		r.ask("go")
		r.plays([]quick{{"y", 0}, {"asks", 0}}, chattest.TaskAsked)
		r.mustShow("enter queues your message")
		r.keys("ctrl+c", "y")
		r.mustShow("enter: allow once")
		r.keys("e")
		r.mustShow("enter queues your message")
	})
}
