package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lifehub/cli/app"
	"lifehub/tui/backend"
)

// switchCommands are /notes and /think.
func (l *life) switchCommands() []backend.Command {
	return []backend.Command{
		{Name: "notes", Args: "[on|only|off]", Help: "answer with your notes, with nothing but them, or without", Run: l.slashNotes},
		{Name: "think", Args: "[off|on|low|medium|high]", Help: "let the model think first, where it can", Run: l.slashThink},
	}
}

func (l *life) slashNotes(_ context.Context, given string) (string, error) {
	uses := map[app.NotesUse]string{
		app.NotesOn:   "with your notes and all other tools",
		app.NotesOnly: "with your notes only: no web, weather, mail or MCP server",
		app.NotesOff:  "without your notes: none is searched, read or changed",
	}
	use := app.NotesUse(strings.ToLower(given))
	if given == "" {
		use = l.Switches.NotesNow()
	}
	if uses[use] == "" {
		return "", fmt.Errorf("/notes takes on, only or off")
	}
	l.Switches.Notes.Store(&use)
	l.tell()
	return fmt.Sprintf("Notes **%s**: questions are answered %s. `/notes on|only|off` changes it for this run.", use, uses[use]), nil
}

func (l *life) slashThink(_ context.Context, given string) (string, error) {
	think := strings.ToLower(given)
	if think == "" {
		think = l.Switches.ThinkNow(l.Settings.Think)
	}
	if !slices.Contains([]string{"off", "on", "low", "medium", "high"}, think) {
		return "", fmt.Errorf("/think takes off, on, low, medium or high")
	}
	l.Switches.Think.Store(&think)
	return fmt.Sprintf("Thinking **%s**, for models that can. `think: %s` in the settings keeps it.", think, think), nil
}
