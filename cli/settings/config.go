// Package settings reads the config file, the environment, the paths of LifeHub's files, and what
// the user has reviewed in folders of notes.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/tui/draw"
)

// Config holds all settings after all layers: defaults, config file, environment, flags. The tags
// of a field define the setting: its name in the file (name), default (usual), allowed values (one;
// themes also allows the path of a file), minimum (least), environment variables besides
// LIFEHUB_NAME (env), and whether it is a secret that is never shown (quiet).
type Config struct {
	Notes      []string `name:"notes" doc:"folders of Markdown notes; 'lifehub index DIR' adds one"`
	OCR        string   `name:"ocr" usual:"auto" one:"auto,off" doc:"scanned pages of PDFs, and images; auto: read by tesseract if it is installed"`
	Provider   string   `name:"provider" usual:"auto" one:"auto,ollama,openai,offline" doc:"where the model runs; auto: Ollama if it answers, else offline"`
	Model      string   `name:"model" doc:"chat model, SERVER/MODEL for one of providers; empty: the first installed one that can use tools"`
	EmbedModel string   `name:"embed_model" doc:"embedding model; empty: the best installed on Ollama (embeddinggemma first), else the built-in encoder"`
	PlanModel  string   `name:"plan_model" doc:"model that plans in plan mode; empty: the chat model"`
	Context    int      `name:"context" doc:"context window in tokens; 0: by the model's limit and this machine's memory"`
	Mode       string   `name:"mode" usual:"auto" one:"auto,plan,loop,team" doc:"answer strategy: plan first, call tools step by step, or a team of workers; auto: step by step, in a form that suits the size of the model"`
	Loop       struct {
		Max int `name:"loop.max" usual:"8" least:"1" doc:"most rounds of tool calls in loop mode before it answers"`
	}
	Replans int `name:"replans" usual:"2" doc:"how often plan mode revises a plan whose step failed or found nothing; 0: never"`
	// Guard holds restrictions on what may run.
	Guard struct {
		Approve  bool `name:"approve" doc:"in plan mode, show each plan first: drop or change its steps, then run it"`
		ReadOnly bool `name:"read_only" doc:"nothing that writes or sends exists, whatever the rules say"`
	}
	FirstToken time.Duration `name:"first_token" doc:"how long to wait for a model to begin its answer; 0s: until Esc, as long as its server is there"`
	WarmStart  bool          `name:"warm_start" usual:"true" doc:"a model on this machine reads the instructions and tools when the chat opens, before the first question"`
	Think      string        `name:"think" usual:"off" one:"off,on,low,medium,high" doc:"let the model think first, if it can"`
	Ollama     struct {
		Host      string        `name:"ollama.host" usual:"http://127.0.0.1:11434" env:"OLLAMA_HOST" doc:"address of the Ollama server"`
		KeepAlive time.Duration `name:"ollama.keep_alive" usual:"10m" least:"1" doc:"how long the model stays loaded after an answer"`
	}
	OllamaOwner string `name:"ollama_owner" doc:"another user of this machine whose Ollama server may be used though ollama.host is not set"`
	OpenAI      struct {
		BaseURL string `name:"openai.base_url" env:"OPENAI_BASE_URL" doc:"URL of an OpenAI-compatible server, including /v1"`
		APIKey  string `name:"openai.api_key" env:"OPENAI_API_KEY" quiet:"true" doc:"its API key; better set in the environment"`
	}
	RAG struct {
		Store          string `name:"rag.store" usual:"local" one:"local,chroma" doc:"where note vectors are stored; chroma: on a server, shared by all machines that have a notes folder of that name"`
		ChromaURL      string `name:"rag.chroma_url" usual:"http://127.0.0.1:8000" doc:"URL of the Chroma server; it gets vectors and hashes, no text"`
		ChromaTenant   string `name:"rag.chroma_tenant" usual:"default_tenant" doc:"tenant on the Chroma server"`
		ChromaDatabase string `name:"rag.chroma_database" usual:"default_database" doc:"database of that tenant, which must exist; one per team on a shared server"`
		ChromaToken    string `name:"rag.chroma_token" quiet:"true" doc:"token for the Chroma server; better set in the environment"`
	}
	Passages int `name:"passages" usual:"5" least:"1" doc:"passages a search returns"`
	Parallel int `name:"parallel" usual:"4" least:"1" doc:"plan steps that run at once"`
	Tools    struct {
		Off []string `name:"tools.off" doc:"tools to switch off, by name or glob"`
	}
	Web struct {
		Search    string `name:"web.search" usual:"duckduckgo" one:"duckduckgo,searxng" doc:"search engine; tools.off: [web_search] switches web search off"`
		SearchURL string `name:"web.search_url" doc:"its URL, such as http://127.0.0.1:8888 for SearXNG; empty: DuckDuckGo's own"`
	}
	Weather struct {
		Units string `name:"weather.units" usual:"metric" one:"metric,imperial" doc:"units of the weather, unless the question names them"`
	}
	Daily struct {
		Folder  string `name:"daily.folder" doc:"folder of the daily notes; empty: detected"`
		Pattern string `name:"daily.pattern" doc:"file name of a daily note, as in 2006-01-02.md; empty: detected"`
	}
	Memory struct {
		Messages int    `name:"memory.messages" usual:"0" doc:"most messages of the conversation in a prompt; 0: all, up to half of the model's window, the older ones summarised"`
		Scope    string `name:"memory.scope" usual:"conversation" one:"conversation,all,off" doc:"where past exchanges come back from unasked: this conversation, all conversations, or none; off: recall finds facts only, otherwise it searches all conversations"`
		K        int    `name:"memory.k" usual:"1" least:"1" doc:"most past exchanges that come back"`
		Place    string `name:"memory.place" usual:"data" one:"data,vault" doc:"where facts about you are saved: LifeHub's data folder, or the first notes folder"`
		File     string `name:"memory.file" usual:"memory.md" doc:"name of that file"`
	}
	MCP struct {
		Timeout time.Duration `name:"mcp.timeout" usual:"1m" least:"1" doc:"timeout of one MCP tool call"`
	}
	Traces struct {
		Turn  int `name:"traces.turn" usual:"4096" least:"1" doc:"largest trace of one turn, in KiB; the rest is left out"`
		Total int `name:"traces.total" usual:"2" doc:"largest size of all traces, in MiB; the oldest are deleted first; 0: save none"`
	}
	Mail struct {
		Host         string `name:"mail.host" doc:"SMTP server; empty: no mail is sent"`
		Port         int    `name:"mail.port" doc:"its port; 0: 587, or 465 with mail.tls: tls"`
		From         string `name:"mail.from" doc:"your address, as in Ana Example <ana@example.org>"`
		User         string `name:"mail.user" doc:"user name; empty: no sign-in"`
		PasswordFile string `name:"mail.password_file" doc:"file with the password, readable only by you; LIFEHUB_MAIL_PASSWORD takes precedence"`
		TLS          string `name:"mail.tls" usual:"starttls" one:"starttls,tls,none" doc:"encryption of the connection; none is only for a server on this machine"`
	}
	Hooks struct {
		BeforeCall []string `name:"hooks.before_call" doc:"command that is asked before each call of a tool, and may deny it: the program and its arguments"`
		AfterTurn  []string `name:"hooks.after_turn" doc:"command that runs after each turn"`
	}
	Screen
	Keys map[string][]string // key bindings of the screen, by action

	Servers []ModelServer // of `providers`, in file order
	Findings

	Origin map[string]string // layer that set each setting, as config show prints it
}

