// Package app opens and connects everything that one run of a command needs.
package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/memory"
	"lifehub/agent/prompt"
	"lifehub/agent/tools"
	"lifehub/agent/tools/web"
	"lifehub/agent/turn"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/llm/ollama"
	"lifehub/llm/servers"
	"lifehub/mcpclient"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
	"lifehub/rag/vectors"
	"lifehub/store"
)

// App holds everything that is open during one run of a command.
type App struct {
	Paths       settings.Paths
	Settings    *settings.Config
	Provider    llm.Provider
	Models      *servers.Set // the provider, unless a test has another one
	roles       map[string]prompt.Role
	Store       *store.Store // nil after OpenNotes
	ServerTrust ServerTrust  // of the MCP servers
	Servers     *mcpclient.Client
	followed    *serversFile
	reading     []func() // end the syncs that still run
	Rules       *gate.Rules
	Folder      settings.Instructions // of the folders of notes
	Secrets     *settings.Redaction
	Builtin     []agent.Tool

	Switches
	Marks      Marks
	Unattended bool
	Attended   bool           // in a chat: the user can be asked about a model server
	Changes    chan llm.State // of the model server, newest last; dropped if nobody reads it
	Unembedded chan struct{}  // receives when an exchange was archived
	logFile    *os.File

	waitedForNew atomic.Bool // a message has waited for servers that never ran before
	Waited       bool        // the only message has waited for the servers it names

	askedFor sync.Map // UIDs of model server owners the user was asked about

	sentByTools atomic.Int64 // bytes that built-in tools sent to other machines

	MissingVaults []string // remembered folders that cannot be read, with the reason
	backups       backups
	unread        []string // files that cannot be read and are not needed, with the reason
	Outdated      string   // why the index is older than the notes; "" if it is not

	mu     sync.RWMutex  // guards Vaults, which a chat may extend, and memory
	memory *notes.Folder // holds the facts when no vault does; nil until first used
	Vaults []*Vault
}

// Open opens the conversations, the notes and the tools. It does not wait for anything slow: the
// model server and the MCP servers connect later, and Ready or a watcher syncs the notes.
func Open(ctx context.Context, sh *Process, flags RunFlags) (*App, error) {
	a, err := Configured(sh, flags)
	if err != nil {
		return nil, err
	}
	if err := a.Assemble(ctx, flags, func(path string) (*store.Store,
		error,
	) {
		return OpenStore(ctx, sh, path)
	}); err != nil {
		return nil, err
	}
	a.BackUpDaily(ctx, func(text string) { sh.Notice(text) })
	return a, nil
}

