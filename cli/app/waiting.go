package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/rag"
)

// Ready syncs the indexes of the notes. Of a large folder that is new it reads the notes with words of the question
// first, if it is not "", and returns when they can be searched, while the rest is read until Close. If an index
// cannot be updated but has content, that content is searched and a.Outdated holds the reason.
func (a *App) Ready(ctx context.Context, question string, bar *Bar) error {
	defer bar.Clear()
	for _, v := range a.OpenVaults() {
		err := a.readFirst(ctx, v, question, bar)
		if err == nil {
			continue
		}
		if c, _ := v.Index.Coverage(ctx); ctx.Err() != nil || c.Indexed == 0 { // nothing to search
			return err
		}
		a.Outdated = fmt.Sprintf("searching the existing index: %v", err)
	}
	return nil
}

// manyNotes are not compared with their files before each question: that takes as long as the search. Those that it
// finds are. maxUnchecked is how long ago all of them were compared at most.
var (
	manyNotes    = 20_000
	maxUnchecked = 24 * time.Hour
)

// readFirst syncs the index of a vault, as far as a question needs it.
func (a *App) readFirst(ctx context.Context, v *Vault, question string, bar *Bar) error {
	if question == "" {
		_, err := a.Sync(ctx, v, bar.Sync)
		return err
	}
	if settled, count, age := v.Index.Settled(ctx, a.Embedder(ctx)); settled && count >= manyNotes &&
		age < maxUnchecked && !v.Lost() {
		v.unchecked = true
		return nil
	}
	syncing, stop := context.WithCancel(ctx)
	waiting, found := context.WithCancel(ctx)
	defer found()
	done := make(chan error, 1)
	go func() {
		var err error
		defer func() { done <- err }()
		defer found()
		defer agent.Catch(&err)
		_, err = a.Sync(syncing, v, func(p rag.Progress) {
			if waiting.Err() == nil {
				bar.Sync(p)
			}
		})
	}()
	if !v.Index.First(waiting, question) {
		defer stop()
		return <-done
	}
	a.reading = append(a.reading, func() {
		stop()
		<-done
	})
	return nil
}

// ServerPatience bounds the wait for an MCP server that a message names, and of commands about
// servers for all servers.
const ServerPatience = 10 * time.Second

// newServerPatience bounds the wait for servers that a message does not name and whose tools are
// unknown because they never ran here.
const newServerPatience = 2 * time.Second

// WaitForServers waits until every server has started or failed, at most ServerPatience.
func (a *App) WaitForServers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, ServerPatience)
	defer cancel()
	_ = a.Servers.Wait(ctx) // State reports which have not
}

// Prepare waits for what a message needs: permission to use another user's model server, MCP tools,
// and the notes.
func (a *App) Prepare(ctx context.Context, text string, say func(string)) {
	a.askForServer(ctx, say)
	if !a.Waited {
		a.WaitForTools(ctx, text, say)
	}
	a.waitForNotes(ctx, text)
}

// WaitForTools waits for servers whose tools are unknown: those that text names and, once per run,
// all others. The tools of servers that ran before are available already; a call waits for its
// server.
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

// waitFor waits until the servers have started or failed, and returns those that did neither in
// time.
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

// notesPatience bounds the wait of a message for the first sync. After that the answer reports how
// many notes were searched.
const notesPatience = 10 * time.Second

// waitForNotes waits while new folders are read, of a large one only for the notes with words of the message.
// Searching before would find nothing, as if the notes had no answer.
func (a *App) waitForNotes(ctx context.Context, text string) {
	ctx, cancel := context.WithTimeout(ctx, notesPatience)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for _, v := range a.OpenVaults() {
		if !v.Behind.Load() {
			continue
		}
		first := make(chan struct{})
		waiting, stop := context.WithCancel(ctx)
		go agent.Safely(func() {
			defer close(first)
			v.Index.First(waiting, text)
		})
		for reading := true; reading && v.Behind.Load(); {
			c, err := v.Index.Coverage(ctx)
			reading = err == nil && (c.Indexed == 0 || c.Unread > 0)
			select {
			case <-first:
				reading = false
			case <-tick.C:
			}
		}
		stop()
		<-first
	}
}
