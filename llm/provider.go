package llm

import (
	"context"
	"time"
)

// Provider is a source of models. Packages ollama, openai, offline and auto
// make them.
// All methods are safe for concurrent use.
type Provider interface {
	Model

	// State says who answers at this moment. It never waits.
	State() State
	// Window is how many tokens of prompt and answer fit into one request;
	// 0: without bound. It never waits; before the model is known it is a guess.
	Window() int
	// SetWindow asks for another window from the next request on; 0: the default.
	SetWindow(tokens int)
	// Ready waits until State and Window are those of the model that answers
	// the next request. A server that knows the window only of models in memory
	// is made to load it. An error is what that request would meet too.
	Ready(ctx context.Context) error
	// Info describes a model; "" is the one in use. Errors: NotFoundError, ErrUnreachable.
	Info(ctx context.Context, name string) (Info, error)
	// Models lists what the server has.
	Models(ctx context.Context) ([]Info, error)
	// SetModel answers with another model from the next request on.
	// NotFoundError, and no change, when the server does not have it.
	SetModel(ctx context.Context, name string) error
	// Pull fetches a model to the server; progress may be nil.
	Pull(ctx context.Context, name string, progress func(Progress)) error
	// Embedder is the embedding model in use; nil: none is connected. Ask again
	// after a change of State. NotFoundError names a model to pull.
	Embedder(ctx context.Context) (Embedder, error)
	// Close ends what the provider does in the background.
	Close() error
}

// State says who answers.
type State struct {
	Provider string // ollama, openai, offline
	Model    string // "" while unknown, and offline
	Remote   string // host that runs the model, when that is not this machine
	Sent     int64  // bytes of requests that left this machine so far
	Text     string // a sentence for the user about it; "": nothing to say
	Lacks    string // what is missing though it works, told in Text when that began; "": nothing
	First    bool   // Text reports how things stand at the start, and of no change
	// RejectsLongPrompts: a prompt that is too long for the window is an error,
	// never cut in silence.
	RejectsLongPrompts bool
}

// Progress reports how far a pull is.
type Progress struct {
	Status      string
	Done, Total int64 // bytes of the layer under way; 0: unknown
}

// Settings choose a provider. The zero value is Auto with the usual addresses.
type Settings struct {
	Provider   string // auto, ollama, openai, offline; "": auto
	Model      string // "": the first installed one that fits
	Embedding  string // "": nomic-embed-text on Ollama, none elsewhere
	OllamaHost string // as OLLAMA_HOST; "": 127.0.0.1:11434
	// OllamaFound: no setting names OllamaHost, so that it is used only where a
	// trusted user owns it. OllamaOwner is one more of them, by name or uid.
	OllamaFound bool
	OllamaOwner string
	OpenAIURL   string // base, ending in /v1 as a rule
	OpenAIKey   string // "": none is sent
	Key         Key    // of a server of the list; nil: OpenAIKey
	// Redact takes keys out of what a server says in an error; nil: nothing does.
	Redact    func(string) string
	Servers   []Server      // besides the one that the fields above describe
	Window    int           // tokens; 0: by the model and the memory of this machine
	KeepAlive time.Duration // how long Ollama keeps a model loaded; 0: its own default

	// Changed is told when another provider or model takes over automatically. It
	// runs on a goroutine of the provider and must not wait; nil: nobody is told.
	Changed func(State)
}

// Key returns what a server wants to see before it answers, or why it cannot be had.
type Key func(ctx context.Context) (string, error)

// Server is a model server that the user gave a name. Its models are called
// NAME/MODEL.
type Server struct {
	Name string
	Kind string // ollama or openai
	URL  string
	Key  Key // nil: it wants none
}

// Listing is what one server says of its models.
type Listing struct {
	Server  string // its name and host, for the user
	Models  []Info
	Err     error
	Waiting bool // it has been asked; another Listing says what came of it
}

// NoEmbedding as Settings.Embedding says that another server embeds.
const NoEmbedding = "-"

// OfflineNotice is what the screen says of answers without a model.
const OfflineNotice = "no model: listing the closest passages"
