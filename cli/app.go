package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lifehub/agent"
	"lifehub/agent/rules"
	"lifehub/agent/tools"
	"lifehub/agent/turn"
	"lifehub/cli/redact"
	"lifehub/cli/settings"
	"lifehub/cli/version"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"
	"lifehub/store/trace"
)

// app is LifeHub put together, for one run of a command.
type app struct {
	settings.Paths
	config   *settings.Config
	provider llm.Provider
	store    *store.Store
	known    known // of the MCP servers
	servers  *mcpclient.Servers
	followed *followed
	rules    *rules.Rules
	folder   settings.VaultPolicy // what the folders of notes ask for
	secrets  *redact.Redaction
	builtin  []agent.Tool

	modes      mode
	switches   switches
	untrusted  provenance
	unattended bool
	changes    chan llm.State // of the model server, newest last; what nobody reads is dropped
	unembedded chan struct{}  // an exchange was archived
	logFile    *os.File

	waitedForNew atomic.Bool // a message waited for servers that have never run
	waited       bool        // the only message has waited for the servers that it names

	sentByTools atomic.Int64 // bytes that built-in tools sent to other machines

	gone     []string // remembered folders that cannot be read, each with the reason
	outdated string   // why the index is older than the notes; "": it is not

	mu     sync.RWMutex  // guards vaults, to which the first-run screen may add one, and memory
	memory *notes.Folder // that holds the facts where no vault does; nil: not opened yet
	vaults []*vault
	chats  *vault // conversations as notes; nil: they are not searched
}

// openApp puts LifeHub together. Nothing slow is waited for: the model server
// and the MCP servers answer later, the notes are brought up to date by
// ready or watch.
func openApp(ctx context.Context, sh *process, flags runFlags) (*app, error) {
	a, err := configuredApp(sh, flags)
	if err != nil {
		return nil, err
	}
	if err := a.assemble(ctx, flags, func(path string) (*store.Store, error) { return openStore(ctx, sh, path) }); err != nil {
		return nil, err
	}
	return a, nil
}

