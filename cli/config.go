package cli

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
// settings().
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
	Chats struct {
		Index bool
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

	misspelt []string // LIFEHUB_… in the environment that set nothing, each with the nearest name
	opened   []string // what of the files others could read
	removed  []string // settings of the file that there are no longer

	origin map[string]string // setting → the layer that set it, as config show prints it
}

// setting is one key of the config.
type setting struct {
	name   string   // as in the file: ollama.host
	env    []string // besides LIFEHUB_OLLAMA_HOST; the first that is set counts
	doc    string
	one    []string // the values it may have; nil: any
	orFile bool     // or the path of a file, with a slash in it
	least  int      // the smallest number
	quiet  bool     // its value is a secret and is not shown
	field  any      // pointer into a Config
}

// settings lists every key, in the order in which the file is written.
func settings(c *Config) []setting {
	return []setting{
		{name: "notes", field: &c.Notes, doc: "folders of markdown notes; `lifehub index DIR` adds to them"},
		{name: "provider", field: &c.Provider, one: []string{"auto", "ollama", "openai", "offline"}, doc: "where the model runs; auto: Ollama if it answers, else offline"},
		{name: "model", field: &c.Model, doc: "chat model; empty: the first installed one that can use tools"},
		{name: "embed_model", field: &c.EmbedModel, doc: "model that turns notes into vectors; empty: nomic-embed-text on Ollama, else words and built-in n-grams"},
		{name: "context", field: &c.Context, doc: "tokens of the context window; 0: by the model's own limit and this machine's memory"},
		{name: "mode", field: &c.Mode, one: []string{"plan", "loop", "team"}, doc: "how a question is worked on: by a plan, call by call, or by a lead with workers"},
		{name: "loop.max", field: &c.Loop.Max, least: 1, doc: "rounds of the mode loop; then it answers with what it has"},
		{name: "replans", field: &c.Replans, doc: "how often the mode plan revises a plan of which a step failed or found nothing; 0: never"},
		{name: "think", field: &c.Think, one: []string{"off", "on", "low", "medium", "high"}, doc: "let the model think first, where it can"},
		{name: "ollama.host", field: &c.Ollama.Host, env: []string{"OLLAMA_HOST"}, doc: "address of the Ollama server"},
		{name: "ollama.keep_alive", field: &c.Ollama.KeepAlive, doc: "how long the model stays loaded after an answer"},
		{name: "openai.base_url", field: &c.OpenAI.BaseURL, env: []string{"OPENAI_BASE_URL"}, doc: "address of an OpenAI-compatible server, with its /v1"},
		{name: "openai.api_key", field: &c.OpenAI.APIKey, env: []string{"OPENAI_API_KEY"}, quiet: true, doc: "its key; better kept in the environment"},
		{name: "rag.rerank", field: &c.RAG.Rerank, doc: "let the chat model put the passages found in order: one more call for each search"},
		{name: "rag.store", field: &c.RAG.Store, one: []string{"local", "chroma"}, doc: "where the vectors of notes lie; chroma: on a server, shared by all machines that have a notes folder of that name"},
		{name: "rag.chroma_url", field: &c.RAG.ChromaURL, doc: "address of the Chroma server; it is given vectors and hashes, no text"},
		{name: "rag.chroma_tenant", field: &c.RAG.ChromaTenant, doc: "tenant on the Chroma server"},
		{name: "rag.chroma_database", field: &c.RAG.ChromaDatabase, doc: "database of that tenant, which must exist; teams that share a server have one each"},
		{name: "rag.chroma_token", field: &c.RAG.ChromaToken, quiet: true, doc: "token for the Chroma server; better kept in the environment"},
		{name: "passages", field: &c.Passages, least: 1, doc: "passages that a search brings"},
		{name: "parallel", field: &c.Parallel, least: 1, doc: "steps of a plan that run at once"},
		{name: "tools.off", field: &c.Tools.Off, doc: "tools that are switched off, by name or glob"},
		{name: "tools.max", field: &c.Tools.Max, least: 1, doc: "tools offered to the planner; the most relevant ones when there are more"},
		{name: "web.search", field: &c.Web.Search, one: []string{"duckduckgo", "searxng"}, doc: "who searches the web; tools.off: [web_search] lets nobody"},
		{name: "web.search_url", field: &c.Web.SearchURL, doc: "address of that server, which may stand on this machine, as in http://127.0.0.1:8888 for SearXNG; empty: DuckDuckGo's own"},
		{name: "weather.units", field: &c.Weather.Units, one: []string{"metric", "imperial"}, doc: "how the weather is told, where the question does not say"},
		{name: "daily.folder", field: &c.Daily.Folder, doc: "folder of the daily notes; empty: found from the notes there are"},
		{name: "daily.pattern", field: &c.Daily.Pattern, doc: "name of a daily note, as in 2006-01-02.md; empty: found from the notes there are"},
		{name: "memory.messages", field: &c.Memory.Messages, least: 2, doc: "last messages of the conversation that stand in every prompt; older ones are remembered by memory.scope"},
		{name: "memory.scope", field: &c.Memory.Scope, one: []string{"conversation", "all", "off"}, doc: "where past exchanges come back from: the conversation under way, all of them, or none"},
		{name: "memory.k", field: &c.Memory.K, least: 1, doc: "past exchanges that come back at most"},
		{name: "memory.place", field: &c.Memory.Place, one: []string{"data", "vault"}, doc: "where facts about you are kept: in LifeHub's data folder, or in the first folder of notes"},
		{name: "memory.file", field: &c.Memory.File, doc: "their file, below that place"},
		{name: "chats.index", field: &c.Chats.Index, doc: "let searches find conversations too, as notes; each is there from the next start of LifeHub on"},
		{name: "mcp.timeout", field: &c.MCP.Timeout, doc: "the longest that one call of an MCP tool may take"},
		{name: "traces.turn", field: &c.Traces.Turn, least: 1, doc: "the most that the trace of one turn may tell, in KiB; the rest is left out"},
		{name: "traces.total", field: &c.Traces.Total, doc: "the most that all traces together take on the disk, in MiB, the oldest go first; 0: none are kept"},
		{name: "mail.host", field: &c.Mail.Host, doc: "server that sends mail (SMTP); empty: no mail is sent"},
		{name: "mail.port", field: &c.Mail.Port, doc: "its port; 0: 587, or 465 with mail.tls: tls"},
		{name: "mail.from", field: &c.Mail.From, doc: "your own address, as in Ana Example <ana@example.org>"},
		{name: "mail.user", field: &c.Mail.User, doc: "who signs in; empty: nobody has to"},
		{name: "mail.password_file", field: &c.Mail.PasswordFile, doc: "file that holds the password and that only you can read; LIFEHUB_MAIL_PASSWORD goes before it"},
		{name: "mail.tls", field: &c.Mail.TLS, one: []string{"starttls", "tls", "none"}, doc: "how the connection is kept private; none is for a server on this machine"},
		{name: "theme", field: &c.Theme, one: []string{"auto", "dark", "light", "ansi", "contrast"}, orFile: true, doc: "colours; auto: by the terminal's background; contrast tells nothing by red and green; or a file of your own colours, as in brand: \"#B39DFF\""},
		{name: "mouse", field: &c.Mouse, doc: "let the mouse wheel scroll; the terminal's own selection then needs Shift"},
		{name: "editor", field: &c.Editor, env: []string{"VISUAL", "EDITOR"}, doc: "opens a source at its line"},
		{name: "editing", field: &c.Editing, one: []string{"emacs", "vi"}, doc: "how the keys edit what you write"},
		{name: "notify", field: &c.Notify, doc: "ring, and tell the terminal, when an answer is done or a question waits and the window has no focus"},
	}
}