// Findings are problems with the settings, to be reported to the user.
type Findings struct {
	Misspelt []string // unknown LIFEHUB_… variables, each with the nearest name
	Opened   []string // files that others could read
	Removed  []string // settings in the file that no longer exist
}

// Screen holds the settings of the screen.
type Screen struct {
	Theme   string `name:"theme" usual:"auto" themes:"true" doc:"colours; auto: by the terminal's background; contrast does not rely on red and green; or a file of your own colours, as in brand: \"#B39DFF\""`
	Mouse   bool   `name:"mouse" usual:"true" doc:"the wheel scrolls, a click opens; to select text hold Shift (on a Mac Option or Fn) while dragging"`
	Sidebar bool   `name:"sidebar" usual:"true" doc:"in a window of 150 columns or more, the plan and the sources next to the conversation; Ctrl+B switches it"`
	Editor  string `name:"editor" env:"VISUAL,EDITOR" doc:"editor for the input (Ctrl+G) and for a source at its line"`
	Notify  bool   `name:"notify" usual:"true" doc:"ring the bell and notify the terminal when an answer is done or something asks, and the window has no focus"`
}

// setting is one setting, pointing to its field in a Config.
type setting struct {
	Name   string   // as in the file: ollama.host
	Env    []string // in addition to LIFEHUB_OLLAMA_HOST; the first that is set counts
	Doc    string
	usual  string
	one    []string // the allowed values; nil allows any
	orFile bool     // the path of a file is allowed too
	least  int      // minimum of a number
	Quiet  bool     // its value is a secret that is never shown
	Field  any      // pointer into a Config
}

