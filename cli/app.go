package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/version"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
)

// runFlags are the flags of the commands that work on notes.
type runFlags struct {
	notes   []string
	model   string
	mode    string
	noSave  bool
	resume  string // conversation to go on with; "": a new one
	hasLast bool   // go on with the last one
}

func (f *runFlags) registerNotes(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.notes, "notes", nil, "use just this folder of notes, for this run (repeatable)")
}

func (f *runFlags) register(cmd *cobra.Command) {
	f.registerNotes(cmd)
	cmd.Flags().StringVarP(&f.model, "model", "m", "", "chat model for this run")
	cmd.Flags().StringVar(&f.mode, "mode", "", "how a question is worked on: plan, loop or team")
	cmd.Flags().BoolVar(&f.noSave, "no-save", false, "keep nothing of this conversation")
}

// registerResume adds the flags that go on with a conversation that was kept.
func (f *runFlags) registerResume(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.hasLast, "continue", "c", false, "go on with the last conversation")
	cmd.Flags().FuncP("resume", "r", "go on with a conversation, by its ID", func(id string) error {
		if f.resume = id; id == "" { // a script's variable that holds nothing
			return errors.New("no conversation is named")
		}
		return nil
	})
	cmd.MarkFlagsMutuallyExclusive("continue", "resume", "no-save")
}

// app is LifeHub put together, for one run of a command.
type app struct {
	paths
	config   *Config
	provider llm.Provider
	store    *store.Store
	known    known // of the MCP servers
	servers  *mcpclient.Servers
	rules    *agent.Rules
	folder   narrowing // what the folders of notes ask for
	secrets  *secrecy
	builtin  []agent.Tool

	modes      mode
	switches   switches
	quotes     quotes // of prompts, in messages
	unattended bool
	changes    chan llm.State // of the model server, newest last; what nobody reads is dropped
	unembedded chan struct{}  // an exchange was archived
	logFile    *os.File

	sentByTools atomic.Int64 // bytes that built-in tools sent to other machines

	gone []string // remembered folders that cannot be read, each with the reason

	mu     sync.RWMutex  // guards vaults, to which the first-run screen may add one, and memory
	memory *notes.Folder // that holds the facts where no vault does; nil: not opened yet
	vaults []*vault
	chats  *vault // conversations as notes; nil: they are not searched
}

// vault is a folder of notes and its index.
type vault struct {
	folder  *notes.Folder
	index   *rag.Index
	watched bool        // a Watch of life keeps the index like the folder
	behind  atomic.Bool // life was called to bring the index up to date, and has not
}

// open puts LifeHub together. Nothing slow is waited for: the model server
// and the MCP servers answer later, the notes are brought up to date by
// ready or watch.
func (sh *shell) open(ctx context.Context, flags runFlags) (*app, error) {
	a, err := sh.configured(flags)
	if err != nil {
		return nil, err
	}
	if err := a.assemble(ctx, flags, func(path string) (*store.Store, error) { return sh.openStore(ctx, path) }); err != nil {
		return nil, err
	}
	return a, nil
}

