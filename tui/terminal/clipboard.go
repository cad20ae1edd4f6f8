package terminal

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// Limits of copying, in bytes. Many terminals accept an OSC 52 sequence of 100,000 bytes, which
// holds 74,994 in base64. Those that accept more have a limit too, and silently drop longer ones.
const (
	SurelyCopied = 74_994
	MostCopied   = 4 << 20
)

// tmuxTimeout bounds a run of tmux.
const tmuxTimeout = 5 * time.Second

// InTmux reports whether a program with this environment runs in tmux.
func InTmux(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "TMUX=/") })
}

// Copy returns a command that copies text to the clipboard. It uses the terminal (OSC 52), which
// also works over SSH, or tmux load-buffer, since tmux by default ignores OSC 52 from its programs.
// A tmux that lacks load-buffer -w (before 3.2) gets an OSC 52.
func Copy(ctx context.Context, text string, environ []string) tea.Cmd {
	if !InTmux(environ) {
		return tea.SetClipboard(text)
	}
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, tmuxTimeout)
		defer cancel()
		load := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
		load.Env, load.Stdin = environ, strings.NewReader(text)
		if load.Run() != nil {
			return tea.SetClipboard(text)()
		}
		return nil
	}
}
