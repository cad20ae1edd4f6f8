package store

import (
	"slices"
	"testing"
	"time"

	"lifehub/agent"
)

func TestUnfinishedConversationsAreListed(t *testing.T) {
	t.Parallel()
	s, _ := openTemp(t)
	ask := func(conversation, question string, answer agent.Answer) string {
		turn, err := s.Begin(t.Context(), conversation, question)
		must(t, err)
		must(t, s.Finish(t.Context(), turn, answer))
		return turn
	}
	now := time.Date(2027, 2, 28, 9, 0, 0, 0, time.UTC)
	s.now = func() time.Time { now = now.Add(time.Minute); return now }
	ask("old", "q", agent.Answer{Text: "half", Cut: true})
	since := now.Add(time.Second)
	ask("stopped", "which shoes?", agent.Answer{Text: "half", Cut: true})
	ask("failed", "q", agent.Answer{Error: "no model"})
	ask("page", "q", agent.Answer{Text: "half", Cut: true, Origin: agent.FromOutside("https://a.example")})
	ask("whole", "q", agent.Answer{Text: "all"})
	ask("continued", "q", agent.Answer{Text: "half", Cut: true})
	ask("continued", "go on", agent.Answer{Text: "all"})
	_, err := s.Begin(t.Context(), "running", "q")
	must(t, err)
	must(t, s.TakeBack(t.Context(), ask("undone", "q", agent.Answer{Text: "half", Cut: true})))
	got, err := s.Unfinished(t.Context(), since)
	must(t, err)
	var ids []string
	for _, c := range got {
		ids = append(ids, c.ID)
		if c.Outside != (c.ID == "page") || c.Updated.Before(since) || c.Title == "" {
			t.Errorf("%+v", c)
		}
	}
	if want := []string{"page", "failed", "stopped"}; !slices.Equal(ids, want) {
		t.Errorf("listed %v, want %v", ids, want)
	}
}
