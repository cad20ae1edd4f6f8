package agent

import (
	"context"
	"strings"

	"lifehub/internal/text"
	"lifehub/llm"
)

// History keeps conversations. *store.Store is the real one.
type History interface {
	// Begin keeps the user's message before anything is sent and returns the turn's id.
	Begin(ctx context.Context, conversation, message string) (turn string, err error)
	// Recent returns the last messages before the turn that is under way, oldest first.
	Recent(ctx context.Context, conversation string, limit int) ([]llm.Message, error)
	// Exchanges returns the turns of the conversation's current path, oldest first.
	Exchanges(ctx context.Context, conversation string) ([]Exchange, error)
	// Finish keeps the answer, whole or cut, and closes the turn.
	Finish(ctx context.Context, turn string, answer Answer) error
	// Judge replaces the citations of a finished turn.
	Judge(ctx context.Context, turn string, citations []Citation) error
}

// Answer is what the user gets to read, and what is saved of a turn.
type Answer struct {
	Text      string        // markdown
	Log       []Logged      `json:",omitempty"` // what was done and thought meanwhile, in order
	Course    []CourseEvent `json:"-"`          // how the turn is shown when it is opened again; nil: only its Log was saved
	Sources   []Source
	Citations []Citation
	Effects   Effects
	Metrics   Metrics
	Cut       bool   // the user or a fault stopped it
	Error     string // why the turn failed; "" if it did not
}

// CourseEvent is an event of a saved turn, without what is not shown of it.
type CourseEvent struct {
	At    int   `json:"at,omitempty"` // bytes of the answer that were said before it
	Event Event `json:"event"`
}

// Logged is one thing that a turn did, or thought, between what it said.
type Logged struct {
	At      int    `json:"at,omitempty"`      // bytes of the answer that were said before it
	Thought string `json:"thought,omitempty"` // nothing else is set then
	Step    string `json:"step,omitempty"`
	Action  string `json:"action,omitempty"` // the call: search_notes({"query":"running"})
	Result  string `json:"result,omitempty"` // what it brought, or why it did not; "": it did not end
}

// String is the entry in one line.
func (l Logged) String() string {
	switch {
	case l.Thought != "":
		return "thought: " + text.OneLine(l.Thought)
	case l.Result == "":
		return l.Action
	}
	return l.Action + " → " + l.Result
}

// record begins the line that a model sees after each earlier answer.
const record = "\n\n(LifeHub's record of this turn: "

// WithRecord is what a model sees of the answer to an earlier message: its text,
// and from the journal what the turn did, whatever the text claims. A turn without
// an answer has its record too.
func (e Exchange) WithRecord() string {
	if e.Answer.Effects == nil {
		return e.Answer.Text // saved before effects were
	}
	did := e.Answer.Effects.String()
	if e.Undone {
		did += ", taken back since"
	}
	return strings.TrimLeft(WithoutRecord(e.Answer.Text)+record+text.OneLine(did)+")", "\n") // a model may have written one
}

// WithoutRecord is the answer's own text of one that WithRecord returned.
func WithoutRecord(said string) string {
	if at := strings.LastIndex("\n\n"+said, record); at >= 0 && strings.HasSuffix(said, ")") {
		return said[:max(0, at-2)]
	}
	return said
}

// Part is a piece of an answer: what was said, or what was done or thought
// before it went on.
type Part struct {
	Text string // markdown; "": Done
	Done []Logged
}

// Parts is the answer in the order in which it came.
func (a Answer) Parts() (parts []Part) {
	said := 0
	say := func(upTo int) {
		if upTo = min(upTo, len(a.Text)); upTo > said && strings.TrimSpace(a.Text[said:upTo]) != "" {
			parts = append(parts, Part{Text: a.Text[said:upTo]})
		}
		said = max(said, upTo)
	}
	for i, l := range a.Log {
		say(l.At)
		if last := len(parts) - 1; last >= 0 && parts[last].Text == "" {
			parts[last].Done = append(parts[last].Done, l)
		} else {
			parts = append(parts, Part{Done: a.Log[i : i+1 : i+1]})
		}
	}
	say(len(a.Text))
	return parts
}