// OpenNotes opens only the notes, for commands that neither ask nor save anything: no
// conversations, tools or servers. Configuration files it does not need may be broken; Notices
// reports them.
func OpenNotes(sh *Process, flags RunFlags) (*App, error) {
	a, err := Configured(sh, flags)
	if err != nil {
		return nil, err
	}
	if err := a.openNotes(flags, true); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// OpenFolders opens the folders of notes without their indexes, and begins to work on them.
func OpenFolders(sh *Process, flags RunFlags, doing string) (*App, error) {
	flags.NoIndex = true
	a, err := OpenNotes(sh, flags)
	if err != nil {
		return nil, err
	}
	if err := a.Begin(sh, doing); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Begin prints what the user should know before work on the notes begins. Without any it is an error. doing describes
// the work, as in "listing without …".
func (a *App) Begin(sh *Process, doing string) error {
	if err := a.NeedsNotes(); err != nil {
		return err
	}
	sh.Notice(a.Notices(doing)...)
	return nil
}

// Configured loads the settings and applies the flags. It opens nothing.
func Configured(sh *Process, flags RunFlags) (*App, error) {
	p, c, err := LoadSettings(sh)
	if err != nil {
		return nil, err
	}
	for _, f := range [][3]string{
		{"model", "--model", flags.Model},
		{"mode", "--mode", flags.Mode},
		{"read_only", "--read-only", flags.ReadOnly},
	} {
		if f[2] == "" {
			continue
		}
		if err := c.SetFlag(f[0], f[1], f[2]); err != nil {
			return nil, err
		}
	}
	sh.secrets = &settings.Redaction{Paths: p, Config: c, Environ: sh.Environ()}
	return &App{Paths: p, Settings: c, Secrets: sh.secrets}, nil
}

// Assemble opens everything. After an error nothing is left open.
func (a *App) Assemble(ctx context.Context, flags RunFlags, openStore func(path string) (*store.Store, error)) error {
	err := a.openConversations(flags, openStore)
	if err == nil {
		err = a.openNotes(flags, false)
	}
	if err == nil {
		err = a.openTools(ctx, flags)
	}
	if err != nil {
		a.Close()
	}
	return err
}

func (a *App) openConversations(flags RunFlags, openStore func(path string) (*store.Store, error)) (err error) {
	if flags.NoSave {
		a.Store, err = store.InMemory()
	} else {
		a.Store, err = openStore(a.Paths.Database())
	}
	if errors.Is(err, fs.ErrPermission) || files.IsFault(err) {
		return fmt.Errorf("%w; --no-save works without it", err)
	}
	if err != nil {
		return err
	}
	a.Marks.app, a.Marks.unsaved = a, flags.NoSave
	return nil
}

// openNotes opens the folders of notes, the rules that hide notes, and the models that embed them.
// If only notes are needed, unreadable rules and MCP server files become notices instead of errors.
func (a *App) openNotes(flags RunFlags, only bool) (err error) {
	a.openLog()
	a.restrict(&a.ReadOnly, "read_only", a.Settings.Guard.ReadOnly)
	a.restrict(&a.Approve, "approve", a.Settings.Guard.Approve)
	a.Rules, err = LoadRules(a.Paths.PermissionsFile())
	if err != nil && !only {
		return err
	}
	if err != nil {
		line, _, _ := strings.Cut(err.Error(), "\n")
		a.unread = append(a.unread, "notes that permissions.yaml hides are shown: "+line)
	}
	if text := UnreadServers(a.Paths); only && text != "" {
		a.unread = append(a.unread, text)
	}
	dirs, err := a.findVaults(flags.Notes)
	if err != nil {
		return err
	}
	if a.Folder, err = a.Paths.Instructions(dirs); err != nil {
		return err
	}
	a.Unembedded = make(chan struct{}, 1)
	a.Changes = make(chan llm.State, 8)
	model := ModelSettings(a.Settings, a.Secrets)
	for _, dir := range dirs {
		model.Embedded = cmp.Or(model.Embedded, rag.MadeWith(a.Paths.Index(dir)))
	}
	model.Watcher = a
	if a.Models, err = servers.Open(model); err != nil {
		return settings.UsageError{Err: err}
	}
	a.Provider = a.Models
	a.roles = map[string]prompt.Role{}
	if err := a.addRole("planner", a.Settings.PlanModel); err != nil {
		return settings.UsageError{Err: err}
	}
	return a.openVaults(dirs, flags)
}

// openTools opens the built-in tools and starts the MCP servers.
func (a *App) openTools(ctx context.Context, flags RunFlags) (err error) {
	if a.ServerTrust, err = ReadServers(a.Paths); err != nil {
		return err
	}
	if flags.Alone {
		a.ServerTrust.Settings.Servers = nil
	}
	if flags.Server != "" {
		if a.ServerTrust.Settings, err = a.ServerTrust.Settings.Only(flags.Server); err != nil {
			return settings.UsageError{Err: err}
		}
	}
	deps := tools.Deps{
		Search: a, Vaults: a, Model: a, Now: time.Now, Changes: a.Store, Facts: a.Facts(), Artifacts: a.Store,
		Daily: tools.Daily{Folder: a.Settings.Daily.Folder, Pattern: a.Settings.Daily.Pattern},
		Mail:  MailOf(a.Settings, System{}),
		Web:   web.Search{Engine: a.Settings.Web.Search, URL: a.Settings.Web.SearchURL},
		Units: a.Settings.Weather.Units, Sent: &a.sentByTools,
	}
	if !flags.NoSave { // what is not saved cannot be taken back after a kill
		deps.Sets = a.Store
		left, err := tools.FinishSets(ctx, a.Folders(), a.Store)
		if len(left) > 0 {
			a.unread = append(a.unread, "LifeHub was stopped while it changed several notes; these were changed since, "+
				"and are as they are: "+strings.Join(left, ", "))
		}
		if err != nil {
			slog.Default().Warn("finish the changes of several notes", "err", err)
		}
	}
	deps.Past, deps.Unsearched = a.past(flags.NoSave)
	a.Builtin = tools.All(deps)
	if skills := a.Skills(); len(skills.List) > 0 {
		a.Builtin = append(a.Builtin, skills.Tool())
	}
	options := mcpclient.Options{
		Timeout: a.Settings.MCP.Timeout, Builtin: a.Builtin, User: user{a},
		Log: slog.Default(), Version: settings.Version(),
		Trust: a.ServerTrust.Trust, Tokens: a.Paths.Credentials(), Secrets: a.Secrets,
	}
	if !flags.NoSave {
		options.Files = a.Paths.ServerFiles()
	}
	if !flags.NoSave || flags.Server != "" {
		options.Logs = a.Paths.ServerLogs()
	}
	a.Servers = mcpclient.Start(ctx, a.ServerTrust.Settings, options)
	a.followed = newServersFile(a.Paths, a.ServerTrust.text)
	return nil
}

// restrict sets r to the value from the settings. If a command-line flag turned it on, it cannot be
// turned off.
func (a *App) restrict(r *Restriction, setting string, on bool) {
	r.on.Store(on)
	if from := a.Settings.Origin[setting]; on && strings.HasPrefix(from, "--") {
		r.fixed = from
	}
}

// addRole assigns a separate model to one job of a turn. An empty model assigns none.
func (a *App) addRole(name, model string) error {
	p, err := a.Models.Role(model)
	if p == nil {
		return err
	}
	a.roles[name] = prompt.Role{Model: p, Server: prompt.ServerOf(p)}
	return nil
}

// Notices returns what the user should know at the beginning of a run. The argument describes what
// the run does, as in "answering without …".
func (a *App) Notices(going string) []string {
	list := slices.Concat(a.Settings.Notices(), a.Folder.Notices, a.Unused(), a.unread)
	if a.Store != nil {
		list = append(list, a.Store.Warning())
	}
	list = append(list, a.Outdated, a.ServerTrust.FirstUse())
	for _, gone := range a.MissingVaults {
		list = append(list, going+" without "+gone)
	}
	return slices.DeleteFunc(list, func(text string) bool { return text == "" })
}

// Unread returns the files that cannot be read and are not needed by the command, each with the
// reason.
func (a *App) Unread() []string { return a.unread }

// Changed passes on that another model server answers.
func (a *App) Changed(now llm.State) {
	select {
	case a.Changes <- now:
	default:
	}
}

// Sent returns the number of bytes sent to other machines, to the model and by tools.
func (a *App) Sent() int64 { return a.Provider.State().Sent + a.sentByTools.Load() }

// IsBuiltin reports whether name is the name of a built-in tool.
func (a *App) IsBuiltin(name string) bool {
	return slices.ContainsFunc(a.Builtin, func(t agent.Tool) bool { return t.Spec().Name == name })
}

// ModelSettings returns the settings of the model servers.
func ModelSettings(c *settings.Config, secrets *settings.Redaction) llm.Settings {
	s := llm.Settings{
		Provider: c.Provider, Model: c.Model,
		Embedding: c.EmbedModel, Window: c.Context,
		OllamaHost: c.Ollama.Host, OllamaFound: c.Origin["ollama.host"] == "", OllamaOwner: c.OllamaOwner,
		KeepAlive: c.Ollama.KeepAlive, FirstToken: c.FirstToken,
		OpenAIURL: c.OpenAI.BaseURL, OpenAIKey: c.OpenAI.APIKey, Secrets: secrets,
	}
	for _, m := range c.Servers {
		s.Servers = append(s.Servers, llm.Server{Name: m.Name, Kind: m.Kind, URL: m.URL, Key: secrets.KeyOf(m)})
	}
	return s
}

// OpenChroma returns the configured vector server, or nil if vectors are stored in local files.
func OpenChroma(c *settings.Config) *vectors.ChromaServer {
	if c.RAG.Store != "chroma" {
		return nil
	}
	return &vectors.ChromaServer{
		URL: c.RAG.ChromaURL, Tenant: c.RAG.ChromaTenant, Database: c.RAG.ChromaDatabase,
		Token: c.RAG.ChromaToken,
	}
}

// Close closes everything that was opened, in reverse order.
func (a *App) Close() {
	if a.Servers != nil {
		a.Servers.Close()
	}
	if a.memory != nil {
		a.memory.Close()
	}
	for _, end := range a.reading {
		end()
	}
	for _, v := range a.OpenVaults() {
		if v.Index != nil {
			v.Index.Close()
		}
		v.Folder.Close()
	}
	if a.Provider != nil {
		a.Provider.Close()
	}
	a.Marks.close()
	a.endBackups()
	if a.Store != nil {
		a.Store.Close()
	}
	if a.logFile != nil {
		a.logFile.Close()
	}
}

// Window returns the tokens in the model's window; 0 if they are unknown.
func (a *App) Window() int { return a.Provider.Window() }

// Embedder returns the connected embedding model or, without one, the built-in encoder.
func (a *App) Embedder(ctx context.Context) llm.Embedder {
	e, err := a.Provider.Embedder(ctx)
	if err != nil {
		slog.Warn("no embedding model", "error", err)
	}
	if e == nil || err != nil {
		return encoder.Encoder{}
	}
	return e
}

// ForeignNotes says that the built-in encoder does not know the language of most notes.
const ForeignNotes = "keywords only: most notes are in a language that the built-in encoder does not know; " +
	"`ollama pull embeddinggemma` finds them by meaning too"

// BetterEmbedder says in a sentence that a better embedding model than that of the index is installed,
// and which commands use it; "" if there is none, or the settings name one.
func (a *App) BetterEmbedder(ctx context.Context) string {
	if a.Settings.EmbedModel != "" {
		return ""
	}
	e, err := a.Provider.Embedder(ctx)
	if e == nil || err != nil {
		return ""
	}
	installed, err := a.Provider.Models(ctx)
	better := ollama.Better(e.Name(), installed)
	if err != nil || better == "" {
		return ""
	}
	return fmt.Sprintf("%s is installed and finds more: `lifehub config set embed_model %s && lifehub index` embeds "+
		"the notes with it", better, better)
}

// MemoryEmbedder returns the embedder for past exchanges: the embedding model or, without one,
// n-grams, which find more of what was said than the encoder (docs/figures/memory.md). It returns
// nil if the server is unreachable.
func (a *App) MemoryEmbedder(ctx context.Context) llm.Embedder {
	e, err := a.Provider.Embedder(ctx)
	switch {
	case err != nil:
		return nil
	case e == nil:
		return llm.Ngrams{}
	}
	return e
}

// Prefixes returns what an embedding model expects before a question and before a text.
func (a *App) Prefixes(embedder string) (question, text string) { return encoder.Prefixes(embedder) }

// Offered returns the tools the agent may use now. Note tools are left out if there are no notes.
func (a *App) Offered() []agent.Tool {
	return slices.DeleteFunc(a.Tools(), a.leftOut)
}

// Missing returns, by name, why a built-in tool is unavailable now.
func (a *App) Missing() map[string]string {
	missing := map[string]string{}
	for _, tool := range a.Builtin {
		if why := a.whyMissing(tool); why != "" {
			missing[tool.Spec().Name] = why
		}
	}
	if a.Settings.Mail.Host == "" {
		missing["send_email"] = "no mail server is set (mail.host and mail.from, see lifehub config)"
	}
	return missing
}

// whyMissing returns why a tool is unavailable now, or "".
func (a *App) whyMissing(tool agent.Tool) string {
	switch name := tool.Spec().Name; {
	case a.isOff(tool):
		return "it is switched off (tools.off)"
	case a.IsBuiltin(name) && tools.NeedsNotes(name) && len(a.OpenVaults()) == 0:
		return "there are no notes"
	case a.ReadOnly.On() && !agent.HasNoEffect(tool):
		return "this chat is read-only (" + a.ReadOnly.End("/readonly off") + ")"
	case a.leftOut(tool):
		return "/notes leaves it out"
	}
	return ""
}

// KnownTool is a tool that a model can be offered, in some mode and with some settings.
type KnownTool struct {
	Tool    agent.Tool
	Missing string // why it is not available now; "": it is
}

// KnownTools returns all tools by name: those of LifeHub, also those that are not available now, and
// those of servers.
func (a *App) KnownTools(of *turn.Agent) (known []KnownTool) {
	ofTurn, missing := of.TurnTools()
	maps.Copy(missing, a.Missing())
	if len(a.Skills().List) == 0 {
		missing[agent.ReadSkill] = "there are no skills"
	}
	list := slices.Concat(a.Builtin, a.Servers.Tools(), ofTurn,
		[]agent.Tool{tools.NewSendEmail(tools.MailAccount{}, time.Now, nil, nil), Skills{}.Tool()})
	taken := map[string]bool{}
	for _, tool := range list {
		if name := tool.Spec().Name; !taken[name] {
			taken[name] = true
			known = append(known, KnownTool{tool, cmp.Or(missing[name], a.whyMissing(tool))})
		}
	}
	slices.SortFunc(known, func(x, y KnownTool) int { return strings.Compare(x.Tool.Spec().Name, y.Tool.Spec().Name) })
	return known
}

// Writes reports whether a built-in tool changes something, even if it is not offered now.
func (a *App) Writes(name string) bool {
	return name == "send_email" || slices.ContainsFunc(a.Builtin,
		func(t agent.Tool) bool { return t.Spec().Name == name && !agent.ReadOnly(t) })
}

// ToolNames returns the names of all tools, offered or not.
func (a *App) ToolNames() (names []string) {
	for _, tool := range slices.Concat(a.Builtin, a.Servers.Tools()) {
		names = append(names, tool.Spec().Name)
	}
	return names
}

// Prompts returns the user's prompts and the skills; both are chat commands.
func (a *App) Prompts() []Prompt {
	return append(Read(a.Paths.PromptsFolder()), a.Skills().Prompts()...)
}

// Unused explains why certain prompts and skills cannot be used.
func (a *App) Unused() (list []string) {
	for _, p := range Read(a.Paths.PromptsFolder()) {
		if p.Err != nil {
			list = append(list, "a prompt cannot be used: "+p.Err.Error())
		}
	}
	return append(list, a.Skills().Unused...)
}

// Skills returns the trusted skills of the user, the notes folders and the working directory.
func (a *App) Skills() Skills {
	dirs := a.noteFolders()
	if here, err := os.Getwd(); err == nil {
		dirs = append(dirs, here)
	}
	trusted, unused, err := a.Paths.TrustedSkills(dirs)
	if err != nil {
		unused = []string{"no skill is used: " + err.Error()}
	}
	skills := ReadSkills(trusted)
	skills.Unused = append(unused, skills.Unused...)
	return skills
}

// Tools returns the tools that are not switched off in the settings.
func (a *App) Tools() []agent.Tool {
	var enabled []agent.Tool
	for _, t := range slices.Concat(a.Builtin, a.Servers.Tools()) {
		if !a.isOff(t) {
			enabled = append(enabled, t)
		}
	}
	return enabled
}

// isOff reports whether a tool is switched off in the settings.
func (a *App) isOff(t agent.Tool) bool {
	return slices.ContainsFunc(a.Settings.Tools.Off, func(glob string) bool {
		return gate.Rule{Tool: glob, Level: agent.Deny}.SpeaksOf(t)
	})
}

// longTerm returns the memory of exchanges that no longer fit into the window.
func (a *App) longTerm() memory.LongTerm {
	if a.Settings.Memory.Scope == "off" {
		return memory.LongTerm{}
	}
	return memory.LongTerm{
		Store: a.Store, Everywhere: a.Settings.Memory.Scope == "all", K: a.Settings.Memory.K,
		Embedding: a,
	}
}

// Archived signals that an exchange is waiting to be embedded.
func (a *App) Archived() {
	select {
	case a.Unembedded <- struct{}{}:
	default: // already signalled
	}
}

// EmbedPatience bounds how long a command without a screen spends on embedding what it archived.
// The next command continues.
const EmbedPatience = 5 * time.Second

// persona returns the user's instructions.md followed by those of trusted folders, or "" if there
// are none.
func (a *App) persona() string {
	text, err := files.Read(a.Paths.InstructionsFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		slog.Warn("read instructions", "error", err)
	}
	return strings.TrimSpace(strings.Join(append([]string{strings.TrimSpace(string(text))}, a.Folder.Texts...), "\n\n"))
}

// openLog redirects logging to a file, because the screen belongs to the UI. If the file cannot be
// opened, logs are discarded; `lifehub doctor` reports the folder.
func (a *App) openLog() {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	if os.MkdirAll(a.Paths.State, 0o700) != nil {
		return
	}
	file, err := os.OpenFile(a.Paths.LogFile(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	a.logFile = file
	slog.SetDefault(slog.New(slog.NewTextHandler(CleanLog{Writer: file, Secrets: a.Secrets}, nil)))
}

// CleanLog writes log lines with secrets redacted.
type CleanLog struct {
	io.Writer
	Secrets *settings.Redaction
}

func (l CleanLog) Write(line []byte) (int, error) {
	if _, err := io.WriteString(l.Writer, l.Secrets.Text(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
