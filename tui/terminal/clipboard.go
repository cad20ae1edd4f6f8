package terminal

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// How much text is copied. Many terminals take an OSC 52 of 100,000 bytes,
// which hold 74,994 in base64; the longer ones that some take still have an
// end, and terminals that drop them do it in silence.
const (
	SurelyCopied = 74_994
	MostCopied   = 4 << 20
)

// tmuxTimeout is how long tmux may take for a text.
const tmuxTimeout = 5 * time.Second

// InTmux reports whether a program with this environment runs in tmux.
func InTmux(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "TMUX=/") })
}

// Copy puts a text on the clipboard by the terminal (OSC 52), so that it works
// through ssh, or by tmux, which by default lets no program in it do so: tmux
// keeps the text as its newest buffer and hands it to the terminal it runs in.
// A tmux that can't (before 3.2) is passed an OSC 52.
func Copy(ctx context.Context, text string, environ []string) tea.Cmd {
	if !InTmux(environ) {
		return func() tea.Msg { return Output(ansi.SetSystemClipboard(text)) }
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
		defer cancel()
		load := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		load.Env, load.Stdin = environ, strings.NewReader(text)
		if load.Run() != nil {
			return Output(ansi.SetSystemClipboard(text))
		}
		return nil
	}
}
