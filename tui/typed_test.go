package tui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/dialog"
	"lifehub/tui/terminal"
)

// typedKeys are the keys of a text, one by one.
func typedKeys(text string) (keys []tea.Msg) {
	for text != "" {
		pressed, size := firstKey(text)
		keys, text = append(keys, pressed), text[size:]
	}
	return keys
}

// Text that arrives at once does what its keys do one by one.
func TestTextArrivingAtOnceActsLikeKeys(t *testing.T) {
	for name, text := range map[string]string{
		"words":             "how often do I run?",
		"lines":             "one\ntwo\n\nthree",
		"wide":              "走る 👩‍👧 é Ü ＡＢ and on",
		"sent":              "how often do I run?\rand then, what next?\rand more",
		"help, not written": "? is help, and this is behind it",
		"a question mark":   "what? and why? and how?",
		"a command":         "/help tools\rand some words",
		"a palette":         "/he and so on, no command",
		"a mention":         "look at @running and say",
		"a completion":      "look at @runn\t and say so",
		"a tab":             "\tand then some words behind",
		"quoted":            "\"\"\"\rone line\rtwo lines\r\"\"\"\rbehind it",
		"hostile":           "a\u202eb\u200bc and some more text",
		"blanks":            "                    ",
		"enters":            "\r\r\r\r\r\r\r\r\rx",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for state, prepare := range map[string]func(r *rig){
				"empty":      func(*rig) {},
				"written":    func(r *rig) { r.keys("begun ") },
				"in a turn":  func(r *rig) { r.ask("go") },
				"focused":    func(r *rig) { r.ask("go"); r.keys("tab") },
				"in a panel": func(r *rig) { r.keys("?") },
			} {
				shown := func(send func(r *rig)) (screen string) {
					inRig(t, 80, 24, chattest.WithWorld(&chattest.Script{Bodies: chattest.Story(chattest.Planning, chattest.Searched), Held: true}), func(r *rig) {
						prepare(r)
						send(r)
						r.settle()
						screen = r.text() + "|" + r.m.composer.Text() + "|" + strings.Join(r.m.composer.Queue, "|")
					})
					return screen
				}
				one := shown(func(r *rig) {
					for _, pressed := range typedKeys(text) {
						r.send(pressed)
					}
				})
				if got := shown(func(r *rig) { r.send(terminal.TypedMsg(text)) }); got != one {
					t.Errorf("%s: at once it is\n%s\nand key by key\n%s", state, got, one)
				}
			}
		})
	}
}

// No text approves, however fast it comes.
func TestTextTypedAtOnceApprovesNothing(t *testing.T) {
	for _, text := range []string{"yes please do it\r", "y, and then go on\r", "allow it always\r\r\r", "y y y y y y y\r"} {
		question, replies := chattest.Asked(chattest.TaskAsked)
		inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
			r.ask("write")
			for range 3 {
				r.pass(dialog.QuietPeriod)
				r.send(terminal.TypedMsg(text))
				r.settle()
			}
		})
		for _, reply := range *replies {
			if reply.Decision != agent.Refuse {
				t.Errorf("%q answers %v", text, reply.Decision)
			}
		}
	}
}
