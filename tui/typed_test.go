package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/agent"
	"lifehub/internal/chattest"
	"lifehub/tui/boxtest"
	"lifehub/tui/dialog"
)

// atOnce sends the keys of a text without a pause between them, as a terminal does that does not mark a paste.
func (r *rig) atOnce(text string) {
	for _, letter := range text {
		pressed := tea.KeyPressMsg{Code: letter, Text: string(letter)}
		switch letter {
		case '\r':
			pressed = tea.KeyPressMsg{Code: tea.KeyEnter}
		case '\n':
			pressed = tea.KeyPressMsg{Code: 'j', Mod: tea.ModCtrl}
		}
		_, cmd := r.m.Update(pressed)
		r.run(cmd)
	}
	r.pass(3 * afterEnter)
}

// Lines that arrive at once are text, whatever they end with; one line with an Enter behind it is a message.
func TestLinesThatArriveAtOnceAreNotSent(t *testing.T) {
	for text, want := range map[string]struct{ asked, left string }{
		"how often do I run?\r":               {asked: "how often do I run?"},
		"how often do I run?":                 {left: "how often do I run?"},
		"one\rand another":                    {left: "one\nand another"},
		"one\rtwo\rthree\r":                   {left: "one\ntwo\nthree\n"},
		"one\r\rand two\r\r":                  {left: "one\n\nand two\n\n"},
		"one\ntwo\r":                          {left: "one\ntwo"},
		"how often do I run?\rand":            {asked: "how often do I run?", left: "and"}, // keys that were late
		"/new\rand a line":                    {left: "/new\nand a line"},
		strings.Repeat("a line of it\r", 200): {left: strings.Repeat("a line of it\n", 200)},
	} {
		inRig(t, 80, 24, chattest.WithWorld(&chattest.Script{}), func(r *rig) {
			r.atOnce(text)
			asked := ""
			if q := r.m.transcript.Item(0); q != nil {
				asked = q.Copied()
			}
			if left := r.m.composer.Text(); asked != want.asked ||
				strings.TrimRight(left, "\n") != strings.TrimRight(want.left, "\n") {
				t.Errorf("%.40q: asked %q, and the composer has %q", text, asked, left)
			}
		})
	}
}

// An Enter behind a marked paste, as fast as no one presses it, is a part of what was pasted.
func TestEnterWithinAPasteSendsNothing(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(&chattest.Script{}), func(r *rig) {
		_, cmd := r.m.Update(tea.PasteMsg{Content: "pasted"})
		r.run(cmd)
		r.atOnce("\rdelete it\r")
		if r.m.turn != nil || !strings.Contains(r.m.composer.Text(), "delete it") {
			t.Errorf("the composer has %q", r.m.composer.Text())
		}
	})
}

// The screen shows what was typed at once, though not each of its keys was drawn.
func TestTextThatArrivesAtOnceIsDrawn(t *testing.T) {
	inRig(t, 80, 24, chattest.WithWorld(&chattest.Script{}), func(r *rig) {
		r.atOnce(strings.Repeat("a line\r", 3) + "the last line")
		r.mustShow("the last line")
		began := time.Now()
		for _, pressed := range boxtest.Presses("more") {
			r.send(pressed)
		}
		r.mustShow("the last linemore")
		if waited := time.Since(began); waited > 50*time.Millisecond {
			t.Errorf("keys were drawn after %v", waited)
		}
	})
}

// No text approves, however fast it comes.
func TestTextTypedAtOnceApprovesNothing(t *testing.T) {
	for _, text := range []string{
		"yes please do it\r", "y, and then go on\r",
		"allow it always\r\r\r", "y y y y y y y\r",
	} {
		question, replies := chattest.Asked(chattest.TaskAsked)
		inRig(t, 80, 24, chattest.WithWorld(chattest.Hold(question)), func(r *rig) {
			r.ask("write")
			for range 3 {
				r.pass(dialog.QuietPeriod)
				r.atOnce(text)
			}
		})
		for _, reply := range *replies {
			if reply.Decision != agent.Refuse {
				t.Errorf("%q answers %v", text, reply.Decision)
			}
		}
	}
}
