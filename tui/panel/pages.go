package panel

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
)

// Page is a panel with a slash command of its own, for both front ends.
type Page struct {
	Command chat.Command               // its name, arguments and help
	There   func(o *chat.Options) bool // nil: always
	// Open returns the panel, and the command that reads its contents, or nil.
	Open func(ctx context.Context, o *chat.Options, args string) (Panel, tea.Cmd, error)
	// Lines returns the same for the plain chat.
	Lines func(ctx context.Context, o *chat.Options, args string) ([]string, error)
}

// Pages returns all pages in the order of the palette.
func Pages() []Page { return []Page{notePage(), statsPage()} }

// PageOf returns the page of a command, or nil.
func PageOf(command string) *Page {
	for _, page := range Pages() {
		if page.Command.Name == command {
			return &page
		}
	}
	return nil
}

// Commands returns the available slash commands in the order of the palette.
func Commands(o *chat.Options) []chat.Command {
	var pages []chat.Command
	for _, page := range Pages() {
		if page.There == nil || page.There(o) {
			pages = append(pages, page.Command)
		}
	}
	return o.AllCommands(pages)
}
