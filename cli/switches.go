package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/tui/backend"
)

// notesUse is what the next turns have to work with.
type notesUse string

const (
	notesOn   notesUse = "on"   // all tools
	notesOnly notesUse = "only" // no tool that asks others: the web, the weather, mail, servers
	notesOff  notesUse = "off"  // no tool of notes
)

// switches are what a chat changes for its next turns. The zero value is as
// the settings say; it is safe for concurrent use.
type switches struct {
	notes atomic.Pointer[notesUse]
	think atomic.Pointer[string]
}

func (s *switches) notesNow() notesUse {
	if use := s.notes.Load(); use != nil {
		return *use
	}
	return notesOn
}

func (s *switches) thinkNow(setting string) string {
	if think := s.think.Load(); think != nil {
		return *think
	}
	return setting
}

// hasPartners tells which built-in tools ask somebody beyond this machine.
func hasPartners(tool string) bool {
	return slices.Contains([]string{"web_search", "web_fetch", "crawl", "get_weather", "send_email"}, tool)
}

// leftOut tells whether a tool is not offered, for what the notes are used.
func (a *app) leftOut(t agent.Tool) bool {
	name := t.Spec().Name
	own := slices.ContainsFunc(a.builtin, func(b agent.Tool) bool { return b.Spec().Name == name })
	use := a.switches.notesNow()
	if own && tools.NeedsNotes(name) {
		return use == notesOff || len(a.open()) == 0
	}
	return use == notesOnly && (!own || hasPartners(name))
}

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
