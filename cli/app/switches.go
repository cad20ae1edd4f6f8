package app

import (
	"fmt"
	"slices"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/toolchoice"
)

// NotesUse is what the next turns have to work with.
type NotesUse string

const (
	NotesOn   NotesUse = "on"   // all tools
	NotesOnly NotesUse = "only" // no tool that asks others: the web, the weather, mail, servers
	NotesOff  NotesUse = "off"  // no tool of notes
)

// Switch is what a chat may change for its next turns. The zero value is as the
// settings say; it is safe for concurrent use.
type Switch[T any] struct{ chosen atomic.Pointer[T] }

// Guard is a switch that keeps back what would run. One that a flag of the
// command line turned on stays on for the whole process.
type Guard struct {
	fixed string // the flag that turned it on; "": none did
	on    atomic.Bool
}

// On reports whether the guard is on.
func (g *Guard) On() bool { return g.on.Load() }

// Use turns the guard on or off.
func (g *Guard) Use(on bool) error {
	if !on && g.fixed != "" {
		return fmt.Errorf("%s was given at the start and holds until LifeHub ends; start it without", g.fixed)
	}
	g.on.Store(on)
	return nil
}

// End says what ends the guard: the command of the chat, or only the end of the process.
func (g *Guard) End(command string) string {
	if g.fixed != "" {
		return g.fixed + " holds until LifeHub ends"
	}
	return command + " ends that"
}

// Use chooses a value.
func (s *Switch[T]) Use(value T) { s.chosen.Store(&value) }

// Or is what was chosen, else the usual value.
func (s *Switch[T]) Or(usual T) T {
	if chosen := s.chosen.Load(); chosen != nil {
		return *chosen
	}
	return usual
}

// Switches are all that a chat may change.
type Switches struct {
	Mode     Switch[agent.Mode]
	NotesUse Switch[NotesUse]
	ReadOnly Guard // no tool that writes or sends
	Approve  Guard // each plan is shown before it runs
	Think    Switch[string]
}

// leftOut reports whether a tool is not offered, for what the notes are used
// or because it has an effect.
func (a *App) leftOut(t agent.Tool) bool {
	if a.ReadOnly.On() && !agent.HasNoEffect(t) {
		return true
	}
	name := t.Spec().Name
	own := a.IsBuiltin(name)
	use := a.NotesUse.Or(NotesOn)
	if own && toolchoice.NeedsNotes(name) {
		return use == NotesOff || len(a.OpenVaults()) == 0
	}
	partners := []string{"web_search", "web_fetch", "crawl", "get_weather", "send_email"}
	return use == NotesOnly && (!own || slices.Contains(partners, name))
}
