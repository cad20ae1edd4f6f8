// Package settings reads what the user set: the config file, the environment,
// the places of LifeHub's files, and what trusted folders of notes make stricter.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Config is every setting, after all layers: defaults, config file,
// environment, flags. Its fields are listed with name, default and meaning in
// All.
type Config struct {
	Notes    []string
	Provider string
	Model    string
	Mode     string
	Think    string
	Loop     struct{ Max int }
	Replans  int

	EmbedModel string
	Context    int

	Ollama struct {
		Host      string
		KeepAlive time.Duration
	}
	OpenAI struct {
		BaseURL string
		APIKey  string
	}
	Tools struct {
		Off []string
		Max int
	}
	Web struct {
		Search    string
		SearchURL string
	}
	Weather struct{ Units string }
	Daily   struct {
		Folder  string
		Pattern string
	}
	Memory struct {
		Messages int
		Scope    string
		K        int
		Place    string
		File     string
	}
	MCP struct {
		Timeout time.Duration
	}
	Mail struct {
		Host         string
		Port         int
		User         string
		PasswordFile string
		From         string
		TLS          string
	}
	Traces struct {
		Turn  int
		Total int
	}
	RAG struct {
		Store          string
		ChromaURL      string
		ChromaTenant   string
		ChromaDatabase string
		ChromaToken    string
		Rerank         bool
	}
	Passages int
	Parallel int
	Theme    string
	Mouse    bool
	Editor   string
	Editing  string
	Notify   bool
	Keys     map[string][]string // of the screen, by action

	Misspelt []string // LIFEHUB_… in the environment that set nothing, each with the nearest name
	Opened   []string // what of the files others could read
	Removed  []string // settings of the file that there are no longer

	Origin map[string]string // setting → the layer that set it, as config show prints it
}

// setting is one key of the config.
type setting struct {
	Name   string   // as in the file: ollama.host
	Env    []string // besides LIFEHUB_OLLAMA_HOST; the first that is set counts
	Doc    string
	one    []string // the values it may have; nil: any
	orFile bool     // or the path of a file, with a slash in it
	least  int      // the smallest number
	Quiet  bool     // its value is a secret and is not shown
	Field  any      // pointer into a Config
}

