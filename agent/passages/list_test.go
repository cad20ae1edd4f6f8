package passages

import (
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/when"
)

// listed writes the list of the results of one search.
func listed(l List, r agent.Result) (string, []agent.Citation) {
	for _, p := range r.Passages {
		for i := range p.Blocks {
			p.Blocks[i].Source.N = len(l.Sources) + 1
			l.Sources = append(l.Sources, p.Blocks[i].Source)
		}
	}
	r.Searched = true
	l.Unlikely = r.Unlikely
	l.Calls = []Call{{Step: "1", Tool: agent.SearchNotes, Status: agent.Done, Result: r}}
	return l.Write()
}

func blockOf(path string, line int, text string) agent.Block {
	return agent.Block{Source: agent.Source{
		Path: path, Line: line, EndLine: line,
		Heading: "Top", Text: text, Score: 1,
	}}
}

// passageOf shows the first of some blocks, or all.
func passageOf(all bool, blocks ...agent.Block) agent.Passage {
	if all {
		return agent.Passage{Blocks: blocks, Show: len(blocks)}
	}
	return agent.Passage{Blocks: blocks, Show: 1}
}

// A list is the ranking of the search: its first five passages in their order, each with
// its best block.
func TestListIsTheRanking(t *testing.T) {
	var r agent.Result
	for _, path := range []string{"b.md", "a.md", "c.md", "a.md", "d.md", "e.md"} {
		line := 10 * len(r.Passages)
		r.Passages = append(r.Passages, passageOf(false, blockOf(path, line, "best of "+path),
			blockOf(path, line+1, "next")))
	}
	got, shown := listed(List{Opening: NoModel}, r)
	var paths []string
	for _, c := range shown {
		if c.Verdict != agent.Cites {
			t.Errorf("%+v", c)
		}
		paths = append(paths, c.Path)
	}
	if strings.Join(paths, " ") != "b.md a.md c.md a.md d.md" || strings.Count(got, " · +1\n") != 5 ||
		strings.Contains(got, "next") {
		t.Errorf("%v:\n%s", paths, got)
	}
}

// The first line says what the notes lack, or else why there is no answer.
func TestFirstLineIsTheTruth(t *testing.T) {
	found := agent.Result{Passages: []agent.Passage{passageOf(false, blockOf("a.md", 1, "one"))}}
	meaning := found
	meaning.SemanticOnly, meaning.Unlikely = true, true
	const lacking = "Davi: in no note."
	for _, c := range []struct {
		opening, lacking string
		result           agent.Result
		want             string
	}{
		{NoModel, "", found, NoModel + " Closest passages:"},
		{NoModel, lacking, found, lacking + " Closest passages:"},
		{NoModel, lacking, meaning, lacking + " Closest in meaning:"},
		{
			NoModel, "No notes from April 2024.",
			agent.Result{Nothing: true, Unlikely: true},
			"No notes from April 2024.",
		},
		{NoModel, "", agent.Result{Nothing: true, Unlikely: true}, NoModel + " No match."},
		{ModelFailed, lacking, found, ModelFailed + " " + lacking + " Closest passages:"},
	} {
		got, _ := listed(List{Opening: c.opening, Coverage: &agent.Coverage{Lacking: c.lacking}}, c.result)
		if first, _, _ := strings.Cut(got, "\n"); first != c.want {
			t.Errorf("got %q, want %q", first, c.want)
		}
	}
}

// Of a note that is shown whole, the items of a list stay together, and a heading stands
// once.
func TestWholeNoteKeepsItsLists(t *testing.T) {
	blocks := []agent.Block{
		blockOf("a.md", 1, "About it."), blockOf("a.md", 3, "- one"), blockOf("a.md", 4, "- two"),
		blockOf("a.md", 7, "Below."),
	}
	blocks[3].Source.Heading = "Top › Sub"
	if got, _ := listed(List{Opening: NoModel}, agent.Result{Passages: []agent.Passage{passageOf(true,
		blocks...)}}); !strings.HasSuffix(got, "\n> About it.\n>\n> - one\n> - two\n>\n> *Sub* · Below.") {
		t.Errorf("got\n%s", got)
	}
}

