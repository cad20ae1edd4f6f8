package agent

import (
	"context"
	"strings"

	"lifehub/internal/text"
)

// History stores conversations. *store.Store implements it.
type History interface {
	// Begin saves the user's message before anything is sent, and returns the
	// turn's id.
	Begin(ctx context.Context, conversation, message string) (turn string, err error)
	// Window returns the end of the conversation's current path that may be in a
	// prompt: the turns after the newest summary that have at most so many messages.
	Window(ctx context.Context, conversation string, messages int) (Window, error)
	// Exchanges returns the turns of the conversation's current path, oldest
	// first.
	Exchanges(ctx context.Context, conversation string) ([]Exchange, error)
	// Finish saves the answer, whole or interrupted, and closes the turn.
	Finish(ctx context.Context, turn string, answer Answer) error
}

// Window is the end of a conversation's current path.
type Window struct {
	Summary   Summary    // the newest one of the path
	Exchanges []Exchange // oldest first, without Course; last an open turn, if there is one, which counts as no message
	Before    int        // number of messages of the path before them
}

// Answer is what the user reads and what is saved of a turn.
type Answer struct {
	Text      string        // markdown
	Origin    Origin        `json:"-"`          // of the prompts that it was made from
	Log       []Logged      `json:",omitempty"` // actions and thoughts, in order
	Course    []CourseEvent `json:"-"`          // events for showing the turn again; nil if only Log was saved
	Sources   []Source
	Citations []Citation
	Effects   Effects
	Metrics   Metrics
	Cut       bool   // stopped by the user or an error
	Error     string // why the turn failed; "" if it did not
}

// CourseEvent is an event of a saved turn, without the fields that are not
// shown.
type CourseEvent struct {
	At    int   `json:"at,omitempty"` // bytes of the answer before it
	Event Event `json:"event"`
}

// Logged is one action or thought of a turn.
type Logged struct {
	At      int    `json:"at,omitempty"`      // bytes of the answer before it
	Thought string `json:"thought,omitempty"` // if set, the other fields except At are empty
	Step    string `json:"step,omitempty"`
	Action  string `json:"action,omitempty"` // call, such as search_notes({"query":"running"})
	Result  string `json:"result,omitempty"` // result or error of the call; "" if it did not end
}

// String returns the entry in one line.
func (l Logged) String() string {
	switch {
	case l.Thought != "":
		return "thought: " + text.OneLine(l.Thought)
	case l.Result == "":
		return l.Action
	}
	return l.Action + " → " + l.Result
}

// Part is a piece of an answer: either text, or the actions and thoughts
// between two pieces of text.
type Part struct {
	Text string // markdown; "" if Done is set
	Done []Logged
}

// Parts returns the text, actions and thoughts in order.
func (a Answer) Parts() (parts []Part) {
	end := 0
	say := func(upTo int) {
		if upTo = min(upTo, len(a.Text)); upTo > end && strings.TrimSpace(a.Text[end:upTo]) != "" {
			parts = append(parts, Part{Text: a.Text[end:upTo]})
		}
		end = max(end, upTo)
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
