package transcript

import (
	"testing"
	"time"

	"lifehub/agent"
)

// shownOf lists what is shown of a conversation, in order.
func shownOf(items []Item) (list []string) {
	for _, i := range items {
		switch i := i.(type) {
		case *Question:
			list = append(list, "asked "+i.Copied())
		case *Steering:
			list = append(list, "sent "+i.Text)
		case *Answer:
			list = append(list, "answered "+i.Copied())
		}
	}
	return list
}

// A saved turn shows each message once, where it was taken or, if the turn never ended, below the
// question; a turn that is resumed shows it no second time.
func TestSteeringIsShownOnceWhenATurnIsReadAgain(t *testing.T) {
	saved := agent.WithSteering("What did I run?", "Only this year.")
	taken := agent.Event{Body: agent.Noticed{
		Text:     "You added: …",
		Steering: &agent.Steering{ID: "1", Text: "Only this year."},
	}}
	for name, tc := range map[string]struct {
		exchange agent.Exchange
		resumed  bool
	}{
		"with its course": {exchange: agent.Exchange{
			Question: saved,
			Answer: agent.Answer{Text: "Thrice.", Course: []agent.CourseEvent{
				{Event: taken},
				{Event: agent.Event{Body: agent.Said{}}},
				{At: 7, Event: agent.Event{Body: agent.Ended{}}},
			}},
		}},
		"without one": {exchange: agent.Exchange{Question: saved, Answer: agent.Answer{Text: "Thrice."}}},
		"killed and resumed": {exchange: agent.Exchange{
			Question: saved, Open: true,
			Answer: agent.Answer{Text: "Thrice."},
		}, resumed: true},
	} {
		var m Model
		for _, i := range m.Saved(tc.exchange) {
			m.Add(i)
		}
		if tc.resumed {
			turn := m.Begin()
			turn.Asked = m.Entries[0].Item.(*Question)
			turn.Take(taken, time.Time{})
		}
		var items []Item
		for _, e := range m.Entries {
			items = append(items, e.Item)
		}
		want := []string{"asked What did I run?", "sent Only this year.", "answered Thrice."}
		got := shownOf(items)
		if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
			t.Errorf("%s: %q", name, got)
		}
		if q := m.Entries[0].Item.(*Question); q.Text != saved {
			t.Errorf("%s: the question is %q", name, q.Text)
		}
	}
}