// openNotes puts together what a command needs that asks nothing and keeps
// nothing: the notes, and conversations only where they are found like notes.
// Those that cannot be opened are left out, and told of.
func (sh *shell) openNotes(ctx context.Context, flags runFlags) (*app, error) {
	a, err := sh.configured(flags)
	if err != nil {
		return nil, err
	}
	flags.noSave = len(flags.notes) > 0 || !a.config.Chats.Index
	if !a.config.Chats.Index {
		if err := a.dropChatNotes(); err != nil {
			slog.Warn("conversations as notes", "error", err)
		}
	}
	var unopened error
	err = a.assemble(ctx, flags, func(path string) (s *store.Store, err error) {
		s, unopened = sh.openStore(ctx, path)
		return s, unopened
	})
	if unopened != nil {
		a.gone = append(a.gone, fmt.Sprintf("earlier conversations: %v", unopened))
		flags.noSave = true
		err = a.assemble(ctx, flags, nil)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// configured knows the settings, with the flags over them, and has opened nothing.
func (sh *shell) configured(flags runFlags) (*app, error) {
	p, c, err := sh.load()
	if err != nil {
		return nil, err
	}
	for _, f := range [][3]string{{"model", "--model", flags.model}, {"mode", "--mode", flags.mode}} {
		if f[2] == "" {
			continue
		}
		if err := c.setFlag(f[0], f[1], f[2]); err != nil {
			return nil, err
		}
	}
	return &app{paths: p, config: c, secrets: &secrecy{paths: p, config: c, environ: sh.environ()}}, nil
}

// assemble opens all there is; nothing is open when it reports an error.
func (a *app) assemble(ctx context.Context, flags runFlags, openStore func(path string) (*store.Store, error)) (err error) {
	if flags.noSave {
		a.store, err = store.InMemory()
	} else {
		a.store, err = openStore(a.database())
	}
	if err != nil {
		return err
	}
	if err := a.build(ctx, flags); err != nil {
		a.close()
		return err
	}
	return nil
}

func (a *app) build(ctx context.Context, flags runFlags) (err error) {
	if err := a.openLog(); err != nil {
		return err
	}
	if a.rules, err = loadRules(a.permissions()); err != nil {
		return err
	}
	if a.folder, err = a.narrowing(a.config, a.dirs(flags.notes)); err != nil {
		return err
	}
	a.rules = a.rules.Narrowed(a.folder.rules)
	a.unembedded = make(chan struct{}, 1)
	a.changes = make(chan llm.State, 8)
	settings := a.config.models()
	settings.Changed = func(s llm.State) {
		select {
		case a.changes <- s:
		default:
		}
	}
	if a.provider, err = llm.Open(settings); err != nil {
		return usageError{err}
	}
	if err := a.openVaults(flags.notes); err != nil {
		return err
	}
	if !flags.noSave && len(flags.notes) == 0 {
		if err := a.openChats(ctx); err != nil { // the notes are searched all the same
			slog.Warn("conversations as notes", "error", err)
			a.gone = append(a.gone, fmt.Sprintf("earlier conversations: %v", err))
		}
	}
	if a.known, err = a.readServers(); err != nil {
		return err
	}
	deps := tools.Deps{
		Search: a, Folders: a.folders, Now: time.Now, Changes: a.store,
		Facts: a.facts(), Past: a.recall, Kept: a.store,
		Daily: tools.Daily{Folder: a.config.Daily.Folder, Pattern: a.config.Daily.Pattern},
		Mail:  a.config.mail(os.LookupEnv),
		Web:   tools.WebSearch{Engine: a.config.Web.Search, URL: a.config.Web.SearchURL},
		Units: a.config.Weather.Units, Sent: func(bytes int) { a.sentByTools.Add(int64(bytes)) },
	}
	if a.config.RAG.Rerank {
		deps.Search = tools.Reranked{Searcher: a, Model: a.provider}
	}
	a.builtin = tools.All(deps)
	options := mcpclient.Options{Timeout: a.config.MCP.Timeout, Reserved: a.isBuiltin, Log: slog.Default(), Version: version.Text(), Trust: a.known.trust, Tokens: a.passes(), Elicit: elicit, Sample: a.sample, Redact: a.secrets.known}
	if !flags.noSave {
		options.Files, options.Logs = a.serverFiles(), a.serverLogs()
		a.quotes.file = a.promptWords()
	}
	a.servers = mcpclient.Start(ctx, a.known.config, options)
	return nil
}

// sent is how many bytes have left this machine: to the model, and by tools.
func (a *app) sent() int64 { return a.provider.State().Sent + a.sentByTools.Load() }

// isBuiltin tells whether a built-in tool has this name already.
func (a *app) isBuiltin(name string) bool {
	return slices.ContainsFunc(a.builtin, func(t agent.Tool) bool { return t.Spec().Name == name })
}

// openLog sends what the libraries log to a file: the screen is not theirs.
func (a *app) openLog() error {
	if err := os.MkdirAll(a.state, 0o700); err != nil {
		return fmt.Errorf("make folder for the log: %w", err)
	}
	file, err := os.OpenFile(a.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	a.logFile = file
	slog.SetDefault(slog.New(slog.NewTextHandler(cleanLog{file, a.secrets}, nil)))
	return nil
}

// cleanLog writes lines of a log without secrets.
type cleanLog struct {
	io.Writer
	secrets *secrecy
}

func (l cleanLog) Write(line []byte) (int, error) {
	if _, err := io.WriteString(l.Writer, l.secrets.text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}

// models are the settings of the model provider.
func (c *Config) models() llm.Settings {
	return llm.Settings{
		Provider: c.Provider, Model: c.Model,
		Embedding: c.EmbedModel, Window: c.Context,
		OllamaHost: c.Ollama.Host, KeepAlive: c.Ollama.KeepAlive,
		OpenAIURL: c.OpenAI.BaseURL, OpenAIKey: c.OpenAI.APIKey,
	}
}

// chroma is the server that keeps the vectors; nil: files on this machine do.
func (c *Config) chroma() *rag.Chroma {
	if c.RAG.Store != "chroma" {
		return nil
	}
	return &rag.Chroma{URL: c.RAG.ChromaURL, Tenant: c.RAG.ChromaTenant, Database: c.RAG.ChromaDatabase, Token: c.RAG.ChromaToken}
}

// dirs are the folders named, else all remembered ones.
func (a *app) dirs(named []string) []string {
	if len(named) > 0 {
		return named
	}
	return a.config.Notes
}

// openVaults opens the folders of the run. A remembered folder that is gone is
// a notice, not a failed start.
func (a *app) openVaults(named []string) error {
	for _, name := range a.dirs(named) {
		dir, err := vaultDir(name)
		if err == nil {
			err = a.openVault(dir)
		}
		if err != nil && len(named) > 0 {
			return usageError{err}
		}
		if err != nil {
			slog.Warn("remembered notes", "folder", name, "error", err)
			a.gone = append(a.gone, fmt.Sprintf("the notes in %s: %v", name, err))
		}
	}
	return nil
}

func (a *app) openVault(dir string) error {
	if below, err := filepath.Rel(a.paths.config, dir); err == nil && filepath.IsLocal(below) {
		return fmt.Errorf("open notes folder %s: it holds LifeHub's own settings, which no tool may change", dir)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		return err
	}
	own := []string{a.paths.config, a.data, a.state}
	folder.LeaveOut(own...)
	index, err := rag.Open(a.index(dir), rag.Options{Vault: dir, LeaveOut: own, Chroma: a.config.chroma()})
	if err != nil {
		folder.Close()
		return err
	}
	a.mu.Lock()
	a.vaults = append(a.vaults, &vault{folder: folder, index: index})
	a.mu.Unlock()
	return nil
}

// indexed are the vaults that searches look into: the notes, and
// conversations beside them.
func (a *app) indexed() []*vault {
	vaults := a.open()
	if len(vaults) > 0 && a.chats != nil {
		vaults = append(vaults, a.chats)
	}
	return vaults
}

// open are the vaults of this moment.
func (a *app) open() []*vault {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return slices.Clone(a.vaults)
}

// library is what searches all vaults of this moment as one.
func (a *app) library() rag.Library {
	var l rag.Library
	for _, v := range a.indexed() {
		l.Indexes = append(l.Indexes, v.index)
	}
	return l
}

// Search finds passages in all vaults.
func (a *app) Search(ctx context.Context, q rag.Query) (rag.Found, error) {
	return a.library().Search(ctx, q)
}

func (a *app) folders() []*notes.Folder {
	vaults := a.open()
	folders := make([]*notes.Folder, len(vaults))
	for i, v := range vaults {
		folders[i] = v.folder
	}
	return folders
}

// close lets go of everything that was opened, in reverse order.
func (a *app) close() {
	if a.servers != nil {
		a.servers.Close()
	}
	if a.memory != nil {
		a.memory.Close()
	}
	for _, v := range a.open() {
		v.index.Close()
		v.folder.Close()
	}
	if a.chats != nil {
		a.chats.index.Close()
		a.chats.folder.Close()
	}
	if a.provider != nil {
		a.provider.Close()
	}
	if a.store != nil {
		a.store.Close()
	}
	if a.logFile != nil {
		a.logFile.Close()
	}
}

// sync makes one vault's index match its notes.
func (a *app) sync(ctx context.Context, v *vault, progress func(rag.Progress)) (rag.Changes, error) {
	changes, err := v.index.Sync(ctx, v.folder, a.embedder(ctx), progress)
	if err != nil {
		return changes, fmt.Errorf("index %s: %w", v.folder.Dir(), err)
	}
	return changes, nil
}

// embedder is what embeds notes now; nil: nothing does, and search goes by
// words and says so.
func (a *app) embedder(ctx context.Context) llm.Embedder {
	e, err := a.provider.Embedder(ctx)
	if err != nil {
		slog.Warn("no vectors", "error", err)
		return nil
	}
	return e
}

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
// servers; product.md §9 gives each 10 s to start.
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

// offered are the tools for the agent. Without notes there is nothing for the
// tools of notes to work on.
func (a *app) offered() []agent.Tool {
	return slices.DeleteFunc(a.tools(), a.leftOut)
}

// tools are the enabled tools of this moment.
func (a *app) tools() []agent.Tool {
	var enabled []agent.Tool
	for _, t := range slices.Concat(a.builtin, a.servers.Tools()) {
		name := t.Spec().Name
		off := slices.ContainsFunc(a.config.Tools.Off, func(glob string) bool {
			ok, _ := path.Match(glob, name)
			return ok
		})
		if !off {
			enabled = append(enabled, t)
		}
	}
	return enabled
}

// allowFlag is where the rules of --allow stand.
const allowFlag = "--allow"

// pointless lists the rules of --allow that speak of no tool there is: a
// slip of the pen, or a server that is not up.
func (a *app) pointless() (rules []string) {
	for _, rule := range a.rules.List() {
		if rule.From == allowFlag && !slices.ContainsFunc(a.tools(), func(t agent.Tool) bool { return rule.MatchesTool(t.Spec().Name) }) {
			rules = append(rules, ruleText(rule))
		}
	}
	return rules
}

// allow adds the rules of --allow.
func (a *app) allow(rules []string) error {
	for _, text := range rules {
		rule, err := agent.ParseRule(text)
		if err != nil {
			return usageError{fmt.Errorf("--allow: %w", err)}
		}
		rule.From = allowFlag
		a.rules = a.rules.With(rule)
	}
	return nil
}

// agent makes the one who answers, out of what is open.
func (a *app) agent() *agent.Agent {
	a.modes.use(agent.Mode(a.config.Mode))
	return agent.New(agent.Options{
		Model: a.provider, Window: a.provider.Window, Refuses: a.refuses, Gauges: a.store, Tools: a.offered,
		History: a.store, Journal: a.store, Memory: a.longTerm(), Summaries: a.store, Facts: a.facts().List,
		Rules: a.rules, Prepare: a.prepare, Attach: attached{a}, Quoted: a.quotes.in, Save: a.saveRule, Unattended: a.unattended, Reread: a.reread,
		Instructions: a.persona(), Passages: a.config.Passages, Parallel: a.config.Parallel, MaxTools: a.config.Tools.Max,
		Mode: a.modes.now, Rounds: a.config.Loop.Max,
		Think: func() string { return a.switches.thinkNow(a.config.Think) },
		Trace: a.tracer(), Redact: a.secrets.known, ModelName: a.modelName,
	})
}

// tracer begins traces; nil: none are kept.
func (a *app) tracer() func(turn string) io.WriteCloser {
	if a.config.Traces.Total == 0 {
		return nil
	}
	limits := store.TraceLimits{Turn: a.config.Traces.Turn << 10, Total: int64(a.config.Traces.Total) << 20}
	return func(turn string) io.WriteCloser {
		return &cleanTrace{WriteCloser: a.store.Trace(turn, limits), secrets: a.secrets}
	}
}

// modelName is who answers at this moment.
func (a *app) modelName() string {
	state := a.provider.State()
	if state.Model == "" {
		return state.Provider
	}
	return state.Model
}

// refuses tells whether the model server refuses a prompt that is too long.
// Ollama does when it is asked to; behind the other protocol some cut it.
func (a *app) refuses() bool { return a.provider.State().Provider != "openai" }

// longTerm is the memory beyond the window.
func (a *app) longTerm() agent.LongTerm {
	if a.config.Memory.Scope == "off" {
		return agent.LongTerm{}
	}
	return agent.LongTerm{
		Store: a.store, Everywhere: a.config.Memory.Scope == "all", K: a.config.Memory.K,
		Embedder: a.embedder, Prefixes: rag.Prefixes, Archived: a.archived,
	}
}

// archived says that an exchange waits to be embedded.
func (a *app) archived() {
	select {
	case a.unembedded <- struct{}{}:
	default: // it has been said and not been heard yet
	}
}

// embedPatience bounds how long a command without a screen embeds what it
// archived; the next one goes on with it.
const embedPatience = 5 * time.Second

// persona is the user's instructions.md, and after it those of the folders
// that the user trusts; without any there is none.
func (a *app) persona() string {
	text, err := os.ReadFile(a.instructions())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("read instructions", "error", err)
	}
	return strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(string(text))}, a.folder.persona...), "\n\n"))
}

