package agent

import (
	"context"
	_ "embed"
	"errors"
	"strings"
	"time"

	"lifehub/internal/when"
)

// Summary is a summary of older turns of a conversation.
type Summary struct {
	Turn   string `json:"turn"` // last turn that it covers; "" if there is no summary
	Text   string `json:"text"`
	Origin Origin `json:"origin,omitzero"` // of what it summarises
}

// Summaries stores summaries. *store.Store implements it.
type Summaries interface {
	// SaveSummary saves a summary of the path up to and including its turn.
	SaveSummary(ctx context.Context, s Summary) error
}

// Compacted reports the result of a compaction.
type Compacted struct {
	Messages int    // number of messages newly covered by the summary
	Before   int    // estimated tokens of these messages and of the previous summary
	After    int    // estimated tokens of the new summary
	Text     string // the summary
}

// ErrNothingToCompact means that all messages stay in full or are already
// summarized.
var ErrNothingToCompact = errors.New("there is nothing to compact: the last 4 messages always stay in full")

// Fact is a remembered line about the user. It is stored in a file that the
// user can read and edit.
//
// See docs/design/memory.md.
type Fact struct {
	Text      string   `json:"text"`
	Date      when.Day `json:"date,omitzero"`
	Origin    string   `json:"origin,omitempty"`  // "you", or the conversation that it came from; "" if unknown
	Untrusted bool     `json:"foreign,omitempty"` // derived from text from outside
	Fits      bool     `json:"fits,omitempty"`    // it fits the current question
	Path      string   `json:"path"`              // path within Vault
	Vault     string   `json:"vault"`             // absolute path of the folder with the file
	Line      int      `json:"line"`
	Written   string   `json:"-"` // the line as it is in the file
}

// Provenance returns the date and origin of the fact as written in the file.
func (f Fact) Provenance() string {
	var parts []string
	if !f.Date.IsZero() {
		parts = append(parts, f.Date.String())
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

// Source returns the fact as a citable source.
func (f Fact) Source() Source {
	return Source{
		Path: f.Path, Vault: f.Vault, Line: f.Line, EndLine: f.Line,
		Heading: "Memory", Text: f.Text, Lines: f.Written, Date: f.Date, Untrusted: f.Untrusted,
	}
}

// Memory stores exchanges that left the window, and finds them again.
// *store.Store implements it.
type Memory interface {
	// Archive archives the exchanges of the conversation's current path that
	// precede its last window messages and, if everywhere is set, those of all
	// other conversations. It returns the number of new ones.
	Archive(ctx context.Context, conversation string, window int, everywhere bool) (int, error)
	// Similar returns candidates for Recall, in no particular order.
	Similar(ctx context.Context, q MemoryQuery) ([]Recollection, error)
	// Unembedded returns the next exchanges without a vector of this embedder, in
	// the order of their Memory, from the first after the given one.
	Unembedded(ctx context.Context, embedder string, after int64, limit int) ([]Recollection, error)
	// SaveVectors saves vectors by turn, replacing those of another embedder.
	SaveVectors(ctx context.Context, embedder string, vectors map[string][]float32) error
}

// MemoryQuery asks for archived exchanges that are similar to a question.
type MemoryQuery struct {
	Conversation string
	Everywhere   bool // search all conversations rather than the current path of this one
	Window       int  // number of last messages to skip, because they are in the prompt
	Question     string
	Embedder     string    // embedder that produced Vector
	Vector       []float32 // of the question; nil: keyword search only
	Limit        int       // number of candidates from the keyword search and from the vector search each
}

// Recollection is a past exchange.
type Recollection struct {
	Turn         string    `json:"turn"`
	Conversation string    `json:"conversation"`
	Title        string    `json:"title,omitempty"` // of the conversation
	Asked        time.Time `json:"asked"`
	Question     string    `json:"question"`
	Answer       string    `json:"answer"`
	Untrusted    bool      `json:"foreign,omitempty"` // it, or the title, contains text from outside
	Origin       Origin    `json:"origin,omitzero"`
	Score        float64   `json:"score"` // how well it fits, 0 to 1

	Memory int64   `json:"-"` // its number in the archive, from 1; later ones are greater
	BM25   float64 `json:"-"` // BM25 score of the question's words; 0 if none is shared
	Cosine float64 `json:"-"` // cosine of the vectors; 0 if there is no vector
	ZScore float64 `json:"-"` // standard deviations of Cosine above the mean of all exchanges; 0 if there are too few
}

// TokenRatio is what was measured about how a model server counts tokens, and how
// fast it makes them.
//
// See docs/design/models-and-windows.md.
type TokenRatio struct {
	Scale  float64 // ratio of the server's last count to the estimate; 0 if not measured
	Writes float64 // tokens a second of the first answer that was measured; 0 if none was
}

// TokenRatios stores measured ratios. *store.Store implements it.
type TokenRatios interface {
	// TokenRatio returns the zero value for a model that was never measured.
	TokenRatio(ctx context.Context, model string) (TokenRatio, error)
	SaveTokenRatio(ctx context.Context, model string, g TokenRatio) error
}
