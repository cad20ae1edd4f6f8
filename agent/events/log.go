package events

import (
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Bounds of the text in a log, in bytes. The full results are in the prompt and
// in the trace.
const (
	maxAction  = 300
	maxThought = 2 << 10 // of a thought, which is cut at the end
)

// ActionOf formats a step for a log.
func ActionOf(s agent.Step) string {
	return text.Clip(text.OneLine(s.Tool+"("+string(s.Input)+")"), maxAction)
}

// follow adds an event to the course of the turn, as far as it is shown when
// the turn is opened again: the size of a result, not its text. The caller must
// hold s.sending.
func (s *Stream) follow(e agent.Event) {
	at := len(s.Text())
	switch body := e.Body.(type) {
	case agent.Said:
		if s.speaks() || body.Takes > 0 {
			return
		}
		at, e.Body = at-len(body.Content), agent.Said{} // the text is in the answer
	case agent.Thought:
		if before := s.thought(body, at); before != nil {
			if had := before.Event.Body.(agent.Thought); len(had.Content) <= maxThought { // it arrives in thousands of pieces
				had.Content += body.Content
				before.Event.Body = had
			}
			return
		}
	case agent.ContextCounted:
		if body.Step != "" || !s.speaks() {
			return
		}
		e.Body = agent.ContextCounted{}
	case agent.ToolEnded:
		body.Output, body.Error, body.Cause = text.Clip(body.Output, agent.MaxLogged), text.Clip(body.Error, agent.MaxLogged), text.Clip(body.Cause, agent.MaxLogged)
		body.Sources = make([]agent.Source, len(body.Sources))
		e.Body = body
	case agent.Evaluated:
		body.Report = text.Clip(body.Report, agent.MaxLogged)
		e.Body = body
	case agent.Remembered:
		recalled := make([]agent.Recollection, len(body.Exchanges))
		for i, r := range body.Exchanges {
			recalled[i] = agent.Recollection{Asked: r.Asked, Question: r.Question, Untrusted: r.Untrusted}
		}
		body.Exchanges = recalled
		e.Body = body
	case agent.PlanMade:
		body.Reasoning = ""
		e.Body = body
	case agent.Noticed, agent.PhaseStarted, agent.PhaseEnded, agent.ArtifactChanged, agent.StepChanged, agent.ToolStarted, agent.PermissionGiven:
	default:
		return
	}
	s.course = append(s.course, agent.CourseEvent{At: at, Event: e})
}

// speaks reports whether the last event of the course is a piece of the answer.
func (s *Stream) speaks() bool {
	if len(s.course) == 0 {
		return false
	}
	_, isText := s.course[len(s.course)-1].Event.Body.(agent.Said)
	return isText
}

// thought returns the unfinished thought of the same agent and step at an
// offset of the answer; nil if a new one begins. Workers think concurrently.
func (s *Stream) thought(of agent.Thought, at int) *agent.CourseEvent {
	for i := len(s.course) - 1; i >= 0 && s.course[i].At == at; i-- {
		switch before := s.course[i].Event.Body.(type) {
		case agent.Thought:
			if before.Step == of.Step && before.Agent == of.Agent {
				return &s.course[i]
			}
		case agent.PhaseEnded:
			if before.Step == of.Step {
				return nil
			}
		case agent.PlanMade:
			if of.Step == "" && before.Under == "" {
				return nil
			}
		}
	}
	return nil
}

// Course returns the events of the turn, including the one that ends it.
func (s *Stream) Course(end agent.Body) []agent.CourseEvent {
	s.sending.Lock()
	defer s.sending.Unlock()
	for i, m := range s.course {
		if thought, ok := m.Event.Body.(agent.Thought); ok && len(thought.Content) > maxThought {
			thought.Content = strings.ToValidUTF8(thought.Content[:maxThought], "") + "…"
			s.course[i].Event.Body = thought
		}
	}
	switch body := end.(type) {
	case agent.Ended:
		end = agent.Ended{Nearest: body.Nearest, Coverage: body.Coverage, Metrics: agent.Metrics{Interrupted: body.Interrupted}}
	case agent.Failed:
		end = agent.Failed{Message: body.Message, Hint: body.Hint}
	}
	return append(s.course, agent.CourseEvent{At: len(s.Text()), Event: agent.Event{Type: agent.TypeOf(end), Turn: s.Turn, Time: s.Now(), Body: end}})
}

// Log returns the actions and thoughts of the turn itself, with the results of
// its calls, by step.
func (s *Stream) Log(results map[string]string) (log []agent.Logged) {
	s.sending.Lock()
	defer s.sending.Unlock()
	for _, m := range s.course {
		switch body := m.Event.Body.(type) {
		case agent.Thought:
			if body.Step == "" {
				log = append(log, agent.Logged{At: m.At, Thought: text.Clip(body.Content, maxThought)})
			}
		case agent.PlanMade:
			for _, step := range body.Steps {
				if body.Under == "" {
					log = append(log, agent.Logged{At: m.At, Step: step.ID, Action: ActionOf(step), Result: results[step.ID]})
				}
			}
		}
	}
	return log
}
