package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Journal records what a turn is about to do and what it did, so that an
// interrupted turn can be resumed. *store.Store implements it.
//
// See docs/design/journal-and-resume.md.
type Journal interface {
	// Record saves all of the entries or none. When it returns, they survive a
	// crash or a power failure.
	Record(ctx context.Context, turn string, entries ...Entry) error
	// Progress saves the whole answer so far, and where it comes from.
	Progress(ctx context.Context, turn, text string, from Origin) error
	// Reopen claims a turn that did not end, and returns its saved state. The
	// error is [ErrBusy] while another process works on it, and [ErrOver] if
	// there is nothing to resume.
	Reopen(ctx context.Context, conversation, turn string) (Unfinished, error)
}

// Errors of Reopen.
var (
	ErrBusy = errors.New("another LifeHub is working on it")
	ErrOver = errors.New("it has ended, or the conversation continued after it")
)

// Unfinished is the saved state of a turn that did not end.
type Unfinished struct {
	Question string
	Text     string  // the answer so far
	Entries  []Entry // in order

	// Damaged means that entries are missing or unreadable. A call that is not
	// known to have ended may then have been started.
	Damaged bool
}

// Moment is what an entry of the journal records.
type Moment string

// The moments of a turn. Planned records its plan, Judged the evaluator's
// verdict on a worker's attempt, and Steered a message of the user that the
// turn takes while it runs. The others belong to one call: what it will be, that
// the user is asked, the decision, its start and its end. Each is saved before
// the turn continues.
const (
	Planned     Moment = "planned"
	Intended    Moment = "intended"
	CallAsked   Moment = "asked"
	Decided     Moment = "decided"
	CallStarted Moment = "started"
	CallEnded   Moment = "ended"
	Judged      Moment = "judged"
	Steered     Moment = "steered"
)

// Entry is one moment of a turn. Which fields are set depends on the moment.
type Entry struct {
	Version int       `json:"v"`
	Moment  Moment    `json:"moment"`
	Time    time.Time `json:"time"`
	Step    string    `json:"step,omitempty"`

	Plan *PlanMade `json:"plan,omitempty"` // planned
	Said string    `json:"said,omitempty"` // planned: text emitted before the plan was known

	// Origin is that of the prompt from which the plan was made (planned). If the user
	// requested the calls, there was none, and Origin is that of their arguments.
	Origin    Origin `json:"origin,omitzero"`
	Requested bool   `json:"requested,omitempty"`

	Tool  string          `json:"tool,omitempty"`  // intended
	Input json.RawMessage `json:"input,omitempty"` // intended: the exact bytes
	Hash  string          `json:"hash,omitempty"`  // intended: SHA-256 of Input, in hex

	Decision Decision `json:"decision,omitempty"` // decided
	Reason   string   `json:"reason,omitempty"`   // asked: the rule that asked; decided, ended: why

	Mark json.RawMessage `json:"mark,omitempty"` // started: what the tool needs to determine whether it happened

	Status Status  `json:"status,omitempty"` // ended
	Result *Result `json:"-"`                // ended: saved next to the entry, because it may be long

	Effects []Effect `json:"effects,omitempty"` // ended: what the call did

	Attempt int        `json:"attempt,omitempty"` // judged: attempt of the worker of Step
	Report  string     `json:"report,omitempty"`  // judged
	Verdict *Judgement `json:"verdict,omitempty"` // judged

	Steering *Steering `json:"steering,omitempty"` // steered; saved with the user's message as well
}

// Happened is whether a started call had its effect.
type Happened int

const (
	MayHaveHappened Happened = iota
	HasNotHappened
	HasHappened
)
