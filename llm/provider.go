package llm

import (
	"context"
	"time"
)

// Provider is a source of models. Packages ollama, openai, offline and servers
// implement it. All methods are safe for concurrent use.
type Provider interface {
	Model

	// State describes the model that currently answers. It never blocks.
	State() State
	// Window returns how many tokens a request may hold, prompt and answer
	// together; 0 means unbounded. It never blocks; before the model is known, it
	// returns an estimate.
	Window() int
	// SetWindow sets the window for later requests; 0 means the default.
	SetWindow(tokens int)
	// Ready waits until State and Window describe the model that will answer the
	// next request. If the server reports windows only for models in memory, the
	// model is loaded. It returns the error that the request would meet.
	Ready(ctx context.Context) error
	// Info describes a model; an empty name means the current one. Errors:
	// NotFoundError, ErrUnreachable.
	Info(ctx context.Context, name string) (Info, error)
	// Models lists the models of the server.
	Models(ctx context.Context) ([]Info, error)
	// SetModel selects the model for later requests. If the server does not have
	// it, SetModel changes nothing and returns a NotFoundError.
	SetModel(ctx context.Context, name string) error
	// Pull downloads a model to the server; progress may be nil.
	Pull(ctx context.Context, name string, progress func(Progress)) error
	// Embedder returns the current embedding model, or nil if there is none. It
	// may change whenever State does. A NotFoundError names a model to pull.
	Embedder(ctx context.Context) (Embedder, error)
	// Close stops background work.
	Close() error
}

// State describes what answers requests.
type State struct {
	Provider string // ollama, openai, offline
	Model    string // empty if unknown or offline
	Remote   string // host that runs the model, if it is not this machine
	Sent     int64  // request bytes sent to other machines so far
	Text     string // message for the user; may be empty
	Lacks    string // a missing but optional part, introduced by Text; may be empty
	First    bool   // Text describes the initial state, not a change
	// Tools reports that the model calls tools natively, as far as its server
	// says.
	Tools      bool
	Parameters float64 // its size, as its server or its name says; 0: unknown
	// RejectsLongPrompts reports that the server returns an error for a prompt
	// that exceeds the window, instead of silently truncating it.
	RejectsLongPrompts bool
}

// Progress is the progress of a download.
type Progress struct {
	Status      string
	Done, Total int64 // bytes of the current layer; 0: unknown
}

// Settings configure providers. The zero value selects Ollama or the offline
// provider at the usual addresses.
type Settings struct {
	Provider   string // auto, ollama, openai or offline; empty: auto
	Model      string // empty: the first suitable installed model
	Embedding  string // empty: on Ollama Embedded or else the best of a list that is installed, none elsewhere
	Embedded   string // name of the embedder that the notes are indexed with; empty: not indexed with one
	OllamaHost string // syntax of OLLAMA_HOST; empty: 127.0.0.1:11434
	// OllamaFound means that no setting names OllamaHost, so the server is used
	// only if a trusted user owns it. OllamaOwner, a name or uid, is trusted too.
	OllamaFound bool
	OllamaOwner string
	OpenAIURL   string        // base address, usually ending in /v1
	OpenAIKey   string        // empty: no key is sent
	Key         Key           // key of a named server; nil: use OpenAIKey
	Secrets     Redactor      // removes keys from error messages of servers; may be nil
	Servers     []Server      // in addition to the one described by the fields above
	Window      int           // tokens; 0: by the model and the memory of this machine
	KeepAlive   time.Duration // how long Ollama keeps a model in memory; 0: Ollama's default
	// FirstToken is how long to wait for the first piece of an answer; 0: no limit.
	FirstToken time.Duration

	Watcher Watcher // may be nil
}

// Redactor removes the user's secrets from a text. *redact.Redaction is the real one.
type Redactor interface {
	Known(text string) string
}

// Watcher sees which provider answers.
type Watcher interface {
	// Changed is called when another provider or model takes over automatically.
	// It runs on a goroutine of the provider and must not block.
	Changed(now State)
}

// Key returns the API key of a server.
type Key func(ctx context.Context) (string, error)

// Server is a named model server. Its models are called NAME/MODEL.
type Server struct {
	Name string
	Kind string // ollama or openai
	URL  string
	Key  Key // nil: no key is required
}

// Listing is the list of one server's models.
type Listing struct {
	Server  string // name and host, for display
	Models  []Info
	Err     error
	Waiting bool // the request is pending; another Listing follows
}

// NoEmbedding as Settings.Embedding means that another server provides
// embeddings.
const NoEmbedding = "-"

// OfflineNotice is shown when answers are given without a model.
const OfflineNotice = "no model: listing the closest passages"
