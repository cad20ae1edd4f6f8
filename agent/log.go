package agent

import (
	"cmp"
	"fmt"
	"strings"
)

// Logged is one thing that a turn did, or thought, between what it said.
type Logged struct {
	At      int    `json:"at,omitempty"`      // bytes of the answer that were said before it
	Thought string `json:"thought,omitempty"` // nothing else is set then
	Step    string `json:"step,omitempty"`
	Action  string `json:"action,omitempty"` // the call: search_notes({"query":"running"})
	Result  string `json:"result,omitempty"` // what it brought, or why it did not; "": it did not end
}

// Bounds of what is told and kept of a log, in bytes: the results themselves
// stand in the prompt, and in the trace.
const (
	maxAction  = 300
	maxLogged  = 200     // of a result that is kept with the answer
	maxContext = 500     // of a result that a prompt holds
	maxThought = 2 << 10 // of a thought that is kept: its beginning
)

func actionOf(s Step) string { return clip(oneLine(s.Tool+"("+string(s.Input)+")"), maxAction) }

// logged is what a step came to. Passages are saved with the answer already.
func (f finding) logged(limit int) Logged {
	r := f.forModel()
	if r.Cited && limit == maxLogged {
		r.Text = ToolEnded{Sources: f.result.Sources}.Brief()
	}
	text := oneLine(r.Text)
	if f.status != Done {
		text = strings.TrimSuffix(fmt.Sprintf("%s: %s", f.status, text), ": ")
	}
	return Logged{Step: f.step.ID, Action: actionOf(f.step), Result: cmp.Or(clip(text, limit), string(f.status))}
}

// String is the entry in one line.
func (l Logged) String() string {
	switch {
	case l.Thought != "":
		return "thought: " + oneLine(l.Thought)
	case l.Result == "":
		return l.Action
	}
	return l.Action + " → " + l.Result
}

// Brief says in one line what a call brought; "" when it failed.
func (e ToolEnded) Brief() string {
	switch {
	case len(e.Sources) == 1:
		return "1 passage"
	case len(e.Sources) > 0:
		return amount(len(e.Sources)) + " passages"
	case e.Nothing:
		return "nothing found"
	}
	return clip(oneLine(e.Output), maxLogged)
}

// contextLog is what a prompt holds of steps.
func contextLog(found []finding) (log []Logged) {
	for _, f := range found {
		log = append(log, f.logged(maxContext))
	}
	return log
}

// log notes at which place of the answer the turn itself thinks or plans a
// call. Hold t.sending.
func (t *turn) log(body Body) {
	at := t.answer.Len()
	switch e := body.(type) {
	case Thought:
		last := len(t.logged) - 1
		switch {
		case e.Step != "":
		case last >= 0 && t.logged[last].Thought != "" && t.logged[last].At == at:
			if len(t.logged[last].Thought) <= maxThought { // it arrives in thousands of pieces
				t.logged[last].Thought += e.Content
			}
		default:
			t.logged = append(t.logged, Logged{At: at, Thought: e.Content})
		}
	case PlanMade:
		for _, s := range e.Steps {
			if e.Under == "" {
				t.logged = append(t.logged, Logged{At: at, Step: s.ID, Action: actionOf(s)})
			}
		}
	}
}

// wholeLog is the log with what came of the calls.
func (t *turn) wholeLog() []Logged {
	t.sending.Lock()
	defer t.sending.Unlock()
	for i, l := range t.logged {
		if len(l.Thought) > maxThought {
			t.logged[i].Thought = strings.ToValidUTF8(l.Thought[:maxThought], "") + "…"
		}
		for _, f := range t.found {
			if l.Step != "" && f.step.ID == l.Step {
				t.logged[i].Result = f.logged(maxLogged).Result
			}
		}
	}
	return t.logged
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
