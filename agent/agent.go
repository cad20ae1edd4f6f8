// Package agent answers a message. It knows no screen, no disk and no
// network: models, tools and the history of a conversation are handed to it.
// Start with [Agent.Ask]; one message's way is the file turn.go.
package agent

import (
	"context"
	"time"

	"lifehub/llm"
)

// Options is what an Agent works with. Model and History are required.
type Options struct {
	Model   llm.Model
	Window  func() int    // tokens that the model's window holds; nil or 0: unknown
	Tools   func() []Tool // the enabled tools of this moment; nil: none
	History History
	Rules   *Rules                                     // nil: each tool's own level
	Save    func(ctx context.Context, rule Rule) error // keeps an "always"; nil: for this run only

	// Instructions is the user's persona, put before every prompt.
	Instructions string
	Passages     int              // passages that a search brings; 0: 5
	Parallel     int              // steps at once; 0: 4
	MaxTools     int              // tools offered to the planner; 0: 20
	Think        func() string    // as in llm.Request; nil: off
	Now          func() time.Time // nil: time.Now
}

// History keeps conversations. *store.Store is the real one.
type History interface {
	// Begin keeps the user's message before anything is sent and returns the turn's id.
	Begin(ctx context.Context, conversation, message string) (turn string, err error)
	// Recent returns the last messages before the turn that is under way, oldest first.
	Recent(ctx context.Context, conversation string, limit int) ([]llm.Message, error)
	// Finish keeps the answer, whole or cut, and closes the turn.
	Finish(ctx context.Context, turn string, answer Answer) error
}

// Answer is what the user gets to read, and what is kept of a turn.
type Answer struct {
	Text      string // markdown
	Sources   []Source
	Citations []Citation
	Metrics   Metrics
	Cut       bool   // the user or a fault stopped it
	Error     string // why the turn failed; "" if it did not
}

// Agent answers messages. Make it with [New]; it is safe for concurrent use.
type Agent struct {
	Options
	gate *gate
}