// defaults are the values of every setting before any layer.
func defaults() *Config {
	c := &Config{Provider: "auto", Mode: "plan", Think: "off", Passages: 5, Parallel: 4, Replans: 2, Theme: "auto", Editing: "emacs", Notify: true, Mouse: true, origin: map[string]string{}}
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

// loadConfig reads the layers below the flags. A missing file is no error;
// an unknown key or a bad value is one, with file:line.
func loadConfig(file string, getenv func(string) (string, bool)) (*Config, error) {
	c := defaults()
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read settings: %w", err)
	}
	if err := c.readFile(file, data); err != nil {
		return nil, err
	}
	if err := c.readEnv(getenv); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Config) isGroup(name string) bool {
	return slices.ContainsFunc(settings(c), func(s setting) bool { return strings.HasPrefix(s.name, name+".") })
}

// setting finds a key; its error names the nearest one.
func (c *Config) setting(name string) (setting, error) {
	all := settings(c)
	nearest, best := "", 4
	for _, s := range all {
		if s.name == name {
			return s, nil
		}
		if d := distance(s.name, name); d < best {
			nearest, best = s.name, d
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
	for _, s := range settings(c) {
		for _, name := range append([]string{s.envName()}, s.env...) {
			value, ok := getenv(name)
			if !ok || value == "" {
				continue
			}
			if err := s.set([]string{value}, false); err != nil {
				return usageError{Err: fmt.Errorf("%s in the environment: %w", name, err)}
			}
			c.origin[s.name] = "$" + name
			break
		}
	}
	return nil
}

// misspeltNames lists the LIFEHUB_… names of an environment that nothing
// reads, each with the name that may be meant.
func misspeltNames(environ []string) (notices []string) {
	known := []string{"LIFEHUB_HOME", passwordEnv}
	for _, s := range settings(defaults()) {
		known = append(known, s.envName())
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

// notices are what the user should know of the settings.
func (c *Config) notices() []string { return slices.Concat(c.opened, c.removed, c.misspelt) }

// setFlag takes a value from the command line.
func (c *Config) setFlag(name, flag, value string) error {
	s, err := c.setting(name)
	if err != nil {
		return err
	}
	if err := s.set([]string{value}, false); err != nil {
		return usageError{Err: fmt.Errorf("%s: %w", flag, err)}
	}
	c.origin[name] = flag
	return nil
}

// usageError is a mistake in how LifeHub was called or set up.
type usageError struct{ Err error }

func (e usageError) Error() string { return e.Err.Error() }

func (e usageError) Unwrap() error { return e.Err }

// passwordEnv holds the password of mail; it goes before the file. It is no
// setting, so that it never stands in the config file.
const passwordEnv = "LIFEHUB_MAIL_PASSWORD"
