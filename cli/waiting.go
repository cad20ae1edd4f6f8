package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ready waits until the model server is known and the notes are up to date.
// Where the index cannot be written, what it holds is searched, and
// a.outdated says why.
func (a *app) ready(ctx context.Context, bar *bar) error {
	defer bar.clear()
	for _, v := range a.indexed() {
		_, err := a.sync(ctx, v, bar.sync)
		if err == nil {
			continue
		}
		if c, _ := v.index.Coverage(ctx); ctx.Err() != nil || c.Indexed == 0 { //nolint:errcheck // 0: there is nothing to search
			return err
		}
		a.outdated = fmt.Sprintf("searching what was indexed before: %v", err)
	}
	return nil
}

// serverPatience is how long a message that names an MCP server waits for its
// start, and a command about servers for all of them.
const serverPatience = 10 * time.Second

// newServerPatience is how long a message that names no server waits for those
// whose tools are not known yet: they have never started here.
const newServerPatience = 2 * time.Second

// waitForServers returns when every server has started or failed to, or after
// serverPatience.
func (a *app) waitForServers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	_ = a.servers.Wait(ctx) // State tells which have not
}

// prepare waits for what a text needs and what is on its way.
func (a *app) prepare(ctx context.Context, text string, say func(string)) {
	if !a.waited {
		a.waitForTools(ctx, text, say)
	}
	a.waitForNotes(ctx)
}

// waitForTools waits for servers whose tools are not known yet: for those that a
// text names, and once for all others. The tools of servers that have run
// before are available already; only a call of one waits.
func (a *app) waitForTools(ctx context.Context, text string, say func(string)) {
	named, others := a.servers.Unknown(text)
	if len(named) > 0 {
		say("Waiting for MCP servers to start: " + strings.Join(named, ", ") + ".")
	}
	if a.waitedForNew.Swap(true) {
		others = nil
	}
	named = a.waitFor(ctx, named, serverPatience)
	others = a.waitFor(ctx, others, newServerPatience)
	late := slices.Concat(named, others)
	if len(late) == 0 || ctx.Err() != nil {
		return
	}
	going := "Going on without MCP servers that have not started yet: " + strings.Join(late, ", ") + "."
	if len(others) > 0 {
		going += " A question that names one waits longer."
	}
	say(going)
}

// waitFor waits until the servers have started or failed to, and returns those
// that did neither in time.
func (a *app) waitFor(ctx context.Context, names []string, limit time.Duration) (late []string) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, name := range names {
		if a.servers.Wait(ctx, name) != nil {
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
func (a *app) waitForNotes(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, notesPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, v := range a.open() {
		for v.behind.Load() {
			if c, err := v.index.Coverage(ctx); err != nil || c.Indexed > 0 {
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
