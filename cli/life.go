package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/llm"
	"lifehub/rag"
	"lifehub/store"
	"lifehub/store/file"
	"lifehub/tui/backend"
)

// life is what goes on behind a chat: the notes are brought up to date, the
// model server comes and goes, MCP servers start. It tells the screen about it.
type life struct {
	*app.App
	status  chan backend.Status
	notices chan string
	wake    chan struct{} // the notes, or who embeds them, changed
	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	indexing bool
	progress rag.Progress
}

// begin starts what goes on behind a chat. It ends with ctx; wait waits for that.
func begin(ctx context.Context, a *app.App) *life {
	l := &life{App: a, status: make(chan backend.Status, 1), notices: make(chan string, 16), wake: make(chan struct{}, 1)}
	l.tell()
	for _, text := range a.Settings.Notices() {
		l.notice(text)
	}
	for _, text := range a.Folder.Notices {
		l.notice(text)
	}
	for _, gone := range a.Gone {
		l.notice("This chat goes without " + gone)
	}
	if first := a.ServerTrust.FirstUse(); first != "" {
		l.notice(first)
	}
	l.stale()
	l.spawn(func() { l.followProvider(ctx) })
	l.spawn(func() { l.followNotes(ctx) })
	l.spawn(func() { l.guardStore(ctx) })
	l.spawn(func() { l.followServers(ctx) })
	l.spawn(func() { l.followServersFile(ctx) })
	l.spawn(func() { l.followMemory(ctx, a.Agent()) })
	return l
}

// guardStore looks for damage after an unclean end, and makes the backup of the
// day. Neither holds up the chat.
func (l *life) guardStore(ctx context.Context) {
	if text := l.Store.Warning(); text != "" {
		l.notice(text)
	}
	err := l.Store.Check(ctx)
	var damaged *file.DamagedError
	if err == nil {
		err = l.Store.BackUp(ctx) // of a damaged one there are enough
	}
	switch {
	case errors.As(err, &damaged):
		l.notice("Conversations: " + err.Error() + ".")
	case err != nil && ctx.Err() == nil:
		slog.Warn("guard the conversations", "error", err)
		l.notice(fmt.Sprintf("The backup of the conversations was not made: %v.", err))
	}
}

// spawn runs f in a goroutine that wait waits for. A fault in it is logged
// and does not end the chat.
func (l *life) spawn(f func()) {
	l.running.Add(1)
	go func() {
		defer l.running.Done()
		defer func() {
			if fault := recover(); fault != nil {
				slog.Error("background work", "fault", fault, "stack", string(debug.Stack()))
				l.notice(fmt.Sprintf("Something in the background broke: %v. The log has more.", fault))
			}
		}()
		f()
	}()
}

func (l *life) wait() { l.running.Wait() }

// stale says that the index no longer matches the notes; followNotes will
// bring it up to date.
func (l *life) stale() {
	for _, v := range l.Indexed() {
		v.Behind.Store(true)
	}
	select {
	case l.wake <- struct{}{}:
	default: // it has been said and not been heard yet
	}
}

// notice tells the user something; when nobody reads, the oldest is dropped.
func (l *life) notice(text string) {
	for {
		select {
		case l.notices <- text:
			return
		default:
		}
		select {
		case <-l.notices:
		default:
		}
	}
}

// tell sends the screen a snapshot; it replaces one that was not read yet.
func (l *life) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	coverage, err := l.Library().Coverage(context.Background())
	if err != nil {
		slog.Warn("how far the index is", "error", err)
	}
	state := l.Provider.State()
	scope := ""
	if use := l.Switches.NotesNow(); use != app.NotesOn {
		scope = "notes " + string(use)
	}
	s := backend.Status{
		Scope:    scope,
		Provider: state.Provider, Model: state.Model, Window: l.Provider.Window(), Sent: l.Sent(),
		Notes: coverage.Total, Indexed: coverage.Indexed, Indexing: l.indexing || coverage.Unread > 0,
	}
	if l.indexing && l.progress.Total > 0 {
		s.Notes, s.Indexed = l.progress.Total, l.progress.Done
	}
	select {
	case <-l.status:
	default:
	}
	l.status <- s
}