// openNotes puts together what a command needs that asks nothing and keeps
// nothing: the notes, and conversations only where they are found like notes.
// Those that cannot be opened are left out, and told of.
func openNotes(ctx context.Context, sh *process, flags runFlags) (*app, error) {
	a, err := configuredApp(sh, flags)
	if err != nil {
		return nil, err
	}
	flags.noSave = len(flags.notes) > 0 || !a.config.Chats.Index
	if !a.config.Chats.Index {
		if err := dropChatNotes(a.Paths); err != nil {
			slog.Warn("conversations as notes", "error", err)
		}
	}
	var unopened error
	err = a.assemble(ctx, flags, func(path string) (s *store.Store, err error) {
		s, unopened = openStore(ctx, sh, path)
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

// configuredApp knows the settings, with the flags over them, and has opened nothing.
func configuredApp(sh *process, flags runFlags) (*app, error) {
	p, c, err := loadSettings(sh)
	if err != nil {
		return nil, err
	}
	for _, f := range [][3]string{{"model", "--model", flags.model}, {"mode", "--mode", flags.mode}} {
		if f[2] == "" {
			continue
		}
		if err := c.SetFlag(f[0], f[1], f[2]); err != nil {
			return nil, err
		}
	}
	return &app{Paths: p, config: c, secrets: &redact.Redaction{Paths: p, Config: c, Environ: sh.environ()}}, nil
}

// assemble opens all there is; nothing is open when it reports an error.
func (a *app) assemble(ctx context.Context, flags runFlags, openStore func(path string) (*store.Store, error)) (err error) {
	if flags.noSave {
		a.store, err = store.InMemory()
	} else {
		a.store, err = openStore(a.Database())
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; with --no-save LifeHub answers without it", err)
	}
	if err != nil {
		return err
	}
	a.untrusted.Store = a.store
	if flags.noSave {
		a.untrusted.saved = func() (*store.Store, error) { return store.Open(a.Database()) }
		a.untrusted.file = a.Database()
	}
	if err := a.build(ctx, flags); err != nil {
		a.close()
		return err
	}
	return nil
}

func (a *app) build(ctx context.Context, flags runFlags) (err error) {
	a.openLog()
	if a.rules, err = loadRules(a.PermissionsFile()); err != nil {
		return err
	}
	if a.folder, err = a.VaultPolicy(a.config, a.dirs(flags.notes)); err != nil {
		return err
	}
	a.rules = a.rules.Narrowed(a.folder.Rules)
	a.unembedded = make(chan struct{}, 1)
	a.changes = make(chan llm.State, 8)
	model := modelSettings(a.config)
	model.Changed = func(s llm.State) {
		select {
		case a.changes <- s:
		default:
		}
	}
	if a.provider, err = llm.Open(model); err != nil {
		return settings.UsageError{Err: err}
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
	if a.known, err = readServers(a.Paths); err != nil {
		return err
	}
	deps := tools.Deps{
		Search: a, Folders: a.folders, Now: time.Now, Changes: a.store,
		Facts: a.facts(), Past: a.recall, Kept: a.store,
		Daily: tools.Daily{Folder: a.config.Daily.Folder, Pattern: a.config.Daily.Pattern},
		Mail:  mailOf(a.config, os.LookupEnv),
		Web:   tools.WebSearch{Engine: a.config.Web.Search, URL: a.config.Web.SearchURL},
		Units: a.config.Weather.Units, Sent: func(bytes int) { a.sentByTools.Add(int64(bytes)) },
	}
	if a.config.RAG.Rerank {
		deps.Search = tools.Reranked{Searcher: a, Model: a.provider}
	}
	a.builtin = tools.All(deps)
	options := mcpclient.Options{Timeout: a.config.MCP.Timeout, Reserved: a.isBuiltin, Log: slog.Default(), Version: version.Text(), Trust: a.known.trust, Tokens: a.Credentials(), Elicit: elicit, Sample: a.sample, Redact: a.secrets.Known, Roots: a.noteFolders}
	if !flags.noSave {
		options.Files, options.Logs = a.ServerFiles(), a.ServerLogs()
	}
	a.servers = mcpclient.Start(ctx, a.known.config, options)
	a.followed = newFollowed(a.Paths, a.known.text)
	return nil
}

// sent is how many bytes have left this machine: to the model, and by tools.
func (a *app) sent() int64 { return a.provider.State().Sent + a.sentByTools.Load() }

// isBuiltin tells whether a built-in tool has this name already.
func (a *app) isBuiltin(name string) bool {
	return slices.ContainsFunc(a.builtin, func(t agent.Tool) bool { return t.Spec().Name == name })
}

// modelSettings are the settings of the model provider.
func modelSettings(c *settings.Config) llm.Settings {
	return llm.Settings{
		Provider: c.Provider, Model: c.Model,
		Embedding: c.EmbedModel, Window: c.Context,
		OllamaHost: c.Ollama.Host, KeepAlive: c.Ollama.KeepAlive,
		OpenAIURL: c.OpenAI.BaseURL, OpenAIKey: c.OpenAI.APIKey,
	}
}

// openChroma is the server that keeps the vectors; nil: files on this machine do.
func openChroma(c *settings.Config) *rag.Chroma {
	if c.RAG.Store != "chroma" {
		return nil
	}
	return &rag.Chroma{URL: c.RAG.ChromaURL, Tenant: c.RAG.ChromaTenant, Database: c.RAG.ChromaDatabase, Token: c.RAG.ChromaToken}
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
	a.untrusted.close()
	if a.store != nil {
		a.store.Close()
	}
	if a.logFile != nil {
		a.logFile.Close()
	}
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

// offered are the tools for the agent. Without notes there is nothing for the
// tools of notes to work on.
func (a *app) offered() []agent.Tool {
	return slices.DeleteFunc(a.tools(), a.leftOut)
}

// missing says why a tool that LifeHub has is not offered now; "": it has none
// of this name.
func (a *app) missing(name string) string {
	if name == "send_email" && a.config.Mail.Host == "" {
		return "no mail server is set (mail.host)"
	}
	named := func(t agent.Tool) bool { return t.Spec().Name == name }
	switch {
	case !slices.ContainsFunc(a.builtin, named):
		return ""
	case !slices.ContainsFunc(a.tools(), named):
		return "it is switched off (tools.off)"
	case tools.NeedsNotes(name) && len(a.open()) == 0:
		return "there are no notes"
	}
	return "/notes leaves it out"
}

// tools are the enabled tools of this moment.
func (a *app) tools() []agent.Tool {
	var enabled []agent.Tool
	for _, t := range slices.Concat(a.builtin, a.servers.Tools()) {
		off := slices.ContainsFunc(a.config.Tools.Off, func(glob string) bool {
			return rules.Rule{Tool: glob, Level: agent.Deny}.SpeaksOf(t)
		})
		if !off {
			enabled = append(enabled, t)
		}
	}
	return enabled
}

// agent makes the one who answers, out of what is open.
func (a *app) agent() *turn.Agent {
	a.modes.use(agent.Mode(a.config.Mode))
	return turn.New(turn.Options{
		Model: a.provider, Window: a.provider.Window, Ready: a.provider.Ready, Refuses: func() bool { return a.provider.State().RejectsLongPrompts }, Gauges: a.store, Tools: a.offered,
		History: a.store, Journal: a.store, Memory: a.longTerm(), Summaries: a.store, Facts: a.facts().List,
		Rules: a.rules, Prepare: a.prepare, Attach: attached{a}, Provenance: &a.untrusted, Save: a.saveRule, Unattended: a.unattended, Reread: a.reread,
		Instructions: a.persona(), Passages: a.config.Passages, Parallel: a.config.Parallel, MaxTools: a.config.Tools.Max,
		Missing: a.missing, Mode: a.modes.now, Rounds: a.config.Loop.Max, Replans: cmp.Or(a.config.Replans, -1), Messages: a.config.Memory.Messages,
		Think: func() string { return a.switches.thinkNow(a.config.Think) },
		Trace: a.tracer(), Redact: a.secrets.Known, ModelName: a.modelName,
	})
}

// tracer begins traces; nil: none are kept.
func (a *app) tracer() func(turn string) io.WriteCloser {
	if a.config.Traces.Total == 0 {
		return nil
	}
	limits := trace.Limits{Turn: a.config.Traces.Turn << 10, Total: int64(a.config.Traces.Total) << 20}
	return func(turn string) io.WriteCloser {
		return &redact.TraceWriter{WriteCloser: a.store.Traces.Begin(turn, limits), Secrets: a.secrets}
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

// longTerm is the memory beyond the window.
func (a *app) longTerm() turn.LongTerm {
	if a.config.Memory.Scope == "off" {
		return turn.LongTerm{}
	}
	return turn.LongTerm{
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
	text, err := os.ReadFile(a.InstructionsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("read instructions", "error", err)
	}
	return strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(string(text))}, a.folder.Persona...), "\n\n"))
}
