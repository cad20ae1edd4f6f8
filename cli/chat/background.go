package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
	"lifehub/store/file"
	"lifehub/tui/backend"
	"lifehub/tui/draw"
)

// background is what goes on behind a chat: the notes are brought up to date, the
// model server comes and goes, MCP servers start. It tells the screen about it.
type background struct {
	App     *app.App
	status  chan backend.Status
	notices chan string
	wake    chan struct{} // the notes, or who embeds them, changed
	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	indexing bool
	progress rag.Progress
	overview rag.Overview
}

// startBackground starts what goes on behind a chat. It ends with ctx; wait waits for that.
func startBackground(ctx context.Context, a *app.App) *background {
	bg := &background{App: a, status: make(chan backend.Status, 1), notices: make(chan string, 16), wake: make(chan struct{}, 1)}
	bg.tell()
	for _, text := range a.Notices("this chat goes") {
		bg.notice(text)
	}
	bg.stale()
	bg.spawn(func() { bg.followProvider(ctx) })
	bg.spawn(func() { bg.followNotes(ctx) })
	bg.spawn(func() { bg.backUp(ctx) })
	bg.spawn(func() { bg.followServers(ctx) })
	bg.spawn(func() { bg.followMemory(ctx, a.Agent()) })
	return bg
}

// backUp makes the daily backup.
func (bg *background) backUp(ctx context.Context) {
	err := bg.App.Store.BackUp(ctx)
	var damaged *file.DamagedError
	switch {
	case errors.As(err, &damaged):
		bg.notice("Conversations: " + damaged.Error() + ".")
	case err != nil && ctx.Err() == nil:
		slog.Warn("back up the conversations", "error", err)
		bg.notice(fmt.Sprintf("The conversations could not be backed up: %v.", err))
	}
}

// spawn runs f in a goroutine that wait waits for. A fault in it is logged
// and does not end the chat.
func (bg *background) spawn(f func()) {
	bg.running.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				slog.Error("background work", "fault", fault, "stack", string(debug.Stack()))
				bg.notice(fmt.Sprintf("A background task failed: %v. The log says more.", fault))
			}
		}()
		f()
	})
}

func (bg *background) wait() { bg.running.Wait() }

// stale says that the index no longer matches the notes; followNotes will
// bring it up to date.
func (bg *background) stale() {
	for _, v := range bg.App.OpenVaults() {
		v.Behind.Store(true)
	}
	select {
	case bg.wake <- struct{}{}:
	default: // it has been said and not been heard yet
	}
}

// notice tells the user something; when nobody reads, the oldest is dropped.
func (bg *background) notice(text string) {
	for {
		select {
		case bg.notices <- text:
			return
		default:
		}
		select {
		case <-bg.notices:
		default:
		}
	}
}

// tell sends the screen a snapshot; it replaces one that was not read yet.
func (bg *background) tell() {
	bg.mu.Lock()
	defer bg.mu.Unlock()
	coverage, err := bg.App.Library().Coverage(context.Background())
	if err != nil {
		slog.Warn("how far the index is", "error", err)
	}
	state := bg.App.Provider.State()
	s := backend.Status{
		Provider: state.Provider, Model: state.Model, Remote: state.Remote, Window: bg.App.Provider.Window(), Sent: bg.App.Sent(),
		Notes: coverage.Total, Indexed: coverage.Indexed, Indexing: bg.indexing || coverage.Unread > 0,
		Unreadable: coverage.Unreadable,
	}
	fitting, _ := bg.App.FittingMode()
	s.Fitting = string(fitting)
	s.ReadOnly = bg.App.ReadOnly.On()
	s.Vault, s.News, s.Questions = bg.glance(s.Notes, state.Provider)
	if use := bg.App.NotesUse.Or(app.NotesOn); use != app.NotesOn {
		s.Scope = "notes " + string(use)
	}
	if bg.indexing && bg.progress.Total > 0 {
		s.Notes, s.Indexed, s.Embedding = bg.progress.Total, bg.progress.Done, bg.progress.Phase == "embed"
	}
	select {
	case <-bg.status:
	default:
	}
	bg.status <- s
}

