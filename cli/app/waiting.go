package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Ready waits until the model server is known and the notes are up to date.
// Where the index cannot be written, what it holds is searched, and
// a.outdated says why.
func (a *App) Ready(ctx context.Context, bar *Bar) error {
	defer bar.Clear()
	for _, v := range a.OpenVaults() {
		_, err := a.Sync(ctx, v, bar.Sync)
		if err == nil {
			continue
		}
		if c, _ := v.Index.Coverage(ctx); ctx.Err() != nil || c.Indexed == 0 { //nolint:errcheck // 0: there is nothing to search
			return err
		}
		a.Outdated = fmt.Sprintf("searching the existing index: %v", err)
	}
	return nil
}

// ServerPatience is how long a message that names an MCP server waits for its
// start, and a command about servers for all of them.
const ServerPatience = 10 * time.Second

// newServerPatience is how long a message that names no server waits for those
// whose tools are not known yet: they have never started here.
const newServerPatience = 2 * time.Second

// WaitForServers returns when every server has started or failed to, or after
// serverPatience.
func (a *App) WaitForServers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ServerPatience)
	defer cancel()
	_ = a.Servers.Wait(ctx) // State reports which have not
}

// Prepare waits for what a text needs and what is on its way, and for the
// user's word on a model server of somebody else.
func (a *App) Prepare(ctx context.Context, text string, say func(string)) {
	a.askForServer(ctx, say)
	if !a.Waited {
		a.WaitForTools(ctx, text, say)
	}
	a.waitForNotes(ctx)
}

// WaitForTools waits for servers whose tools are not known yet: for those that a
// text names, and once for all others. The tools of servers that have run
// before are available already; only a call of one waits.
func (a *App) WaitForTools(ctx context.Context, text string, say func(string)) {
	named, others := a.Servers.Unknown(text)
	if len(named) > 0 {
		say("Waiting for MCP servers to start: " + strings.Join(named, ", ") + ".")
	}
	if a.waitedForNew.Swap(true) {
		others = nil
	}
	named = a.waitFor(ctx, named, ServerPatience)
	others = a.waitFor(ctx, others, newServerPatience)
	late := slices.Concat(named, others)
	if len(late) == 0 || ctx.Err() != nil {
		return
	}
	going := "Continuing without MCP servers that have not started yet: " + strings.Join(late, ", ") + "."
	if len(others) > 0 {
		going += " A question that names one waits longer."
	}
	say(going)
}

// waitFor waits until the servers have started or failed to, and returns those
// that did neither in time.
func (a *App) waitFor(ctx context.Context, names []string, limit time.Duration) (late []string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, name := range names {
		if a.Servers.Wait(ctx, name) != nil {
			late = append(late, name)
		}
	}
	return late
}

// notesPatience is how long a message waits for the first look at the notes.
// After that it goes on, and the answer says how many of them were searched.
const notesPatience = 10 * time.Second

// waitForNotes waits while an index that holds nothing yet is filled: a search
// of it would find that the notes don't say.
func (a *App) waitForNotes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, notesPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, v := range a.OpenVaults() {
		for v.Behind.Load() {
			if c, err := v.Index.Coverage(ctx); err != nil || c.Indexed > 0 {
				break
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}
}
