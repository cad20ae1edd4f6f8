package turn

import (
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/when"
)

// listed returns the list for the results of one search.
func listed(a *answer, opening string, r agent.Result) string {
	e := emptyAnswer()
	a.steps, a.recalled = e.steps, e.recalled
	for i := range r.Blocks {
		r.Blocks[i].Source.N = i + 1
		a.sources = append(a.sources, r.Blocks[i].Source)
	}
	a.foundSources = len(a.sources)
	return a.passages([]finding{{step: agent.Step{ID: "1", Tool: agent.SearchNotes}, Outcome: Outcome{Status: agent.Done, Result: r}}}, opening)
}

func blockOf(path string, line int, text string, score float64) agent.Block {
	return agent.Block{Source: agent.Source{Path: path, Line: line, EndLine: line, Heading: "Top", Text: text, Score: 1}, Score: score}
}

func TestListHasFivePassagesOfThreeNotes(t *testing.T) {
	r := agent.Result{Blocks: []agent.Block{
		blockOf("a.md", 1, "a one", 3), blockOf("a.md", 2, "a two", 2.9), blockOf("a.md", 3, "a three", 2.8), blockOf("a.md", 4, "a four", 2.7),
		blockOf("b.md", 1, "b one", 1), blockOf("c.md", 1, "c one", 1), blockOf("d.md", 1, "d one", 1),
	}}
	a := &answer{}
	got := listed(a, noModelLead, r)
	want := "No model is connected. Closest passages:\n\n**Top** · `a.md:1`\n> a one\n>\n> a two\n>\n> a three\n>\n> *1 more in this note*\n\n**Top** · `b.md:1`\n> b one\n\n**Top** · `c.md:1`\n> c one"
	if got != want || len(a.listed) != 5 || a.listed[1].Line != 2 || a.listed[1].Verdict != agent.Cites {
		t.Errorf("got\n%s\nwith %+v", got, a.listed)
	}
}

func TestItemsAreListedBelowTheirParent(t *testing.T) {
	blocks := []agent.Block{blockOf("a.md", 1, "- Roof", 3), blockOf("a.md", 2, "- south", 2), blockOf("a.md", 3, "- north", 1)}
	blocks[1].Lead, blocks[2].Lead = "- Roof", "- Roof"
	if got := listed(&answer{}, noModelLead, agent.Result{Blocks: blocks}); !strings.HasSuffix(got, "\n> Roof\n> - south\n> - north") {
		t.Errorf("got\n%s", got)
	}
	if got := listed(&answer{}, noModelLead, agent.Result{Blocks: blocks[1:]}); !strings.HasSuffix(got, "\n> Roof\n> - south\n> - north") {
		t.Errorf("got\n%s", got)
	}
}

func TestUntrustedTextIsMarkedInAList(t *testing.T) {
	clip := blockOf("clip.md", 1, "theirs", 2)
	clip.Source.Untrusted = true
	got := listed(&answer{}, noModelLead, agent.Result{Blocks: []agent.Block{clip, blockOf("a.md", 1, "mine", 1)}})
	if !strings.HasSuffix(got, "\n\n**Top** · `clip.md:1` · not written by you\n> theirs\n\n**Top** · `a.md:1`\n> mine") {
		t.Errorf("got\n%s", got)
	}
}

func TestNotesWithoutAQueryWordAreOmitted(t *testing.T) {
	near := blockOf("near.md", 1, "near", 0)
	r := agent.Result{Blocks: []agent.Block{near, blockOf("a.md", 1, "mine", 1)}}
	if got := listed(&answer{}, noModelLead, r); strings.Contains(got, "near") {
		t.Errorf("got\n%s", got)
	}
	alone := agent.Result{Blocks: []agent.Block{near}}
	if got := listed(&answer{}, noModelLead, alone); got != "No model is connected. Nothing close in your notes. Nearest: `near.md:1 Top`." {
		t.Errorf("where no other is: got\n%s", got)
	}
	semantic := &answer{coverage: &agent.Coverage{Embedder: "ollama/nomic-embed-text"}}
	if got := listed(semantic, noModelLead, alone); !strings.Contains(got, "> near") {
		t.Errorf("where an embedding model ranked it: got\n%s", got)
	}
	if got := listed(&answer{}, modelFailed, r); strings.Index(got, "near") > strings.Index(got, "mine") {
		t.Errorf("where a model ranked them: got\n%s", got)
	}
}

func TestNotesOfATimeAreListedByDate(t *testing.T) {
	day := func(path string, text string) agent.Block {
		b := blockOf(path, 3, text, 0)
		b.Source.Dated, b.Source.Date, b.Source.Heading = true, when.DayOf(time.Date(2026, 11, 18, 0, 0, 0, 0, time.Local)), ""
		return b
	}
	a := &answer{coverage: &agent.Coverage{Time: &when.Found{Days: "16–22 November", Notes: 3, Only: true, List: []when.Entry{
		{Date: "2026-11-17", Path: "day/2026-11-17.md"}, {Date: "2026-11-18", Path: "log.md"}, {Date: "2026-11-20", Path: "day/2026-11-20.md"},
	}}}}
	got := listed(a, noModelLead, agent.Result{Blocks: []agent.Block{day("day/2026-11-20.md", "Friday."), day("log.md", "- later"), day("log.md", "- more")}})
	want := "16–22 November · 3 notes:\n\n`day/2026-11-17.md`\n\n`log.md:3` · 2026-11-18\n> later\n>\n> more\n\n`day/2026-11-20.md:3` · 2026-11-18\n> Friday."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	a = &answer{coverage: &agent.Coverage{Time: &when.Found{Days: "March 2019", Only: true}}}
	if got := listed(a, noModelLead, agent.Result{Nothing: true}); got != "No notes from March 2019." {
		t.Errorf("got %q", got)
	}
}

func TestPastExchangesAnswerWhereNotesDoNot(t *testing.T) {
	a := emptyAnswer()
	a.recalled.Past = []agent.Recollection{{Question: "Is it?", Asked: time.Date(2026, 11, 2, 0, 0, 0, 0, time.Local)}, {Question: "My cat is called Miso.", Asked: time.Date(2026, 11, 3, 0, 0, 0, 0, time.Local)}}
	found := []finding{{step: agent.Step{ID: "1", Tool: agent.SearchNotes}, Outcome: Outcome{Status: agent.Done, Result: agent.Result{Unlikely: true}}}}
	if got := a.passages(found, noModelLead); got != "On 2026-11-03 you said: “My cat is called Miso.”" {
		t.Errorf("got %q", got)
	}
}
