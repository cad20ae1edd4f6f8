package turn

import (
	"cmp"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Bounds of what is told and kept of a log, in bytes: the results themselves
// stand in the prompt, and in the trace.
const (
	maxAction  = 300
	maxContext = 500     // of a result that a prompt holds
	maxThought = 2 << 10 // of a thought that is kept: its beginning
)

func actionOf(s agent.Step) string {
	return text.Clip(text.OneLine(s.Tool+"("+string(s.Input)+")"), maxAction)
}

// logged is what a step came to. Passages are saved with the answer already.
func (f finding) logged(limit int) agent.Logged {
	r := f.forModel()
	if r.Cited && limit == agent.MaxLogged {
		r.Text = agent.ToolEnded{Sources: f.result.Sources}.Brief()
	}
	result := text.OneLine(r.Text)
	if f.status != agent.Done {
		result = strings.TrimSuffix(fmt.Sprintf("%s: %s", f.status, result), ": ")
	}
	return agent.Logged{Step: f.step.ID, Action: actionOf(f.step), Result: cmp.Or(text.Clip(result, limit), string(f.status))}
}

// contextLog is what a prompt holds of steps.
func contextLog(found []finding) (log []agent.Logged) {
	for _, f := range found {
		log = append(log, f.logged(maxContext))
	}
	return log
}

// log notes at which place of the answer the turn itself thinks or plans a
// call. Hold t.sending.
func (t *turn) log(body agent.Body) {
	at := t.answer.Len()
	switch e := body.(type) {
	case agent.Thought:
		last := len(t.logged) - 1
		switch {
		case e.Step != "":
		case last >= 0 && t.logged[last].Thought != "" && t.logged[last].At == at:
			if len(t.logged[last].Thought) <= maxThought { // it arrives in thousands of pieces
				t.logged[last].Thought += e.Content
			}
		default:
			t.logged = append(t.logged, agent.Logged{At: at, Thought: e.Content})
		}
	case agent.PlanMade:
		for _, s := range e.Steps {
			if e.Under == "" {
				t.logged = append(t.logged, agent.Logged{At: at, Step: s.ID, Action: actionOf(s)})
			}
		}
	}
}

// wholeLog is the log with what came of the calls.
func (t *turn) wholeLog() []agent.Logged {
	t.sending.Lock()
	defer t.sending.Unlock()
	for i, l := range t.logged {
		if len(l.Thought) > maxThought {
			t.logged[i].Thought = strings.ToValidUTF8(l.Thought[:maxThought], "") + "…"
		}
		for _, f := range t.found {
			if l.Step != "" && f.step.ID == l.Step {
				t.logged[i].Result = f.logged(agent.MaxLogged).Result
			}
		}
	}
	return t.logged
}