// All lists every key, in the order in which the file is written.
func All(c *Config) []setting {
	return []setting{
		{Name: "notes", Field: &c.Notes, Doc: "folders of markdown notes; `lifehub index DIR` adds to them"},
		{Name: "provider", Field: &c.Provider, one: []string{"auto", "ollama", "openai", "offline"}, Doc: "where the model runs; auto: Ollama if it answers, else offline"},
		{Name: "model", Field: &c.Model, Doc: "chat model; empty: the first installed one that can use tools"},
		{Name: "embed_model", Field: &c.EmbedModel, Doc: "model that turns notes into vectors; empty: nomic-embed-text on Ollama, else words and built-in n-grams"},
		{Name: "context", Field: &c.Context, Doc: "tokens of the context window; 0: by the model's own limit and this machine's memory"},
		{Name: "mode", Field: &c.Mode, one: []string{"plan", "loop", "team"}, Doc: "how a question is worked on: by a plan, call by call, or by a lead with workers"},
		{Name: "loop.max", Field: &c.Loop.Max, least: 1, Doc: "rounds of the mode loop; then it answers with what it has"},
		{Name: "replans", Field: &c.Replans, Doc: "how often the mode plan revises a plan of which a step failed or found nothing; 0: never"},
		{Name: "think", Field: &c.Think, one: []string{"off", "on", "low", "medium", "high"}, Doc: "let the model think first, where it can"},
		{Name: "ollama.host", Field: &c.Ollama.Host, Env: []string{"OLLAMA_HOST"}, Doc: "address of the Ollama server"},
		{Name: "ollama.keep_alive", Field: &c.Ollama.KeepAlive, Doc: "how long the model stays loaded after an answer"},
		{Name: "openai.base_url", Field: &c.OpenAI.BaseURL, Env: []string{"OPENAI_BASE_URL"}, Doc: "address of an OpenAI-compatible server, with its /v1"},
		{Name: "openai.api_key", Field: &c.OpenAI.APIKey, Env: []string{"OPENAI_API_KEY"}, Quiet: true, Doc: "its key; better kept in the environment"},
		{Name: "rag.rerank", Field: &c.RAG.Rerank, Doc: "let the chat model put the passages found in order: one more call for each search"},
		{Name: "rag.store", Field: &c.RAG.Store, one: []string{"local", "chroma"}, Doc: "where the vectors of notes lie; chroma: on a server, shared by all machines that have a notes folder of that name"},
		{Name: "rag.chroma_url", Field: &c.RAG.ChromaURL, Doc: "address of the Chroma server; it is given vectors and hashes, no text"},
		{Name: "rag.chroma_tenant", Field: &c.RAG.ChromaTenant, Doc: "tenant on the Chroma server"},
		{Name: "rag.chroma_database", Field: &c.RAG.ChromaDatabase, Doc: "database of that tenant, which must exist; teams that share a server have one each"},
		{Name: "rag.chroma_token", Field: &c.RAG.ChromaToken, Quiet: true, Doc: "token for the Chroma server; better kept in the environment"},
		{Name: "passages", Field: &c.Passages, least: 1, Doc: "passages that a search brings"},
		{Name: "parallel", Field: &c.Parallel, least: 1, Doc: "steps of a plan that run at once"},
		{Name: "tools.off", Field: &c.Tools.Off, Doc: "tools that are switched off, by name or glob"},
		{Name: "tools.max", Field: &c.Tools.Max, least: 1, Doc: "tools offered to the planner; the most relevant ones when there are more"},
		{Name: "web.search", Field: &c.Web.Search, one: []string{"duckduckgo", "searxng"}, Doc: "who searches the web; tools.off: [web_search] lets nobody"},
		{Name: "web.search_url", Field: &c.Web.SearchURL, Doc: "address of that server, which may stand on this machine, as in http://127.0.0.1:8888 for SearXNG; empty: DuckDuckGo's own"},
		{Name: "weather.units", Field: &c.Weather.Units, one: []string{"metric", "imperial"}, Doc: "how the weather is told, where the question does not say"},
		{Name: "daily.folder", Field: &c.Daily.Folder, Doc: "folder of the daily notes; empty: found from the notes there are"},
		{Name: "daily.pattern", Field: &c.Daily.Pattern, Doc: "name of a daily note, as in 2006-01-02.md; empty: found from the notes there are"},
		{Name: "memory.messages", Field: &c.Memory.Messages, least: 2, Doc: "last messages of the conversation that stand in every prompt; older ones are remembered by memory.scope"},
		{Name: "memory.scope", Field: &c.Memory.Scope, one: []string{"conversation", "all", "off"}, Doc: "where past exchanges come back from: the conversation under way, all of them, or none"},
		{Name: "memory.k", Field: &c.Memory.K, least: 1, Doc: "past exchanges that come back at most"},
		{Name: "memory.place", Field: &c.Memory.Place, one: []string{"data", "vault"}, Doc: "where facts about you are kept: in LifeHub's data folder, or in the first folder of notes"},
		{Name: "memory.file", Field: &c.Memory.File, Doc: "their file, below that place"},
		{Name: "mcp.timeout", Field: &c.MCP.Timeout, Doc: "the longest that one call of an MCP tool may take"},
		{Name: "traces.turn", Field: &c.Traces.Turn, least: 1, Doc: "the most that the trace of one turn may tell, in KiB; the rest is left out"},
		{Name: "traces.total", Field: &c.Traces.Total, Doc: "the most that all traces together take on the disk, in MiB, the oldest go first; 0: none are kept"},
		{Name: "mail.host", Field: &c.Mail.Host, Doc: "server that sends mail (SMTP); empty: no mail is sent"},
		{Name: "mail.port", Field: &c.Mail.Port, Doc: "its port; 0: 587, or 465 with mail.tls: tls"},
		{Name: "mail.from", Field: &c.Mail.From, Doc: "your own address, as in Ana Example <ana@example.org>"},
		{Name: "mail.user", Field: &c.Mail.User, Doc: "who signs in; empty: nobody has to"},
		{Name: "mail.password_file", Field: &c.Mail.PasswordFile, Doc: "file that holds the password and that only you can read; LIFEHUB_MAIL_PASSWORD goes before it"},
		{Name: "mail.tls", Field: &c.Mail.TLS, one: []string{"starttls", "tls", "none"}, Doc: "how the connection is kept private; none is for a server on this machine"},
		{Name: "theme", Field: &c.Theme, one: []string{"auto", "dark", "light", "ansi", "contrast"}, orFile: true, Doc: "colours; auto: by the terminal's background; contrast tells nothing by red and green; or a file of your own colours, as in brand: \"#B39DFF\""},
		{Name: "mouse", Field: &c.Mouse, Doc: "let the mouse wheel scroll; the terminal's own selection then needs Shift"},
		{Name: "editor", Field: &c.Editor, Env: []string{"VISUAL", "EDITOR"}, Doc: "opens a source at its line"},
		{Name: "editing", Field: &c.Editing, one: []string{"emacs", "vi"}, Doc: "how the keys edit what you write"},
		{Name: "notify", Field: &c.Notify, Doc: "ring, and tell the terminal, when an answer is done or a question waits and the window has no focus"},
	}
}

