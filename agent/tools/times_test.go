package tools

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/when"
	"lifehub/rag"
)

// window is a model with a window of so many tokens.
type window int

func (w window) Window() int { return int(w) }

// A model's search gets the user's words and the window size, and reports which notes
// of a time were omitted.
func TestSearchOfATimeReportsOmittedNotes(t *testing.T) {
	b := work(t, nil)
	b.deps.Model = window(6000)
	b.found = rag.Found{
		Passages: []rag.Passage{{
			Path: "daily/2026-10-08.md", Line: 1, EndLine: 1, Text: "Ran.",
			Date: "2026-10-08", Dated: true,
		}},
		Time: &when.Found{
			Days: "October", Notes: 4, ByDate: true, Shown: 1,
			List: []when.Entry{{Date: "2026-10-01", Path: "daily/2026-10-01.md"}},
		},
	}
	typed := when.TalkOf([]string{"what did I do last week?"}, when.DayOf(noon))
	result, err := b.tool("search_notes").Run(agent.InTalk(t.Context(), typed), []byte(`{"query":"the week before"}`))
	if err != nil || !strings.Contains(result.Text, "October · 4 notes · 3 of 4 not shown:\n\n- 3 earlier\n- "+
		"2026-10-01 `daily/2026-10-01.md`\n") {
		t.Errorf("%s %v", result.Text, err)
	}
	monday := noon.AddDate(0, 0, -(int(noon.Weekday())+6)%7-14)
	if span, _ := b.asked.Talk.In(b.asked.Text, when.DayOf(noon)); b.asked.Room != 3000 ||
		span.From != when.DayOf(monday) {
		t.Errorf("room %d, from %v, want %v", b.asked.Room, span.From, monday)
	}
}
