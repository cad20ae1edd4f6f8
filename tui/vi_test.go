package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"lifehub/internal/chattest"
)

func TestTheComposerIsEditedAsInVi(t *testing.T) {
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"keys write at first":       {[]string{"dd0x"}, "dd0x"},
		"esc ends writing":          {[]string{"one two", "esc", "x"}, "one tw"},
		"a letter is no text there": {[]string{"one", "esc", "zqv"}, "one"},
		"a word is cut":             {[]string{"one two", "esc", "0dw"}, "two"},
		"a word is changed":         {[]string{"one two", "esc", "bcwfour"}, "one four"},
		"the rest is cut":           {[]string{"one two", "esc", "0llD"}, "on"},
		"after the end":             {[]string{"one", "esc", "A two"}, "one two"},
		"at the start":              {[]string{"one", "esc", "Ino "}, "no one"},
		"a line below":              {[]string{"one", "esc", "otwo"}, "one\ntwo"},
		"a line above":              {[]string{"one", "esc", "Otwo"}, "two\none"},
		"up and down":               {[]string{"one", "ctrl+j", "two", "esc", "kx"}, "on\ntwo"},
		"a line goes":               {[]string{"one", "esc", "dd", "inew"}, "new"},

		"words, counted":                   {[]string{"one two three four", "esc", "03wx"}, "one two three our"},
		"words back, counted":              {[]string{"one two three four", "esc", "2bx"}, "one two hree four"},
		"to the end of a word":             {[]string{"one two", "esc", "0ex"}, "on two"},
		"signs are words":                  {[]string{"a.b c", "esc", "0wx"}, "ab c"},
		"letters, counted":                 {[]string{"abcdef", "esc", "03x"}, "def"},
		"no letter of another line":        {[]string{"ab", "ctrl+j", "cd", "esc", "k09x"}, "\ncd"},
		"letters before, counted":          {[]string{"abcdef", "esc", "2X"}, "abcf"},
		"words cut, counted":               {[]string{"one two three", "esc", "02dw"}, "three"},
		"the count after":                  {[]string{"one two three", "esc", "0d2w"}, "three"},
		"both counts":                      {[]string{"a b c d e f", "esc", "02d2w"}, "e f"},
		"the last word of a line":          {[]string{"one", "ctrl+j", "two", "esc", "k0dw"}, "\ntwo"},
		"a word changed, its blank kept":   {[]string{"one two", "esc", "0cwx"}, "x two"},
		"two words changed":                {[]string{"one two three", "esc", "02cwx"}, "x three"},
		"to the start":                     {[]string{"one two", "esc", "d0"}, "o"},
		"lines cut, counted":               {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "kk2dd"}, "c"},
		"the last line":                    {[]string{"a", "ctrl+j", "b", "esc", "dd"}, "a"},
		"a line that is empty":             {[]string{"a", "ctrl+j", "ctrl+j", "b", "esc", "kdd"}, "a\nb"},
		"the rest of a line that is empty": {[]string{"a", "ctrl+j", "ctrl+j", "b", "esc", "kD"}, "a\n\nb"},
		"more lines than there are":        {[]string{"a", "ctrl+j", "b", "esc", "k99ddix"}, "x"},
		"a line changed":                   {[]string{"a", "ctrl+j", "b", "esc", "kccx"}, "x\nb"},
		"down, counted":                    {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "gg2jx"}, "a\nb\n"},
		"up, counted":                      {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "5kx"}, "\nb\nc"},
		"a line and the one below":         {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "ggdj"}, "c"},
		"to a line by number":              {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "2Gx"}, "a\n\nc"},
		"all from here":                    {[]string{"a", "ctrl+j", "b", "ctrl+j", "c", "esc", "2GdG"}, "a"},
		"ten is no start of a line":        {[]string{"abcdefghijkl", "esc", "010x"}, "kl"},
		"undone":                           {[]string{"one two", "esc", "0dwu"}, "one two"},
		"undone after all was cut":         {[]string{"one", "esc", "ddu"}, "one"},
		"undone, counted":                  {[]string{"one two three", "esc", "0dwdwdw2u"}, "two three"},
		"redone":                           {[]string{"one two", "esc", "0dwu", "ctrl+r"}, "two"},
		"redone, counted":                  {[]string{"one two three", "esc", "0dwdw2u2", "ctrl+r"}, "three"},
		"what was written at once goes":    {[]string{"one", "esc", "A two three", "esc", "u"}, "one"},
		"a change and its words go":        {[]string{"one two", "esc", "0cwnew and long", "esc", "u"}, "one two"},
		"a new line and its words go":      {[]string{"one", "esc", "otwo three", "esc", "u"}, "one"},
		"a command that is none":           {[]string{"one", "esc", "dzx"}, "on"},
		"esc drops what is half a command": {[]string{"one", "esc", "2d", "esc", "x"}, "on"},
		"a count that is too long":         {[]string{"one", "esc", "99999999999999999999x"}, "on"},
		"esc at the start stays there":     {[]string{"a", "ctrl+j", "esc", "x"}, "a\n"},
		"letters of two cells":             {[]string{"日本 語", "esc", "0dw"}, "語"},
	} {
		t.Run(name, func(t *testing.T) {
			o := chattest.WithWorld(chattest.Hold())
			o.Vi = true
			inRig(t, 80, 24, o, func(r *rig) {
				r.keys(c.keys...)
				if got := r.m.composer.Text(); got != c.want {
					t.Errorf("got %q, want %q", got, c.want)
				}
			})
		})
	}
	t.Run("enter sends, esc on nothing stops, and the cursor tells", func(t *testing.T) {
		o := chattest.WithWorld(chattest.Hold(chattest.Planning...))
		o.Vi = true
		inRig(t, 80, 24, o, func(r *rig) {
			r.keys("one", "esc")
			if r.m.View().Cursor.Shape != tea.CursorBlock {
				t.Error("no block to move with")
			}
			r.keys("enter", "x")
			r.mustShow("▌ one")
			if r.m.View().Cursor.Shape != tea.CursorBar {
				t.Error("no bar to write with")
			}
			r.keys("backspace", "esc")
			if t := r.m.turn; t != nil && !t.Stopped {
				r.t.Error("esc did not stop the turn")
			}
		})
	})
}
