package dialog

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// scrollArea is the visible part of a dialog's text. The text has priority: where space is
// short, the scroll position moves into the title, the keys take one line, and then the
// title is left out.
type scrollArea struct {
	top, rows int  // the first visible line, and how many are
	tight     bool // no space for the box
	headed    bool // if tight: the title is shown
}

// LeastRows is the minimum number of visible lines for a text to count as read.
const LeastRows = 3

// leastBox is the width below which a dialog has no frame.
const leastBox = 30

// inside returns the width of the text in a dialog.
func inside(width int) int {
	if width < leastBox {
		return max(1, width)
	}
	return width - draw.BoxSides
}

// question is the frame around the text of a dialog.
type question struct {
	name, after string   // title: an untrusted name, and the text after it
	before      string   // text before the name
	ready       string   // why keys are not accepted now, shown if there is space
	count       string   // position among several
	answers     []string // the answers, or the text being typed
	keys        []string
	warn        string   // why Enter had no effect, shown before the keys; may be ""
	tight       []string // answers and keys if there is no space for both
	unread      bool     // the end has not been visible yet
}

// foot returns the lines of answers and keys inside the frame, and the keys in its border.
func (q *question) foot(width int, theme *draw.Theme) (lines []string, edge string) {
	keys := draw.Flow(q.keys, inside(width))
	for i, line := range keys {
		before, chosen, marked := strings.Cut(line, "▌")
		chosen, after, _ := strings.Cut(chosen, "▐")
		keys[i] = theme.Dim.Render(before)
		if i == 0 && q.warn != "" {
			keys[i] = theme.Warning.Render(q.warn) + theme.Dim.Render(strings.TrimPrefix(before, q.warn))
		}
		if marked {
			keys[i] += theme.Selected.Render(bar(chosen, true)) + theme.Dim.Render(after)
		}
	}
	last := len(keys) - 1
	return append(q.answers, keys[:last]...), keys[last]
}

// place fits a text of n lines and its frame into a height.
func (s *scrollArea) place(q *question, n, width, height int, theme *draw.Theme) {
	foot, _ := q.foot(width, theme)
	s.rows = n
	if 2+n+len(foot) > height {
		s.rows = height - 3 - len(foot)
	}
	if s.tight = width < leastBox || s.rows < min(LeastRows, n) || 2+len(foot) > height; s.tight {
		s.headed = height > len(q.tight)+2
		s.rows = min(n, height-len(q.tight))
		if s.headed {
			s.rows = min(n, height-len(q.tight)-1)
		}
	}
	if !s.tight && s.rows < n && !q.unread {
		s.rows++ // no line is needed to report more
	}
	s.rows = max(0, s.rows)
	s.top = max(0, min(s.top, n-s.rows))
}

// view draws a question as it was placed; line returns a line of its text.
func (s *scrollArea) view(q *question, n int, line func(int) string, width, height int, keys *draw.Keys,
	theme *draw.Theme,
) []string {
	var lines []string
	for i := s.top; i < s.top+s.rows; i++ {
		lines = append(lines, line(i))
	}
	if s.tight {
		if s.headed {
			lines = append([]string{theme.Warning.Bold(true).Render(s.title(q, n, width))}, lines...)
		}
		return append(lines, q.tight...)
	}
	foot, edge := q.foot(width, theme)
	switch below := n - s.top - s.rows; {
	case q.unread && below > 0:
		more := fmt.Sprintf("↓ %s (%s)", draw.Count(below, "more line"), keys.PageDown.Help().Key)
		lines = append(lines, theme.Warning.Render(draw.Truncate(more, inside(width))))
	case n > 0 && n == s.rows && n+len(foot)+3 <= height:
		lines = append(lines, "")
	}
	box := draw.Box{Count: q.count, Keys: edge, Border: theme.Warning}
	title := withEnding(q.name, width-8-draw.Width(q.before+q.count), q.after+q.ready, q.after)
	if end := s.top + s.rows; n > s.rows {
		for _, box.Count = range []string{
			strings.TrimSuffix(fmt.Sprintf("%d of %d lines · %s", end, n, q.count), " · "),
			fmt.Sprintf("%d/%d", end, n),
			q.count,
		} {
			if draw.Width(q.before+title+box.Count)+8 <= width {
				break
			}
		}
	}
	box.Title = theme.Warning.Bold(true).Render(q.before + title)
	return box.View(append(lines, foot...), width)
}

// scroll reports whether a key scrolled the n lines, if they do not all fit.
func (s *scrollArea) scroll(pressed tea.KeyPressMsg, keys *draw.Keys, n int) bool {
	top, scrolls := keys.Read(pressed, s.top, n, s.rows)
	if !scrolls || n <= s.rows {
		return false
	}
	s.top = top
	return true
}

// reveal has line at of n visible lines, and the one after it.
func (s *scrollArea) reveal(at, n int) {
	s.top = max(min(s.top, at), at+min(2, s.rows)-s.rows)
	s.top = max(0, min(s.top, n-s.rows))
}

// endSeen reports whether the last of n lines is visible, in a window in which
// any letter can be.
func (s *scrollArea) endSeen(n, width int) bool { return s.rows > 0 && s.top+s.rows >= n && width > 1 }

// title returns the first line where space is short: who asks, and the scroll position in
// n lines.
func (s *scrollArea) title(q *question, n, width int) string {
	at := ""
	if n > s.rows {
		at = fmt.Sprintf(" %d–%d of %d", s.top+1, s.top+s.rows, n)
	}
	return withEnding(q.before+safetext.Line(q.name)+q.after, width, at)
}

// withEnding returns a name with the first of the endings that fits next to it.
func withEnding(name string, width int, endings ...string) string {
	name = safetext.Line(name)
	for _, ending := range endings {
		if draw.Width(name+ending) <= width {
			return name + ending
		}
	}
	return draw.Truncate(name, width)
}

// readOn returns a short hint that there are lines below that were not visible yet.
func (s *scrollArea) readOn(n int, unread bool, keys *draw.Keys) string {
	if below := n - s.top - s.rows; unread && below > 0 {
		return fmt.Sprintf("↓%d %s", below, keys.PageDown.Help().Key)
	}
	return ""
}
