package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Journal keeps what a turn is about to do and what it did, so that a turn
// that was killed can be resumed. *store.Store is the real one.
// Why: docs/design/journal-and-resume.md.
type Journal interface {
	// Record keeps entries of a turn, all of them or none, and returns when
	// they would survive a kill and a power cut.
	Record(ctx context.Context, turn string, entries ...Entry) error
	// Progress keeps the answer so far, the whole text.
	Progress(ctx context.Context, turn, text string) error
	// Reopen takes a turn that did not come to its end, and returns what is
	// kept of it. The error is [ErrBusy] while somebody is at it, and
	// [ErrOver] when there is nothing to resume.
	Reopen(ctx context.Context, conversation, turn string) (Unfinished, error)
}

// The errors of Reopen that say why a turn cannot be resumed.
var (
	ErrBusy = errors.New("another LifeHub is working on it")
	ErrOver = errors.New("it has ended, or the conversation continued after it")
)

// Unfinished is what was saved of a turn that did not come to its end.
type Unfinished struct {
	Question string
	Text     string  // of the answer so far
	Entries  []Entry // in the order in which they were recorded

	// Damaged: entries are missing or cannot be read. What is not known to
	// have ended may then have been started.
	Damaged bool
}

// Moment is what an entry of the journal records.
type Moment string

// The moments of a turn. The first tells its plan, the last what the evaluator
// said of a worker's attempt, the others of one call each: what it will be,
// that the user is asked, what was decided, that it starts, how it ended. Each
// is kept before the next thing happens.
const (
	Planned     Moment = "planned"
	Intended    Moment = "intended"
	CallAsked   Moment = "asked"
	Decided     Moment = "decided"
	CallStarted Moment = "started"
	CallEnded   Moment = "ended"
	Judged      Moment = "judged"
)

// Entry is one moment of a turn. Which fields are set depends on the moment.
type Entry struct {
	Version int       `json:"v"`
	Moment  Moment    `json:"moment"`
	Time    time.Time `json:"time"`
	Step    string    `json:"step,omitempty"`

	Plan *PlanMade `json:"plan,omitempty"` // planned
	Said string    `json:"said,omitempty"` // planned: what was said before the plan was known

	// Untrusted says where the text comes from that stood in the prompt and is
	// not the user's own (planned).
	Untrusted []string `json:"foreign,omitempty"`

	Tool  string          `json:"tool,omitempty"`  // intended
	Input json.RawMessage `json:"input,omitempty"` // intended: the very bytes
	Hash  string          `json:"hash,omitempty"`  // intended: SHA-256 of Input, in hex

	Decision Decision `json:"decision,omitempty"` // decided
	Reason   string   `json:"reason,omitempty"`   // asked: which rule asked; decided, ended: why

	Mark json.RawMessage `json:"mark,omitempty"` // started: what the tool needs to tell whether it happened

	Status Status  `json:"status,omitempty"` // ended
	Result *Result `json:"-"`                // ended: kept next to the entry, because it may be long

	Effects []Effect `json:"effects,omitempty"` // ended: what the call did

	Attempt int        `json:"attempt,omitempty"` // judged: of the worker of Step
	Report  string     `json:"report,omitempty"`  // judged
	Verdict *Judgement `json:"verdict,omitempty"` // judged
}

// Happened says whether a call that was started has done what it does.
type Happened int

// What is known of such a call.
const (
	MayHaveHappened Happened = iota
	HasNotHappened
	HasHappened
)
