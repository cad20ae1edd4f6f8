package events

import (
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Bounds of what a log holds, in bytes: the results themselves are in the
// prompt, and in the trace.
const (
	maxAction  = 300
	maxThought = 2 << 10 // of a thought that is kept: its beginning
)

// ActionOf writes a step as a log names it.
func ActionOf(s agent.Step) string {
	return text.Clip(text.OneLine(s.Tool+"("+string(s.Input)+")"), maxAction)
}

// log notes at which place of the answer the turn itself thinks or plans a
// call. Hold s.sending.
func (s *Stream) log(body agent.Body) {
	switch e := body.(type) {
	case agent.Thought:
		at, last := len(s.Said()), len(s.logged)-1
		switch {
		case e.Step != "":
		case last >= 0 && s.logged[last].Thought != "" && s.logged[last].At == at:
			if len(s.logged[last].Thought) <= maxThought { // it arrives in thousands of pieces
				s.logged[last].Thought += e.Content
			}
		default:
			s.logged = append(s.logged, agent.Logged{At: at, Thought: e.Content})
		}
	case agent.PlanMade:
		for _, step := range e.Steps {
			if e.Under == "" {
				s.logged = append(s.logged, agent.Logged{At: len(s.Said()), Step: step.ID, Action: ActionOf(step)})
			}
		}
	}
}

// Log is the log of the turn with what came of its calls, by step.
func (s *Stream) Log(results map[string]string) []agent.Logged {
	s.sending.Lock()
	defer s.sending.Unlock()
	for i, l := range s.logged {
		if len(l.Thought) > maxThought {
			s.logged[i].Thought = strings.ToValidUTF8(l.Thought[:maxThought], "") + "…"
		}
		if l.Step != "" {
			s.logged[i].Result = results[l.Step]
		}
	}
	return s.logged
}
