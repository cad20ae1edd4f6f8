package renderer

import (
	"fmt"

	tea "charm.land/bubbletea/v2"
)

// looks is the appearance of a cursor: its DECSCUSR number and its colour in hex. 0 and "" stand
// for the terminal's own.
type looks struct {
	style  int
	colour string
}

func look(cursor *tea.Cursor) looks {
	if cursor == nil {
		return looks{}
	}
	l := looks{style: int(cursor.Shape)*2 + 1} // in the order block, underline, bar, each blinking first
	if !cursor.Blink {
		l.style++
	}
	if cursor.Color != nil {
		r, g, b, _ := cursor.Color.RGBA()
		l.colour = fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
	}
	return l
}
