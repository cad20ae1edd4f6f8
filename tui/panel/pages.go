package panel

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
)

// Page is a panel with a slash command of its own, for both front ends.
type Page struct {
	Command backend.Command               // its name, arguments and help
	There   func(o *backend.Options) bool // nil: always
	// Open makes the panel, and the command that reads what it shows, if any.
	// An error is shown and opens nothing.
	Open func(ctx context.Context, o *backend.Options, args string) (Panel, tea.Cmd, error)
	// Lines are the same for the plain chat.
	Lines func(ctx context.Context, o *backend.Options, args string) ([]string, error)
}

// Pages are all of them, as they are listed.
func Pages() []Page { return []Page{notePage(), statsPage()} }

// PageOf returns the page of a command, nil when it has none.
func PageOf(command string) *Page {
	for _, page := range Pages() {
		if page.Command.Name == command {
			return &page
		}
	}
	return nil
}

// Commands are the slash commands that have something behind them, as they are
// listed.
func Commands(o *backend.Options) []backend.Command {
	var pages []backend.Command
	for _, page := range Pages() {
		if page.There == nil || page.There(o) {
			pages = append(pages, page.Command)
		}
	}
	return o.AllCommands(pages)
}