// receiptEvery is how often the screen learns how much has left this machine,
// and of a model or window that became known.
const receiptEvery = 2 * time.Second

// followProvider passes on what happens to the model server. When the model
// that makes vectors changes, the notes are embedded again while words answer.
func (bg *background) followProvider(ctx context.Context) {
	bg.spawn(func() {
		if text := bg.App.FoundServer(ctx); text != "" {
			bg.notice(text)
		}
		if _, err := bg.App.Provider.Info(ctx, ""); err == nil { // which model answers, before it is asked
			bg.tell()
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
			if now := (facts{bg.App.Sent(), bg.App.Provider.State().Model, bg.App.Provider.Window()}); now != told {
				told = now
				bg.tell()
			}
		case change := <-bg.App.Changes:
			if bg.shouldNotify(change) {
				bg.notice(change.Text)
			}
			bg.tell()
			bg.stale()
			bg.App.Archived()
		}
	}
}

// followMemory embeds what was archived, and all of it when the embedder changes.
func (bg *background) followMemory(ctx context.Context, a *turn.Agent) {
	bg.App.Archived()
	for {
		select {
		case <-ctx.Done():
			return
		case <-bg.App.Unembedded:
			if err := a.Memory.EmbedAll(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("embed the memory", "error", err)
			}
		}
	}
}

// followServersEvery is how often mcp.json is read to see whether it has changed.
const followServersEvery = time.Second

// followServers applies changes of mcp.json, and tells of servers that wait for
// the user to see something.
func (bg *background) followServers(ctx context.Context) {
	tick := time.NewTicker(followServersEvery)
	defer tick.Stop()
	told := map[string]string{} // by server
	for {
		for _, s := range bg.App.Servers.State() {
			text := app.Unseen(s)
			if text != "" && text != told[s.Name] {
				bg.notice(text)
			}
			told[s.Name] = text
		}
		select {
		case <-ctx.Done():
			return
		case <-bg.App.Servers.Changes():
		case <-tick.C:
			if text := bg.App.LookAtServers(); text != "" {
				bg.notice(text)
			}
		}
	}
}

// followFoldersEvery is how often the settings are looked at for further folders.
const followFoldersEvery = time.Second

// followFolders takes in the folders of notes that become known while the chat
// is open, as by `lifehub index`.
func (bg *background) followFolders(ctx context.Context, getenv func(string) (string, bool)) {
	tick := time.NewTicker(followFoldersEvery)
	defer tick.Stop()
	known := slices.Clone(bg.App.Settings.Notes)
	for seen := (time.Time{}); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		file, err := os.Stat(bg.App.Paths.ConfigFile())
		if err != nil || file.ModTime().Equal(seen) {
			continue
		}
		seen = file.ModTime()
		now, err := settings.Load(bg.App.Paths.ConfigFile(), getenv)
		if err != nil {
			continue // doctor says what is wrong with it
		}
		for _, name := range now.Notes {
			dir, err := settings.VaultDir(app.AtHome(name))
			if err != nil || slices.Contains(known, name) || slices.ContainsFunc(bg.App.Folders(), func(open *notes.Folder) bool { return open.Dir() == dir }) {
				continue
			}
			known = append(known, name)
			if err := bg.App.OpenVault(dir); err != nil {
				bg.notice(fmt.Sprintf("The notes in %s cannot be used: %v.", name, err))
				continue
			}
			bg.notice(fmt.Sprintf("%s is one of your folders of notes now, and is searched from here on.", name))
			bg.stale()
		}
	}
}

// followNotes brings every folder up to date whenever that is called for.
func (bg *background) followNotes(ctx context.Context) {
	lowerPriority()
	for {
		select {
		case <-ctx.Done():
			return
		case <-bg.wake:
			bg.syncAll(ctx)
		}
	}
}

