package tui

import (
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
)

// clip puts a text on the clipboard and says so. Controls stay behind: what is
// pasted into a shell is not to press its keys.
func (m *Model) clip(text string) tea.Cmd {
	text = safetext.Source(text)
	size := draw.Bytes(int64(len(text)))
	switch {
	case text == "":
		return nil
	case len(text) > terminal.MostCopied:
		m.flash(size + " is more than a terminal copies; /export writes it to a file")
		return nil
	case len(text) > terminal.SurelyCopied && !terminal.InTmux(m.Environ):
		m.flash("copied " + size + ", if your terminal takes more than " + draw.Bytes(terminal.SurelyCopied))
	default:
		m.flash("copied " + size)
	}
	return terminal.Copy(m.base, text, m.Environ)
}