// All returns every setting, in the order of the config file.
func All(c *Config) []setting {
	var list []setting
	var add func(group reflect.Value)
	add = func(group reflect.Value) {
		for i := range group.NumField() {
			field, tag := group.Field(i), group.Type().Field(i).Tag
			if field.Kind() == reflect.Struct {
				add(field)
			}
			if tag.Get("name") == "" {
				continue
			}
			words := func(key string) []string {
				return strings.FieldsFunc(tag.Get(key), func(r rune) bool { return r == ',' })
			}
			least, _ := strconv.Atoi(tag.Get("least")) // 0 if there is no minimum
			one, themes := words("one"), tag.Get("themes") != ""
			if themes {
				one = draw.ThemeNames()
			}
			list = append(list, setting{
				Name: tag.Get("name"), Env: words("env"), Doc: tag.Get("doc"), usual: tag.Get("usual"), one: one,
				orFile: themes, least: least, Quiet: tag.Get("quiet") != "", Field: field.Addr().Interface(),
			})
		}
	}
	add(reflect.ValueOf(c).Elem())
	return list
}

// Defaults returns the default settings.
func Defaults() *Config {
	c := &Config{Origin: map[string]string{}}
	for _, s := range All(c) {
		if s.usual == "" {
			continue
		}
		if err := s.set([]string{s.usual}, false); err != nil {
			panic(fmt.Sprintf("the usual value of %s: %v", s.Name, err))
		}
	}
	return c
}

// Load reads all layers except flags. A missing file is not an error; an unknown key or an invalid
// value is, with file:line.
func Load(file string, getenv func(string) (string, bool)) (*Config, error) {
	c := Defaults()
	data, err := files.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, UsageError{Err: fmt.Errorf("read settings: %w", err)}
	}
	if err := c.ReadFile(file, data); err != nil {
		return nil, err
	}
	if err := c.readEnv(getenv); err != nil {
		return nil, err
	}
	return c, nil
}

// Setting returns the setting with a name. The error suggests the nearest name.
func (c *Config) Setting(name string) (setting, error) {
	var names []string
	for _, s := range All(c) {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	if near := text.Nearest(name, names, 4); near != "" {
		return setting{}, fmt.Errorf("unknown setting %q; did you mean %q?", name, near)
	}
	return setting{}, fmt.Errorf("unknown setting %q; `lifehub config show` lists them all", name)
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

// MisspeltNames returns a notice for each unknown LIFEHUB_… variable whose name is close to a known
// one.
func MisspeltNames(environ []string) (notices []string) {
	known := []string{"LIFEHUB_HOME", PasswordEnv}
	for _, s := range All(Defaults()) {
		known = append(known, s.EnvName())
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if value == "" || !strings.HasPrefix(name, "LIFEHUB_") || slices.Contains(known, name) {
			continue
		}
		if near := text.Nearest(name, known, len(name)/4); near != "" {
			notices = append(notices, name+" in the environment sets nothing; did you mean "+near+"?")
		}
	}
	slices.Sort(notices)
	return notices
}

// Notices returns what the user should know about the settings.
func (c *Config) Notices() []string { return slices.Concat(c.Opened, c.Removed, c.Misspelt) }

// SetFlag sets a value from the command line.
func (c *Config) SetFlag(name, flag, value string) error {
	s, err := c.Setting(name)
	if err != nil {
		return err
	}
	if err := s.set([]string{value}, false); err != nil {
		return UsageError{Err: fmt.Errorf("%s: %w", flag, err)}
	}
	c.Origin[name] = flag
	return nil
}

// UsageError is a mistake in how LifeHub was called or configured.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

func (e UsageError) Unwrap() error { return e.Err }

// PasswordEnv is the environment variable with the mail password, which takes precedence over the
// file. It is not a setting, so it cannot be in the config file.
const PasswordEnv = "LIFEHUB_MAIL_PASSWORD"
