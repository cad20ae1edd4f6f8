package tui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
	"lifehub/tui/terminal"
)

// copyText puts a text on the clipboard and returns the notice for the user. Control
// characters are removed, because pasted into a shell they would act as keys.
func copyText(ctx context.Context, text string, environ []string) (notice string, copied tea.Cmd) {
	text = safetext.Source(text)
	size := draw.Bytes(int64(len(text)))
	switch {
	case text == "":
		return "", nil
	case len(text) > terminal.MostCopied:
		return size + " is more than a terminal copies; /export writes it to a file", nil
	case len(text) > terminal.SurelyCopied && !terminal.InTmux(environ):
		size += ", if your terminal takes more than " + draw.Bytes(terminal.SurelyCopied)
	}
	return "copied " + size, terminal.Copy(ctx, text, environ)
}
