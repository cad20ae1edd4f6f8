package cli

import (
	"slices"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/tools"
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
