package chattest

import (
	"encoding/json"
	"testing"
	"time"

	"lifehub/agent"
)

// Saved returns a turn with these events in its saved form, and the events with
// times 700 ms apart.
func Saved(t *testing.T, bodies ...agent.Body) (_ agent.Exchange, emitted []agent.Event) {
	t.Helper()
	clock := time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)
	to := make(chan agent.Event, 1)
	stream := agent.NewStream(to, func() time.Time { return clock })
	answer := agent.Answer{Effects: agent.Effects{}}
	for _, body := range bodies {
		clock = clock.Add(700 * time.Millisecond)
		var course []agent.CourseEvent
		switch b := body.(type) {
		case agent.Ended:
			if stream.Text() == "" && b.Answer != "" {
				answer.Text = b.Answer
			}
			answer.Effects, answer.Cut, course = b.Effects, b.Interrupted, stream.Course(body)
		case agent.Failed:
			answer.Effects, answer.Cut, answer.Error, course = b.Effects, true, b.Message, stream.Course(body)
		case agent.Cited:
			answer.Citations, answer.Sources = append(answer.Citations, b.Citation), append(answer.Sources, b.Source)
		}
		if course != nil {
			raw, err := json.Marshal(course)
			if err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(raw, &answer.Course); err != nil {
				t.Fatal(err)
			}
		}
		if said, ok := body.(agent.Said); ok {
			if said.Takes > 0 {
				stream.Unsay(said.Takes)
			}
			stream.Say(said.Content)
		} else {
			stream.Emit(body)
		}
		emitted = append(emitted, <-to)
	}
	if text := stream.Text(); text != "" {
		answer.Text = text
	}
	return agent.Exchange{Turn: "c1.1", Question: "How often do I run?", Answer: answer}, emitted
}