// Defaults are the values of every setting before any layer.
func Defaults() *Config {
	c := &Config{Provider: "auto", Mode: "plan", Think: "off", Passages: 5, Parallel: 4, Replans: 2, Theme: "auto", Editing: "emacs", Notify: true, Mouse: true, Origin: map[string]string{}}
	c.Loop.Max = 8
	c.Ollama.Host = "http://127.0.0.1:11434"
	c.Ollama.KeepAlive = 10 * time.Minute
	c.RAG.Store = "local"
	c.RAG.ChromaURL = "http://127.0.0.1:8000"
	c.RAG.ChromaTenant = "default_tenant"
	c.RAG.ChromaDatabase = "default_database"
	c.Tools.Max = 20
	c.Web.Search = "duckduckgo"
	c.Weather.Units = "metric"
	c.Memory.Messages = 6
	c.Memory.Scope, c.Memory.K = "conversation", 1
	c.Memory.Place, c.Memory.File = "data", "memory.md"
	c.MCP.Timeout = time.Minute
	c.Mail.TLS = "starttls"
	c.Traces.Turn, c.Traces.Total = 4096, 2
	return c
}

// Load reads the layers below the flags. A missing file is no error;
// an unknown key or a bad value is one, with file:line.
func Load(file string, getenv func(string) (string, bool)) (*Config, error) {
	c := Defaults()
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if err := c.ReadFile(file, data); err != nil {
		return nil, err
	}
	if err := c.readEnv(getenv); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) isGroup(name string) bool {
	return slices.ContainsFunc(All(c), func(s setting) bool { return strings.HasPrefix(s.Name, name+".") })
}

// setting finds a key; its error names the nearest one.
func (c *Config) setting(name string) (setting, error) {
	all := All(c)
	nearest, best := "", 4
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
		if d := distance(s.Name, name); d < best {
			nearest, best = s.Name, d
		}
	}
	if nearest != "" {
		return setting{}, fmt.Errorf("unknown setting %q; did you mean %q?", name, nearest)
	}
	return setting{}, fmt.Errorf("unknown setting %q; `lifehub config show` lists them all", name)
}

// distance is the Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

func (c *Config) readEnv(getenv func(string) (string, bool)) error {
	for _, s := range All(c) {
		for _, name := range append([]string{s.EnvName()}, s.Env...) {
			value, ok := getenv(name)
			if !ok || value == "" {
				continue
			}
			if err := s.set([]string{value}, false); err != nil {
				return UsageError{Err: fmt.Errorf("%s in the environment: %w", name, err)}
			}
			c.Origin[s.Name] = "$" + name
			break
		}
	}
	return nil
}

// MisspeltNames lists the LIFEHUB_… names of an environment that nothing
// reads, each with the name that may be meant.
func MisspeltNames(environ []string) (notices []string) {
	known := []string{"LIFEHUB_HOME", PasswordEnv}
	for _, s := range All(Defaults()) {
		known = append(known, s.EnvName())
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, "LIFEHUB_") || slices.Contains(known, name) || name == "LIFEHUB_MCP_SERVER" ||
			slices.ContainsFunc([]string{"LIFEHUB_TEST_", "LIFEHUB_SHARED", "LIFEHUB_STRICT", "LIFEHUB_EVAL", "LIFEHUB_BENCHES"}, func(ours string) bool { return strings.HasPrefix(name, ours) }) {
			continue
		}
		nearest, best := "", len(name)/3
		for _, k := range known {
			if d := distance(k, name); d < best {
				nearest, best = k, d
			}
		}
		notice := name + " in the environment sets nothing"
		if nearest != "" {
			notice += "; did you mean " + nearest + "?"
		}
		notices = append(notices, notice)
	}
	slices.Sort(notices)
	return notices
}

// Notices are what the user should know of the settings.
func (c *Config) Notices() []string { return slices.Concat(c.Opened, c.Removed, c.Misspelt) }

// SetFlag takes a value from the command line.
func (c *Config) SetFlag(name, flag, value string) error {
	s, err := c.setting(name)
	if err != nil {
		return err
	}
	if err := s.set([]string{value}, false); err != nil {
		return UsageError{Err: fmt.Errorf("%s: %w", flag, err)}
	}
	c.Origin[name] = flag
	return nil
}

// UsageError is a mistake in how LifeHub was called or set up.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// PasswordEnv holds the password of mail; it goes before the file. It is no
// setting, so that it never stands in the config file.
const PasswordEnv = "LIFEHUB_MAIL_PASSWORD"
