package tui

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// How much text is copied. Many terminals take an OSC 52 of 100,000 bytes,
// which hold 74,994 in base64; the longer ones that some take still have an
// end, and terminals that drop them do it in silence.
const (
	surelyCopied = 74_994
	mostCopied   = 4 << 20
)

// clip puts a text on the clipboard by the terminal (OSC 52), so that it works
// through ssh, or by tmux, which by default lets no program in it do so.
// Controls stay behind: what is pasted into a shell is not to press its keys.
func (m *Model) clip(text string) tea.Cmd {
	text = safetext.Source(text)
	size := draw.Bytes(int64(len(text)))
	switch {
	case text == "":
		return nil
	case len(text) > mostCopied:
		m.flash(size + " is more than a terminal copies; /export writes it to a file")
		return nil
	case slices.ContainsFunc(m.Environ, func(v string) bool { return strings.HasPrefix(v, "TMUX=/") }):
		m.flash("copied " + size)
		return m.clipByTmux(text)
	case len(text) > surelyCopied:
		m.flash("copied " + size + ", if your terminal takes more than " + draw.Bytes(surelyCopied))
	default:
		m.flash("copied " + size)
	}
	return tea.SetClipboard(text)
}

// patienceWithTmux is how long tmux may take for a text.
const patienceWithTmux = 5 * time.Second

// clipByTmux has tmux keep the text as its newest buffer and hand it to the
// terminal it runs in. A tmux that can't (before 3.2) is passed an OSC 52.
func (m *Model) clipByTmux(text string) tea.Cmd {
	environ := m.Environ
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.base, patienceWithTmux)
		defer cancel()
		load := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		load.Env, load.Stdin = environ, strings.NewReader(text)
		if load.Run() != nil {
			return tea.SetClipboard(text)()
		}
		return nil
	}
}
