package dialog

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// scrollArea is what of a question's text is seen. What is asked comes before all
// else: where there is little room, the line that tells where in the text we
// are goes into the title, the keys take one line, and then the title goes.
type scrollArea struct {
	top, rows int  // the first line in sight, and how many are
	tight     bool // there is no room for more
	headed    bool // the title is there
}

// LeastRows is how much of a text must be in sight for it to be read.
const LeastRows = 3

// place fits a text of n lines into a place of a height, above a foot of so
// many lines, or of fewer where it is tight.
func (s *scrollArea) place(n, foot, tightFoot, height int) {
	s.tight, s.headed, s.rows = false, true, n
	if 1+n+foot > height {
		s.rows = height - 2 - foot // one line says where in it we are
	}
	if s.rows < min(LeastRows, n) {
		s.tight, s.headed = true, height > tightFoot+2
		s.rows = min(n, height-tightFoot)
		if s.headed {
			s.rows = min(n, height-tightFoot-1)
		}
	}
	s.rows = max(0, s.rows)
	s.top = max(0, min(s.top, n-s.rows))
}

// scroll reports whether a key moved what is seen of n lines that do not all fit.
func (s *scrollArea) scroll(pressed tea.KeyPressMsg, keys *keys.Map, n int) bool {
	top, scrolls := keys.Read(pressed, s.top, n, s.rows)
	if !scrolls || n <= s.rows {
		return false
	}
	s.top = top
	return true
}

// endSeen reports whether the last of n lines is in sight, in a window in which
// any letter can be.
func (s *scrollArea) endSeen(n, width int) bool { return s.rows > 0 && s.top+s.rows >= n && width > 1 }

// position reports where in n lines we are; "" where all are in sight. unread
// says that what follows has not been in sight yet.
func (s *scrollArea) position(n, width int, unread bool, keys *keys.Map, theme *draw.Theme) []string {
	below := n - s.top - s.rows
	switch {
	case s.tight || n <= s.rows:
		return nil
	case unread && below > 0:
		return []string{theme.Warning.Render(draw.Truncate(fmt.Sprintf("↓ %s: %s reads on", draw.Count(below, "more line"), keys.PageDown.Help().Key), width))}
	}
	return []string{theme.Dim.Render(draw.Truncate(fmt.Sprintf("lines %d–%d of %d · %s %s", s.top+1, s.top+s.rows, n, keys.PageUp.Help().Key, keys.PageDown.Help().Key), width))}
}

// title is the first line where it is tight: who asks, and where in the text
// of n lines we are.
func (s *scrollArea) title(who string, n, width int) string {
	at := ""
	if n > s.rows {
		at = fmt.Sprintf(" %d–%d of %d", s.top+1, s.top+s.rows, n)
	}
	return whole(who, width, at)
}

// whole is a name and the first of the endings that there is room for next to
// the whole of it.
func whole(name string, width int, endings ...string) string {
	name = safetext.Line(name)
	for _, ending := range endings {
		if draw.Width(name+ending) <= width {
			return name + ending
		}
	}
	return draw.Truncate(name, width)
}

// readOn tells in short that there are lines below that were not in sight yet.
func (s *scrollArea) readOn(n int, unread bool, keys *keys.Map) string {
	if below := n - s.top - s.rows; unread && below > 0 {
		return fmt.Sprintf("↓%d %s", below, keys.PageDown.Help().Key)
	}
	return ""
}

// bodyMargin sets what would run under the transcript's text; a narrow screen
// has no place to give away.
func bodyMargin(width int) string {
	if width < 60 {
		return ""
	}
	return "  "
}