// reread returns a source's lines as they stand on disk now; a source
// without a vault may be in any.
func (a *app) reread(s agent.Source) (string, bool) {
	if text, ok := a.rereadFact(s); ok {
		return text, true
	}
	for _, v := range a.indexed() {
		folder := v.folder
		if s.Vault != "" && folder.Dir() != s.Vault {
			continue
		}
		note, err := folder.Read(s.Path)
		if err != nil {
			continue
		}
		lines := strings.Split(note.Text, "\n")
		if s.Line >= 1 && s.Line <= len(lines) {
			return strings.Join(lines[s.Line-1:min(s.EndLine, len(lines))], "\n"), true
		}
	}
	return "", false
}

// spot is where a chat begins.
type spot struct {
	conversation, title string
	turn                string // "": at the end
}

// place is the conversation to go on with, and where in it, or a new one.
func (a *app) place(ctx context.Context, flags runFlags) (spot, error) {
	switch {
	case flags.resume != "":
		name, number, isTurn := strings.Cut(flags.resume, ".")
		c, err := a.store.Conversation(ctx, name)
		if err != nil {
			return spot{}, usageError{err}
		}
		at := spot{conversation: c.ID, title: c.Title}
		if isTurn {
			at.turn = c.ID + "." + number
			if err := a.store.Show(ctx, c.ID, at.turn); err != nil {
				return spot{}, usageError{err}
			}
		}
		return at, nil
	case flags.hasLast:
		c, err := a.store.Last(ctx)
		if errors.Is(err, store.ErrNoConversation) {
			return spot{}, usageError{errors.New("there is no conversation to go on with yet; `lifehub` starts one")}
		}
		if err != nil {
			return spot{}, usageError{err}
		}
		return spot{conversation: c.ID, title: c.Title}, nil
	}
	return spot{conversation: a.store.NewConversation()}, nil
}