func (bg *background) syncAll(ctx context.Context) {
	bg.setIndexing(true, rag.Progress{})
	var last time.Time
	for _, v := range bg.App.OpenVaults() {
		changes, err := bg.App.Sync(ctx, v, func(p rag.Progress) {
			if time.Since(last) > 100*time.Millisecond {
				last = time.Now()
				bg.setIndexing(true, p)
			}
		})
		v.Behind.Store(false)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			bg.notice(fmt.Sprintf("The notes could not be indexed: %v.", err))
		}
		if changes.Rebuilt != "" {
			bg.notice("The index was rebuilt: " + changes.Rebuilt + ".")
		}
	}
	bg.setIndexing(false, rag.Progress{})
	bg.lookOver(ctx)
	bg.watch(ctx)
}

// lookOver tells what the notes have to offer, now that they are read.
func (bg *background) lookOver(ctx context.Context) {
	overview := bg.App.Library().Overview(ctx, time.Now())
	bg.mu.Lock()
	bg.overview = overview
	bg.mu.Unlock()
	bg.tell()
}

// glance is what the screen says of the notes before the first question. The
// caller holds mu.
func (bg *background) glance(notes int, provider string) (vault, news string, questions []string) {
	switch vaults := bg.App.OpenVaults(); len(vaults) {
	case 0:
	case 1:
		vault = filepath.Base(vaults[0].Folder.Dir())
	default:
		vault = draw.Count(len(vaults), "folder")
	}
	var parts []string
	if o := bg.overview; o.Changed > 0 && 2*o.Changed < notes { // else the folder is new here
		parts = append(parts, draw.Thousands(o.Changed)+" changed since yesterday")
	}
	questions = bg.overview.Questions
	if due := bg.overview.Due; due > 0 {
		parts = append(parts, draw.Count(due, "task")+" due")
		if provider != "offline" { // which finds notes, and lists no tasks
			questions = slices.Insert(slices.Clone(questions), min(1, len(questions)), "which tasks are due?")
		}
	}
	return vault, strings.Join(parts, " · "), questions[:min(len(questions), 3)]
}

// watch keeps each index like its folder from now on.
func (bg *background) watch(ctx context.Context) {
	for _, v := range bg.App.OpenVaults() {
		if v.Watched {
			continue
		}
		v.Watched = true
		bg.spawn(func() {
			lowerPriority()
			_ = v.Index.Watch(ctx, v.Folder, func() llm.Embedder { return bg.App.Embedder(ctx) }, func(c rag.Changes, err error) {
				if err != nil && ctx.Err() == nil {
					bg.notice(fmt.Sprintf("The notes could not be indexed: %v.", err))
				}
				bg.lookOver(ctx)
			}) // it ends with ctx
		})
	}
}

func (bg *background) setIndexing(on bool, p rag.Progress) {
	bg.mu.Lock()
	bg.indexing, bg.progress = on, p
	bg.mu.Unlock()
	bg.tell()
}

// conversations is the store as the screen wants it.
type conversations struct{ *store.Store }

func (c conversations) New(context.Context) (string, error) { return c.NewConversation(), nil }

func (c conversations) Recent(ctx context.Context, limit int) ([]agent.Conversation, error) {
	return c.Conversations(ctx, limit)
}

// models is the provider as the screen wants it.
type models struct{ App *app.App }

func (m models) List(ctx context.Context) <-chan llm.Listing { return m.App.Models.List(ctx) }

func (m models) Use(ctx context.Context, name string) error {
	return m.App.Provider.SetModel(ctx, name)
}

func (m models) Pull(ctx context.Context, name string, progress func(string, int64, int64)) error {
	return m.App.Provider.Pull(ctx, name, func(p llm.Progress) { progress(p.Status, p.Done, p.Total) })
}
