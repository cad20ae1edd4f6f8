package chatcmd

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/agent/turn"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
	"lifehub/tui/draw"
)

// background is the work behind an open chat: it syncs the notes, follows the model server and the
// MCP servers, and reports changes to the front end.
type background struct {
	App     *app.App
	status  chan chat.Status
	notices chan string
	wake    chan struct{} // the notes or the embedder changed
	running sync.WaitGroup

	mu       sync.Mutex // guards the fields below
	indexing bool
	progress rag.Progress
	overview rag.Overview
	due      []chat.Task // the first of the tasks that are due
}

// startBackground starts the work behind a chat with an assistant. It stops when ctx ends; wait
// waits for that. The model reads the beginning of the prompts of the conversation; "": it does not.
func startBackground(ctx context.Context, a *app.App, assistant *turn.Agent, conversation string) *background {
	bg := &background{
		App: a, status: make(chan chat.Status, 1), notices: make(chan string, 16),
		wake: make(chan struct{}, 1),
	}
	bg.tell()
	for _, text := range a.Notices("this chat goes") {
		bg.notice(text)
	}
	bg.stale()
	bg.spawn(func() { bg.followProvider(ctx, assistant, conversation) })
	bg.spawn(func() { bg.followNotes(ctx) })
	a.BackUpDaily(ctx, bg.notice)
	bg.spawn(func() { bg.followServers(ctx) })
	bg.spawn(func() { bg.followMemory(ctx, assistant) })
	return bg
}

// spawn runs f in a goroutine that wait waits for. A panic in f is logged and does not end the
// chat.
func (bg *background) spawn(f func()) {
	bg.running.Go(func() {
		defer func() {
			if fault := recover(); fault != nil {
				slog.Error("background work", "fault", fault, "stack", string(debug.Stack()))
				bg.notice(fmt.Sprintf("A background task failed: %v; see the log.", fault))
			}
		}()
		f()
	})
}

func (bg *background) wait() { bg.running.Wait() }

// stale marks the indexes as outdated and wakes followNotes to sync them.
func (bg *background) stale() {
	for _, v := range bg.App.OpenVaults() {
		v.Behind.Store(true)
	}
	select {
	case bg.wake <- struct{}{}:
	default: // already signalled
	}
}

// notice queues a notice for the user. If the queue is full, the oldest is dropped.
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

