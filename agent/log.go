package agent

import (
	"strings"

	"lifehub/internal/text"
)

// Bounds of the text in a log, in bytes. The full results are in the prompt and
// in the trace.
const (
	maxAction  = 300
	maxThought = 2 << 10 // of a thought, which is cut at the end
)

// ActionOf formats a step for a log.
func ActionOf(s Step) string {
	return text.Clip(text.OneLine(s.Tool+"("+string(s.Input)+")"), maxAction)
}

// follow adds an event to the course of the turn, as far as it is shown when
// the turn is opened again: the size of a result, not its text. The caller must
// hold s.sending.
func (s *Stream) follow(e Event) {
	at := len(s.Text())
	switch body := e.Body.(type) {
	case Said:
		if s.speaks() || body.Takes > 0 {
			return
		}
		at, e.Body = at-len(body.Content), Said{} // the text is in the answer
	case Thought:
		if before := s.thought(body, at); before != nil {
			if had := before.Event.Body.(Thought); len(had.Content) <= maxThought { // it arrives in thousands of pieces
				had.Content += body.Content
				before.Event.Body = had
			}
			return
		}
	case ContextCounted:
		if body.Step != "" || !s.speaks() {
			return
		}
		e.Body = ContextCounted{}
	case ToolEnded:
		body.Output, body.Error, body.Cause = text.Clip(body.Output, MaxLogged), text.Clip(body.Error, MaxLogged),
			text.Clip(body.Cause, MaxLogged)
		body.Sources = make([]Source, len(body.Sources))
		e.Body = body
	case Evaluated:
		body.Report = text.Clip(body.Report, MaxLogged)
		e.Body = body
	case Remembered:
		recalled := make([]Recollection, len(body.Exchanges))
		for i, r := range body.Exchanges {
			recalled[i] = Recollection{Asked: r.Asked, Question: r.Question, Untrusted: r.Untrusted}
		}
		body.Exchanges = recalled
		e.Body = body
	case PlanMade:
		body.Reasoning = ""
		e.Body = body
	case Noticed, PhaseStarted, PhaseEnded, ArtifactChanged, StepChanged, ToolStarted, PermissionGiven:
	default:
		return
	}
	s.course = append(s.course, CourseEvent{At: at, Event: e})
}

// speaks reports whether the last event of the course is a piece of the answer.
func (s *Stream) speaks() bool {
	if len(s.course) == 0 {
		return false
	}
	_, isText := s.course[len(s.course)-1].Event.Body.(Said)
	return isText
}

// thought returns the unfinished thought of the same agent and step at an
// offset of the answer; nil if a new one begins. Workers think concurrently.
func (s *Stream) thought(of Thought, at int) *CourseEvent {
	for i := len(s.course) - 1; i >= 0 && s.course[i].At == at; i-- {
		switch before := s.course[i].Event.Body.(type) {
		case Thought:
			if before.Step == of.Step && before.Agent == of.Agent {
				return &s.course[i]
			}
		case PhaseEnded:
			if before.Step == of.Step {
				return nil
			}
		case PlanMade:
			if of.Step == "" && before.Under == "" {
				return nil
			}
		}
	}
	return nil
}

// Course returns the events of the turn, including the one that ends it.
func (s *Stream) Course(end Body) []CourseEvent {
	s.sending.Lock()
	defer s.sending.Unlock()
	for i, m := range s.course {
		if thought, ok := m.Event.Body.(Thought); ok && len(thought.Content) > maxThought {
			thought.Content = strings.ToValidUTF8(thought.Content[:maxThought], "") + "…"
			s.course[i].Event.Body = thought
		}
	}
	switch body := end.(type) {
	case Ended:
		end = Ended{Nearest: body.Nearest, Coverage: body.Coverage, Metrics: Metrics{Interrupted: body.Interrupted}}
	case Failed:
		end = Failed{Message: body.Message, Hint: body.Hint}
	}
	return append(s.course, CourseEvent{At: len(s.Text()), Event: Event{
		Type: TypeOf(end), Turn: s.Turn,
		Time: s.Now(), Body: end,
	}})
}

// Log returns the actions and thoughts of the turn itself, with the results of
// its calls, by step.
func (s *Stream) Log(results map[string]string) (log []Logged) {
	s.sending.Lock()
	defer s.sending.Unlock()
	for _, m := range s.course {
		switch body := m.Event.Body.(type) {
		case Thought:
			if body.Step == "" {
				log = append(log, Logged{At: m.At, Thought: text.Clip(body.Content, maxThought)})
			}
		case PlanMade:
			for _, step := range body.Steps {
				if body.Under == "" {
					log = append(log, Logged{At: m.At, Step: step.ID, Action: ActionOf(step), Result: results[step.ID]})
				}
			}
		}
	}
	return log
}
