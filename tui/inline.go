package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/batch"
	"lifehub/tui/transcript"
)

// printOver prints what is over into the terminal's own scrollback, where it
// scrolls, is selected and stays as what any program prints. It does nothing
// on a screen of our own.
func (m *Model) printOver() tea.Cmd {
	t := &m.transcript
	if !m.Inline || m.turn != nil || len(t.Entries) == 0 || m.width <= 0 {
		return nil
	}
	var lines []string
	for at := range t.Entries {
		lines = append(lines, t.Lines(at)...)
	}
	for i, line := range lines {
		if line != "" {
			lines[i] = strings.Repeat(" ", transcript.Gutter) + line
		}
	}
	m.unfocus()
	t.Clear()
	text := strings.Join(withoutEnd(lines), "\n") + "\n"
	return tea.Sequence(
		tea.Tick(settled, func(time.Time) tea.Msg { return nil }),
		tea.Println(text),
	)
}

// settled is when what was drawn is surely on the terminal: what is printed
// sooner pushes lines of the picture before into the scrollback.
const settled = 3 * batch.Window

// withoutEnd leaves blank lines at the end out, all but one.
func withoutEnd(lines []string) []string {
	end := len(lines)
	for end > 0 && lines[end-1] == "" {
		end--
	}
	return slices.Clip(lines[:min(len(lines), end+1)])
}
