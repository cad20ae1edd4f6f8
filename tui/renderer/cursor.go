package renderer

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// looks is what a cursor looks like: the number of DECSCUSR, 0 for the terminal's
// own, and a colour in hex, "" for the terminal's own.
type looks struct {
	style  int
	colour string
}

func look(cursor *tea.Cursor) looks {
	if cursor == nil {
		return looks{}
	}
	l := looks{style: int(cursor.Shape)*2 + 1} // block, underline, bar; blinking first
	if !cursor.Blink {
		l.style++
	}
	if cursor.Color != nil {
		r, g, b, _ := cursor.Color.RGBA()
		l.colour = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return l
}
