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

// Limits of copying, in bytes. Many terminals accept an OSC 52 sequence of 100,000 bytes, which
// holds 74,994 in base64. Those that accept more have a limit too, and silently drop longer ones.
const (
	surelyCopied = 74_994
	mostCopied   = 4 << 20
)

// tmuxTimeout bounds a run of tmux.
const tmuxTimeout = 5 * time.Second

// copyText puts a text on the clipboard and returns the notice for the user. Control
// characters are removed, because pasted into a shell they would act as keys.
func copyText(ctx context.Context, text string, environ []string) (notice string, copied tea.Cmd) {
	text = safetext.Source(text)
	size := draw.Bytes(int64(len(text)))
	switch {
	case text == "":
		return "", nil
	case len(text) > mostCopied:
		return size + " is more than a terminal copies; /export writes it to a file", nil
	case len(text) > surelyCopied && !inTmux(environ):
		size += ", if your terminal takes more than " + draw.Bytes(surelyCopied)
	}
	return "copied " + size, copyToClipboard(ctx, text, environ)
}

// inTmux reports whether a program with this environment runs in tmux.
func inTmux(environ []string) bool {
	return slices.ContainsFunc(environ, func(v string) bool { return strings.HasPrefix(v, "TMUX=/") })
}

// copyToClipboard returns a command that copies text to the clipboard. It uses the terminal (OSC 52), which
// also works over SSH, or tmux load-buffer, since tmux by default ignores OSC 52 from its programs.
// A tmux that lacks load-buffer -w (before 3.2) gets an OSC 52.
func copyToClipboard(ctx context.Context, text string, environ []string) tea.Cmd {
	if !inTmux(environ) {
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