// tell sends a snapshot of the status, replacing one that was not read yet.
func (bg *background) tell() {
	bg.mu.Lock()
	defer bg.mu.Unlock()
	coverage, err := bg.App.Library().Coverage(context.Background())
	if err != nil {
		slog.Warn("how far the index is", "error", err)
	}
	state := bg.App.Provider.State()
	s := chat.Status{
		Provider: state.Provider, Model: state.Model, Remote: state.Remote,
		Window: bg.App.Provider.Window(), Sent: bg.App.Sent(),
		Notes: coverage.Total, Indexed: coverage.Indexed, Indexing: bg.indexing || coverage.Unread > 0,
		Unreadable: coverage.Unreadable,
	}
	fitting, _ := bg.App.FittingMode()
	s.Fitting = string(fitting)
	s.ReadOnly = bg.App.ReadOnly.On()
	s.Vault, s.News, s.Questions = bg.glance(s.Notes)
	s.Due = bg.due
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

// receiptEvery is how often the number of bytes sent, the model and the window are checked for
// changes.
const receiptEvery = 2 * time.Second

// followProvider reports changes of the model server. If the embedding model changes, the notes are
// embedded again while keyword search keeps working. Each model on this machine reads the beginning
// of the prompts.
func (bg *background) followProvider(ctx context.Context, assistant *turn.Agent, conversation string) {
	named := make(chan struct{}, 1)
	bg.spawn(func() {
		if text := bg.App.FoundServer(ctx); text != "" {
			bg.notice(text)
		}
		if _, err := bg.App.Provider.Info(ctx, ""); err == nil { // learn the model's name before the first question
			named <- struct{}{}
		}
	})
	receipt := time.NewTicker(receiptEvery)
	defer receipt.Stop()
	type facts struct {
		sent   int64
		model  string
		window int
		small  bool
	}
	var shown facts
	type reader struct { // what the beginning of the prompts depends on
		model  string
		small  bool
		vaults int
	}
	var warm reader
	for {
		now := reader{bg.App.Provider.State().Model, bg.App.Traits().Small, len(bg.App.OpenVaults())}
		if now != warm && now.model != "" && conversation != "" {
			warm = now
			bg.spawn(func() { bg.App.Warm(ctx, assistant, conversation) })
		}
		select {
		case <-ctx.Done():
			return
		case <-named:
			bg.tell()
		case <-receipt.C:
			if now := (facts{
				bg.App.Sent(), bg.App.Provider.State().Model, bg.App.Provider.Window(),
				bg.App.Traits().Small,
			}); now != shown {
				if _, why := bg.App.FittingMode(); now.small && !shown.small && now.model == shown.model &&
					now.window == shown.window {
					bg.notice(text.AsSentence(why)) // its first answer told
				}
				shown = now
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

// followMemory embeds what was archived, and everything again when the embedder changes.
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

// followServersEvery is how often mcp.json is checked for changes.
const followServersEvery = time.Second

// followServers applies changes of mcp.json and reports servers with changes to review.
func (bg *background) followServers(ctx context.Context) {
	tick := time.NewTicker(followServersEvery)
	defer tick.Stop()
	notified := map[string]string{} // last notice by server
	for {
		for _, s := range bg.App.Servers.State() {
			text := app.Unseen(s)
			if text != "" && text != notified[s.Name] {
				bg.notice(text)
			}
			notified[s.Name] = text
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

// followFoldersEvery is how often the settings are checked for new folders.
const followFoldersEvery = time.Second

// followFolders opens folders of notes that are added to the settings while the chat is open, as by
// `lifehub index`.
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
			continue // doctor reports the mistake
		}
		for _, name := range now.Notes {
			dir, err := settings.VaultDir(app.AtHome(name))
			if err != nil || slices.Contains(known, name) ||
				slices.ContainsFunc(bg.App.Folders(), func(open *notes.Folder) bool { return open.Dir() == dir }) {
				continue
			}
			known = append(known, name)
			if err := bg.App.OpenVault(dir); err != nil {
				bg.notice(fmt.Sprintf("The notes in %s cannot be used: %v.", name, err))
				continue
			}
			bg.notice(fmt.Sprintf("%s is now one of your notes folders, and is searched.", name))
			bg.stale()
		}
	}
}

// followNotes syncs all folders each time it is woken.
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

// lookOver updates the overview of the notes after a sync.
func (bg *background) lookOver(ctx context.Context) {
	today := when.DayOf(time.Now())
	overview, due := bg.App.Library().Overview(ctx, today), bg.dueTasks(ctx, today)
	bg.mu.Lock()
	bg.overview, bg.due = overview, due
	bg.mu.Unlock()
	bg.tell()
}

// mostDue bounds the due tasks on the welcome screen.
const mostDue = 2

// dueTasks returns the tasks that are due first.
func (bg *background) dueTasks(ctx context.Context, today when.Day) []chat.Task {
	type found struct {
		rag.DueTask
		dir, vault string
	}
	var all []found
	for i, v := range bg.App.OpenVaults() {
		vault := ""
		if i > 0 {
			vault = filepath.Base(v.Folder.Dir())
		}
		due, err := v.Index.DueTasks(ctx, v.Folder, today, mostDue)
		if err != nil {
			continue // the index will be rebuilt
		}
		for _, t := range due {
			all = append(all, found{t, v.Folder.Dir(), vault})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.Day.Compare(b.Day) })
	var tasks []chat.Task
	for _, t := range all[:min(len(all), mostDue)] {
		due := "due " + t.Day.String()
		switch {
		case t.Day.Before(today):
			due = "overdue since " + t.Day.String()
		case t.Day == today:
			due = "due today"
		}
		tasks = append(tasks, chat.Task{
			Text: notes.PlainLinks(t.Text), When: due,
			Note: filepath.Join(t.dir, filepath.FromSlash(t.Path)),
			Name: path.Join(t.vault, t.Path), Line: t.Line,
		})
	}
	return tasks
}

// glance returns what the welcome screen shows about the notes: their name, news and suggested
// questions. The caller holds mu.
func (bg *background) glance(notes int) (vault, news string, questions []string) {
	switch vaults := bg.App.OpenVaults(); len(vaults) {
	case 0:
	case 1:
		vault = filepath.Base(vaults[0].Folder.Dir())
	default:
		vault = draw.Count(len(vaults), "folder")
	}
	var parts []string
	if o := bg.overview; o.Changed > 0 && 2*o.Changed < notes { // otherwise the folder is new
		parts = append(parts, draw.Thousands(o.Changed)+" changed since yesterday")
	}
	questions = bg.overview.Questions
	if due := bg.overview.Due; due > 0 {
		parts = append(parts, draw.Count(due, "task")+" due")
	}
	return vault, strings.Join(parts, " · "), questions[:min(len(questions), 3)]
}

// watch starts to watch each folder that is not watched yet.
func (bg *background) watch(ctx context.Context) {
	for _, v := range bg.App.OpenVaults() {
		if v.Watched {
			continue
		}
		v.Watched = true
		bg.spawn(func() {
			lowerPriority()
			_ = v.Index.Watch(ctx, v.Folder, bg.App, func(c rag.Changes, err error) {
				if err != nil && ctx.Err() == nil {
					bg.notice(fmt.Sprintf("The notes could not be indexed: %v.", err))
				}
				bg.lookOver(ctx)
			}) // Watch returns when ctx ends
		})
	}
}

func (bg *background) setIndexing(on bool, p rag.Progress) {
	bg.mu.Lock()
	bg.indexing, bg.progress = on, p
	bg.mu.Unlock()
	bg.tell()
}

// conversations adapts the store to the front end.
type conversations struct {
	*store.Store
	paths settings.Paths
}

func (c conversations) New(context.Context) (string, error) { return c.NewConversation(), nil }

func (c conversations) Recent(ctx context.Context, limit int) ([]agent.Conversation, error) {
	return c.Conversations(ctx, limit)
}

func (c conversations) Remove(ctx context.Context, ids ...string) error {
	return app.RemoveConversations(ctx, c.paths, c.Store, ids)
}

func (c conversations) Figures(ctx context.Context, by string) ([]agent.Figures, error) {
	return c.Store.Figures(ctx, by, time.Time{}, pageOfFigures)
}

// models adapts the provider to the front end.
type models struct{ App *app.App }

func (m models) List(ctx context.Context) <-chan llm.Listing { return m.App.Models.List(ctx) }

func (m models) Use(ctx context.Context, name string) error {
	return m.App.Provider.SetModel(ctx, name)
}

func (m models) Pull(ctx context.Context, name string, progress func(string, int64, int64)) error {
	return m.App.Provider.Pull(ctx, name, func(p llm.Progress) { progress(p.Status, p.Done, p.Total) })
}