// receiptEvery is how often the screen learns how much has left this machine,
// and of a model or window that became known.
const receiptEvery = 2 * time.Second

// followProvider passes on what happens to the model server. When the model
// that makes vectors changes, the notes are embedded again while words answer.
func (l *life) followProvider(ctx context.Context) {
	l.spawn(func() {
		if _, err := l.Provider.Info(ctx, ""); err == nil { // which model answers, before it is asked
			l.tell()
		}
	})
	receipt := time.NewTicker(receiptEvery)
	defer receipt.Stop()
	type facts struct {
		sent   int64
		model  string
		window int
	}
	var told facts
	for {
		select {
		case <-ctx.Done():
			return
		case <-receipt.C:
			if now := (facts{l.Sent(), l.Provider.State().Model, l.Provider.Window()}); now != told {
				told = now
				l.tell()
			}
		case change := <-l.Changes:
			if l.news(change) {
				l.notice(change.Text)
			}
			l.tell()
			l.stale()
			l.Archived()
		}
	}
}

// followMemory embeds what was archived, and all of it when the embedder changes.
func (l *life) followMemory(ctx context.Context, a *turn.Agent) {
	l.Archived()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.Unembedded:
			if err := a.EmbedMemories(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("embed the memory", "error", err)
			}
		}
	}
}

// followServers tells of servers that wait for the user to see something.
func (l *life) followServers(ctx context.Context) {
	told := map[string]string{} // by server
	for {
		before := told
		told = map[string]string{}
		for _, s := range l.Servers.State() {
			text := app.Unseen(s)
			told[s.Name] = text
			if text != before[s.Name] {
				if text != "" {
					l.notice(text)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-l.Servers.Changes():
		}
	}
}

// followNotes brings every folder up to date whenever that is called for.
func (l *life) followNotes(ctx context.Context) {
	yieldToScreen()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wake:
			l.syncAll(ctx)
		}
	}
}

func (l *life) syncAll(ctx context.Context) {
	l.setIndexing(true, rag.Progress{})
	var last time.Time
	for _, v := range l.Indexed() {
		changes, err := l.Sync(ctx, v, func(p rag.Progress) {
			if time.Since(last) > 100*time.Millisecond {
				last = time.Now()
				l.setIndexing(true, p)
			}
		})
		v.Behind.Store(false)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			l.notice(fmt.Sprintf("The notes could not be indexed: %v.", err))
		}
		if changes.Rebuilt != "" {
			l.notice("The index was made anew: " + changes.Rebuilt + ".")
		}
	}
	l.setIndexing(false, rag.Progress{})
	l.watch(ctx)
}

// watch keeps each index like its folder from now on.
func (l *life) watch(ctx context.Context) {
	for _, v := range l.OpenVaults() {
		if v.Watched {
			continue
		}
		v.Watched = true
		l.spawn(func() {
			yieldToScreen()
			_ = v.Index.Watch(ctx, v.Folder, func() llm.Embedder { return l.Embedder(ctx) }, func(c rag.Changes, err error) {
				if err != nil && ctx.Err() == nil {
					l.notice(fmt.Sprintf("The notes could not be indexed: %v.", err))
				}
				l.tell()
			}) // it ends with ctx
		})
	}
}

func (l *life) setIndexing(on bool, p rag.Progress) {
	l.mu.Lock()
	l.indexing, l.progress = on, p
	l.mu.Unlock()
	l.tell()
}

// conversations is the store as the screen wants it.
type conversations struct{ *store.Store }

func (c conversations) New(context.Context) (string, error) { return c.NewConversation(), nil }

func (c conversations) Recent(ctx context.Context, limit int) ([]agent.Conversation, error) {
	return c.Conversations(ctx, limit)
}

// models is the provider as the screen wants it.
type models struct{ *app.App }

func (m models) List(ctx context.Context) ([]llm.Info, error) { return m.Provider.Models(ctx) }

func (m models) Use(ctx context.Context, name string) error { return m.Provider.SetModel(ctx, name) }

func (m models) Pull(ctx context.Context, name string, progress func(string, int64, int64)) error {
	return m.Provider.Pull(ctx, name, func(p llm.Progress) { progress(p.Status, p.Done, p.Total) })
}