// What one passage shows is not shown again by another of the same note.
func TestBlockIsListedOnce(t *testing.T) {
	one, two := blockOf("a.md", 1, "one"), blockOf("a.md", 2, "two")
	r := agent.Result{Passages: []agent.Passage{
		passageOf(true, one, two), passageOf(false, two),
		passageOf(false, blockOf("b.md", 1, "other")),
	}}
	if got, shown := listed(List{Opening: NoModel}, r); len(shown) != 3 || strings.Count(got, "two") != 1 {
		t.Errorf("got\n%s", got)
	}
}

func TestItemsAreListedBelowTheirParent(t *testing.T) {
	blocks := []agent.Block{blockOf("a.md", 1, "- Roof"), blockOf("a.md", 2, "- south"), blockOf("a.md", 3, "- north")}
	blocks[1].Lead, blocks[2].Lead = "- Roof", "- Roof"
	for _, some := range [][]agent.Block{blocks, blocks[1:]} {
		list, _ := listed(List{Opening: NoModel}, agent.Result{Passages: []agent.Passage{passageOf(true, some...)}})
		got := strings.ReplaceAll(list, "> - Roof", "> Roof")
		if !strings.HasSuffix(got, "\n> Roof\n> - south\n> - north") {
			t.Errorf("got\n%s", got)
		}
	}
}

func TestRowsAreListedApart(t *testing.T) {
	rows := []agent.Block{blockOf("a.md", 3, "| Kite | 96 |"), blockOf("a.md", 4, "| Lane | 31 |")}
	rows[0].Lead, rows[1].Lead = "| shoe | km |", "| shoe | km |"
	if got, _ := listed(List{Opening: NoModel}, agent.Result{Passages: []agent.Passage{passageOf(true,
		rows...)}}); !strings.HasSuffix(got, "\n> - shoe: Kite · km: 96\n> - shoe: Lane · km: 31") {
		t.Errorf("got\n%s", got)
	}
}

func TestUntrustedTextIsMarkedInAList(t *testing.T) {
	clip := blockOf("clip.md", 1, "theirs")
	clip.Source.Untrusted = true
	got, _ := listed(List{Opening: NoModel}, agent.Result{Passages: []agent.Passage{
		passageOf(false, clip),
		passageOf(false, blockOf("a.md", 1, "mine")),
	}})
	if !strings.HasSuffix(got, "\n\n**Top** · `clip.md:1` · not written by you\n> theirs\n\n**Top** · `a.md:1`\n> mine") {
		t.Errorf("got\n%s", got)
	}
}

func TestNotesOfATimeAreListedByDate(t *testing.T) {
	day := func(path string, text string) agent.Block {
		b := blockOf(path, 3, text)
		b.Source.Dated, b.Source.Date, b.Source.Heading = true,
			when.DayOf(time.Date(2026, 11, 18, 0, 0, 0, 0, time.Local)), ""
		return b
	}
	of := List{Opening: NoModel, Coverage: &agent.Coverage{Time: &when.Found{
		Days: "16–22 November", Notes: 3,
		Only: true, List: []when.Entry{
			{Date: "2026-11-17", Path: "day/2026-11-17.md"},
			{Date: "2026-11-18", Path: "log.md"},
			{Date: "2026-11-20", Path: "day/2026-11-20.md"},
		},
	}}}
	got, _ := listed(of, agent.Result{Passages: []agent.Passage{
		passageOf(false, day("day/2026-11-20.md", "Friday.")),
		passageOf(false, day("log.md", "- later"), day("log.md", "- more")),
	}})
	want := "16–22 November · 3 notes:\n\n`day/2026-11-17.md`\n\n`log.md:3` · 2026-11-18\n> - later\n> - " +
		"more\n\n`day/2026-11-20.md:3` · 2026-11-18\n> Friday."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestEarlierWordsAnswerWhereNotesDoNot(t *testing.T) {
	said := "On 2026-11-03 you said: “My cat is called Miso.”"
	if got, _ := listed(List{Opening: NoModel, Said: said}, agent.Result{Unlikely: true}); got != said {
		t.Errorf("got %q", got)
	}
}
