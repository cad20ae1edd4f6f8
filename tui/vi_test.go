package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestTheComposerIsEditedAsInVi(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"keys write at first":       {[]string{"dd0x"}, "dd0x"},
		"esc ends writing":          {[]string{"one two", "esc", "x"}, "one tw"},
		"a letter is no text there": {[]string{"one", "esc", "zqv"}, "one"},
		"a word is cut":             {[]string{"one two", "esc", "0dw"}, " two"},
		"a word is changed":         {[]string{"one two", "esc", "bcwfour"}, "one four"},
		"the rest is cut":           {[]string{"one two", "esc", "0llD"}, "on"},
		"after the end":             {[]string{"one", "esc", "A two"}, "one two"},
		"at the start":              {[]string{"one", "esc", "Ino "}, "no one"},
		"a line below":              {[]string{"one", "esc", "otwo"}, "one\ntwo"},
		"a line above":              {[]string{"one", "esc", "Otwo"}, "two\none"},
		"up and down":               {[]string{"one", "ctrl+j", "two", "esc", "kx"}, "on\ntwo"},
		"a line goes":               {[]string{"one", "esc", "dd", "new"}, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			o := withWorld(hold())
			o.Vi = true
			inRig(t, 80, 24, o, func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
	t.Run("enter sends, esc on nothing stops, and the cursor tells", func(t *testing.T) {
		o := withWorld(hold(planning...))
		o.Vi = true
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("one", "esc")
			if r.m.View().Cursor.Shape != tea.CursorBlock {
				t.Error("no block to move with")
			}
			r.keys("enter", "x")
			r.mustShow("You  one")
			if r.m.View().Cursor.Shape != tea.CursorBar {
				t.Error("no bar to write with")
			}
			r.keys("backspace", "esc")
			if t := r.m.turn; t != nil && !t.stopped {
				r.t.Error("esc did not stop the turn")
			}
		})
	})
}
