package agent

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"
)

// Summary is what older turns of a conversation came down to.
type Summary struct {
	Turn  string `json:"turn"` // the last one that it covers; "": there is no summary
	Text  string `json:"text"`
	After int    `json:"after"` // messages of the current path that came after it
}

// Summaries keeps them. *store.Store is the real one.
type Summaries interface {
	// Exchanges are the turns of the conversation's current path, oldest first.
	Exchanges(ctx context.Context, conversation string) ([]Exchange, error)
	// Summary is the newest one of the current path.
	Summary(ctx context.Context, conversation string) (Summary, error)
	// KeepSummary keeps what the path up to and with a turn came down to.
	KeepSummary(ctx context.Context, turn, text string) error
}

// Compacted reports what a compaction did.
type Compacted struct {
	Messages int    // that the summary took the place of, this time
	Before   int    // estimated tokens of them, and of a summary before
	After    int    // and of the new summary
	Text     string // the summary
}

// ErrNothingToCompact says that all messages are among those that stay whole,
// or are summarised already.
var ErrNothingToCompact = errors.New("there is nothing to compact: the last 4 messages always stay in full")

// Fact is a line about the user that was to be remembered. It stands in a
// file that the user can read and edit.
// Why: docs/design/memory.md.
type Fact struct {
	Text      string    `json:"text"`
	Date      time.Time `json:"date,omitzero"`
	Origin    string    `json:"origin,omitempty"`  // "you", or the conversation that it came from; "": nobody knows
	Untrusted bool      `json:"foreign,omitempty"` // it was made from text from outside the user's own notes
	Fits      bool      `json:"fits,omitempty"`    // it is about what is asked
	Path      string    `json:"path"`              // below Vault
	Vault     string    `json:"vault"`             // the folder that holds the file, absolute
	Line      int       `json:"line"`
}

// Provenance says where the fact comes from, as its line in the file does.
func (f Fact) Provenance() string {
	var parts []string
	if !f.Date.IsZero() {
		parts = append(parts, f.Date.Format(time.DateOnly))
	}
	switch f.Origin {
	case "":
	case "you":
		parts = append(parts, "you")
	default:
		parts = append(parts, "chat "+f.Origin)
	}
	if f.Untrusted {
		parts = append(parts, "untrusted")
	}
	return strings.Join(parts, ", ")
}

// Source makes the fact something that an answer can cite.
func (f Fact) Source() Source {
	return Source{
		Path: f.Path, Vault: f.Vault, Line: f.Line, EndLine: f.Line,
		Heading: "Memory", Text: f.Text, Date: f.Date, Untrusted: f.Untrusted,
	}
}

// Memory keeps exchanges that left the window, and finds them again.
// *store.Store is the real one.
type Memory interface {
	// Archive takes in the exchanges of the conversation's current path that
	// are beyond its last window messages, and with everywhere also those of
	// all other conversations. It returns how many were new.
	Archive(ctx context.Context, conversation string, window int, everywhere bool) (int, error)
	// Similar finds candidates for Recall, in no order.
	Similar(ctx context.Context, q MemoryQuery) ([]Recollection, error)
	// Unembedded lists what has no vector of this embedder.
	Unembedded(ctx context.Context, embedder string, limit int) ([]Recollection, error)
	// KeepVectors keeps vectors by turn, in place of those of another embedder.
	KeepVectors(ctx context.Context, embedder string, vectors map[string][]float32) error
}

// MemoryQuery asks for archived exchanges like a question.
type MemoryQuery struct {
	Conversation string
	Everywhere   bool // in all conversations; else on the current path of this one
	Window       int  // its last messages, which are not searched: they stand in the prompt
	Question     string
	Embedder     string    // whose vectors to compare with
	Vector       []float32 // of the question; nil: words only
	Limit        int       // candidates by words, and as many by meaning
}

// Recollection is an exchange of the past.
type Recollection struct {
	Turn         string    `json:"turn"`
	Conversation string    `json:"conversation"`
	Title        string    `json:"title,omitempty"` // of the conversation
	Asked        time.Time `json:"asked"`
	Question     string    `json:"question"`
	Answer       string    `json:"answer"`
	Untrusted    bool      `json:"foreign,omitempty"` // it holds text from outside the user's own notes
	Score        float64   `json:"score"`             // how well it fits, 0 to 1

	BM25   float64 `json:"-"` // BM25 of the question's words; 0: none is shared
	Cosine float64 `json:"-"` // cosine of the vectors; 0: there is none
	ZScore float64 `json:"-"` // deviations by which Meaning is above the mean of all exchanges; 0: too few to tell
}

// TokenRatio is what was learned about how a model's server counts tokens.
// Why: docs/design/models-and-windows.md.
type TokenRatio struct {
	High   float64 // most tokens of the server for one of the estimate, over the prompts so far; 0: none yet
	Window int     // the server cut prompts to so many tokens and does not tell so itself; 0: never
}

// TokenRatios keeps what was learned. *store.Store is the real one.
type TokenRatios interface {
	// TokenRatio is the zero value for a model that was never measured.
	TokenRatio(ctx context.Context, model string) (TokenRatio, error)
	SaveTokenRatio(ctx context.Context, model string, g TokenRatio) error
}
