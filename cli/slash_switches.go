package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	uses := map[notesUse]string{
		notesOn:   "with your notes and all other tools",
		notesOnly: "with your notes only: no web, weather, mail or MCP server",
		notesOff:  "without your notes: none is searched, read or changed",
	}
	use := notesUse(strings.ToLower(given))
	if given == "" {
		use = l.switches.notesNow()
	}
	if uses[use] == "" {
		return "", fmt.Errorf("/notes takes on, only or off")
	}
	l.switches.notes.Store(&use)
	l.tell()
	return fmt.Sprintf("Notes **%s**: questions are answered %s. `/notes on|only|off` changes it for this run.", use, uses[use]), nil
}

func (l *life) slashThink(_ context.Context, given string) (string, error) {
	think := strings.ToLower(given)
	if think == "" {
		think = l.switches.thinkNow(l.config.Think)
	}
	if !slices.Contains([]string{"off", "on", "low", "medium", "high"}, think) {
		return "", fmt.Errorf("/think takes off, on, low, medium or high")
	}
	l.switches.think.Store(&think)
	return fmt.Sprintf("Thinking **%s**, for models that can. `think: %s` in the settings keeps it.", think, think), nil
}
