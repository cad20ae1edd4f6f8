package transcript

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/chat"
)

// Saved returns the items of a saved turn, as they were when it ended.
func (t *Model) Saved(exchange agent.Exchange) (items []Item) {
	in := &Model{Unfolded: t.Unfolded, Host: t.Host}
	asked := &Question{Text: exchange.Question, Turn: exchange.Turn, After: exchange.After, Siblings: exchange.Siblings}
	in.Add(asked)
	turn := in.Begin()
	turn.Asked = asked
	turn.reopen(exchange)
	for _, e := range in.Entries {
		items = append(items, e.Item)
	}
	return items
}

// reopen replays the events of a saved turn.
func (t *Turn) reopen(exchange agent.Exchange) {
	answer, open := exchange.Answer, exchange.Open || exchange.Running
	course := answer.Course
	if course == nil {
		course = logged(answer, open)
		if _, steering := agent.SplitSteering(exchange.Question); len(steering) > 0 {
			course = slices.Concat(courseOf(steering), course)
		}
	}
	var now time.Time
	for i, m := range course {
		now = m.Event.Time
		switch body := m.Event.Body.(type) {
		case agent.Said:
			to := len(answer.Text)
			for _, later := range course[i+1:] {
				if _, isText := later.Event.Body.(agent.Said); isText {
					to = min(to, later.At)
					break
				}
			}
			t.Say(answer.Text[min(m.At, to):to], now)
		case agent.Ended:
			body.Answer, body.Effects = answer.Text, answer.Effects
			t.cited(answer)
			t.Ended(body, false, now)
			return
		case agent.Failed:
			body.Effects = answer.Effects
			t.cited(answer)
			t.Failed(body, false, now)
			return
		default:
			t.Take(m.Event, now)
		}
	}
	if t.Answer == nil {
		t.Say("", now)
	}
	t.Close(chat.Ending(exchange), now)
}

// courseOf are the events of messages that were sent while a turn ran.
func courseOf(steering []string) (course []agent.CourseEvent) {
	for _, text := range steering {
		course = append(course, agent.CourseEvent{Event: agent.Event{Body: agent.Noticed{Steering: &agent.Steering{Text: text}}}})
	}
	return course
}

// cited shows the citations of an answer.
func (t *Turn) cited(answer agent.Answer) {
	if t.Answer == nil && answer.Text != "" {
		t.Say(answer.Text, time.Time{})
	}
	for _, cited := range chat.CitedIn(answer) {
		t.Take(agent.Event{Body: cited}, time.Time{})
	}
}

// logged reconstructs the events of a turn that was saved without them, from its log. An
// open turn has no last event.
func logged(answer agent.Answer, open bool) (course []agent.CourseEvent) {
	at := 0
	add := func(bodies ...agent.Body) {
		for _, body := range bodies {
			course = append(course, agent.CourseEvent{At: at, Event: agent.Event{Body: body}})
		}
	}
	for _, part := range answer.Parts() {
		if part.Text != "" {
			at = max(at, strings.Index(answer.Text, part.Text))
			add(agent.Said{})
		}
		var before []agent.Step
		for _, l := range part.Done {
			if l.Thought != "" {
				add(agent.Thought{Content: l.Thought})
				continue
			}
			tool, input, _ := strings.Cut(strings.TrimSuffix(l.Action, ")"), "(")
			step := agent.Step{ID: l.Step, Tool: tool}
			if json.Valid([]byte(input)) { // it was cut where it was long
				step.Input = json.RawMessage(input)
			}
			status, reason := agent.Done, ""
			for _, other := range []agent.Status{agent.StepFailed, agent.Denied, agent.Skipped} {
				if after, ok := strings.CutPrefix(l.Result, string(other)); ok {
					status, reason = other, strings.TrimPrefix(after, ": ")
				}
			}
			add(agent.PlanMade{Before: before, Steps: []agent.Step{step}},
				agent.ToolStarted{Step: l.Step, Call: l.Step, Name: tool, Input: step.Input})
			if status == agent.Done && l.Result != "" {
				add(agent.ToolEnded{Step: l.Step, Call: l.Step, Name: tool, Output: l.Result})
			}
			add(agent.StepChanged{Step: l.Step, Status: status, Reason: reason})
			before = append(before, step)
		}
	}
	switch {
	case open:
	case answer.Error != "":
		add(agent.Failed{Message: answer.Error})
	default:
		add(agent.Ended{Metrics: agent.Metrics{Interrupted: answer.Cut}})
	}
	return course
}
