package app

import (
	"slices"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/tools"
)

// NotesUse is what the next turns have to work with.
type NotesUse string

const (
	NotesOn   NotesUse = "on"   // all tools
	NotesOnly NotesUse = "only" // no tool that asks others: the web, the weather, mail, servers
	NotesOff  NotesUse = "off"  // no tool of notes
)

// switches are what a chat changes for its next turns. The zero value is as
// the settings say; it is safe for concurrent use.
type switches struct {
	Notes atomic.Pointer[NotesUse]
	Think atomic.Pointer[string]
}

func (s *switches) NotesNow() NotesUse {
	if use := s.Notes.Load(); use != nil {
		return *use
	}
	return NotesOn
}

func (s *switches) ThinkNow(setting string) string {
	if think := s.Think.Load(); think != nil {
		return *think
	}
	return setting
}

// hasPartners reports which built-in tools ask somebody beyond this machine.
func hasPartners(tool string) bool {
	return slices.Contains([]string{"web_search", "web_fetch", "crawl", "get_weather", "send_email"}, tool)
}

// leftOut reports whether a tool is not offered, for what the notes are used.
func (a *App) leftOut(t agent.Tool) bool {
	name := t.Spec().Name
	own := slices.ContainsFunc(a.Builtin, func(b agent.Tool) bool { return b.Spec().Name == name })
	use := a.Switches.NotesNow()
	if own && tools.NeedsNotes(name) {
		return use == NotesOff || len(a.OpenVaults()) == 0
	}
	return use == NotesOnly && (!own || hasPartners(name))
}

// mode is how the next turn is worked on. The zero value is by a plan; it is
// safe for concurrent use.
type mode struct{ name atomic.Pointer[agent.Mode] }

func (m *mode) Use(name agent.Mode) { m.name.Store(&name) }

func (m *mode) now() agent.Mode {
	if name := m.name.Load(); name != nil {
		return *name
	}
	return agent.PlanMode
}
