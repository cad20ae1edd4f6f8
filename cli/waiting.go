package cli

import (
	"context"
	"strings"
	"time"

	"lifehub/mcpclient"
)

// ready waits until the model server is known and the notes are up to date.
func (a *app) ready(ctx context.Context, bar *bar) error {
	defer bar.clear()
	for _, v := range a.indexed() {
		if _, err := a.sync(ctx, v, bar.sync); err != nil {
			return err
		}
	}
	return nil
}

// serverPatience is how long a command without a screen waits for MCP
// servers, each of which may take 10 s to start.
const serverPatience = 10 * time.Second

// quietPatience is how long that wait needs no word.
const quietPatience = time.Second

// waitForServers returns when every server has started or failed to, or after
// serverPatience. say, if there is one, is told whom the wait is for, and who
// stays out of this run.
func (a *app) waitForServers(ctx context.Context, say func(string)) {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	soon, stop := context.WithTimeout(ctx, quietPatience)
	defer stop()
	if a.servers.Wait(soon) == nil {
		return
	}
	if say != nil {
		say("waiting for " + a.late() + " to start")
	}
	if a.servers.Wait(ctx) != nil && say != nil {
		say("going on without " + a.late())
	}
}

// prepare waits for what a message needs and what is on its way.
func (a *app) prepare(ctx context.Context, message string) {
	a.waitForNamed(ctx, message)
	a.waitForNotes(ctx)
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

// waitForNamed waits for the servers that a message names, if they are still
// starting.
func (a *app) waitForNamed(ctx context.Context, message string) {
	var names []string
	for _, s := range a.servers.State() {
		if s.Status == mcpclient.Starting && strings.Contains(message, s.Name) {
			names = append(names, s.Name)
		}
	}
	if len(names) > 0 {
		ctx, cancel := context.WithTimeout(ctx, serverPatience)
		defer cancel()
		_ = a.servers.Wait(ctx, names...) // what is not there then is not offered
	}
}

// late names the servers that are still starting.
func (a *app) late() string {
	var names []string
	for _, s := range a.servers.State() {
		if s.Status == mcpclient.Starting {
			names = append(names, s.Name)
		}
	}
	return strings.Join(names, ", ")
}
