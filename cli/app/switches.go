package app

import (
	"fmt"
	"slices"
	"sync/atomic"

	"lifehub/agent"
	"lifehub/agent/tools"
)

// NotesUse determines which tools the next turns have.
type NotesUse string

const (
	NotesOn   NotesUse = "on"   // all tools
	NotesOnly NotesUse = "only" // no tool that contacts others: web, weather, mail, MCP servers
	NotesOff  NotesUse = "off"  // no note tools
)

// Switch is a setting that a chat may change for its next turns. Its zero value means the value
// from the settings. It is safe for concurrent use.
type Switch[T any] struct{ chosen atomic.Pointer[T] }

// Restriction is a switch that restricts what may run. If a command-line flag turned it on, it stays on
// until the process ends.
type Restriction struct {
	fixed string // the flag that turned it on, or ""
	on    atomic.Bool
}

// On reports whether the restriction is on.
func (r *Restriction) On() bool { return r.on.Load() }

// Use turns the restriction on or off. It returns an error if a flag fixed it.
func (r *Restriction) Use(on bool) error {
	if !on && r.fixed != "" {
		return fmt.Errorf("%s was given at the start and applies until LifeHub exits; start it without", r.fixed)
	}
	r.on.Store(on)
	return nil
}

// End describes how the restriction ends: with the given command, or only with the process.
func (r *Restriction) End(command string) string {
	if r.fixed != "" {
		return r.fixed + " applies until LifeHub exits"
	}
	return command + " ends that"
}

// Use sets the value.
func (s *Switch[T]) Use(value T) { s.chosen.Store(&value) }

// Or returns the value that was set, or usual if none was.
func (s *Switch[T]) Or(usual T) T {
	if chosen := s.chosen.Load(); chosen != nil {
		return *chosen
	}
	return usual
}

// Switches are the settings that a chat may change.
type Switches struct {
	Mode     Switch[agent.Mode]
	NotesUse Switch[NotesUse]
	ReadOnly Restriction // no tool that writes or sends
	Approve  Restriction // each plan is shown before it runs
	Think    Switch[string]
}

// leftOut reports whether a tool is not offered because of NotesUse or the read-only guard.
func (a *App) leftOut(t agent.Tool) bool {
	if a.ReadOnly.On() && !agent.HasNoEffect(t) {
		return true
	}
	name := t.Spec().Name
	own := a.IsBuiltin(name)
	use := a.NotesUse.Or(NotesOn)
	if own && tools.NeedsNotes(name) {
		return use == NotesOff || len(a.OpenVaults()) == 0
	}
	partners := []string{"web_search", "web_fetch", "crawl", "get_weather", "send_email"}
	return use == NotesOnly && (!own || slices.Contains(partners, name))
}
