package tools

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// markedLines are lines that came from outside.
type markedLines []string

func (m markedLines) MarkedBy(_ context.Context, keys []int64) (from []string, err error) {
	for _, key := range text.LineKeys(m) {
		if slices.Contains(keys, key) {
			from = append(from, "a page")
		}
	}
	return from, nil
}

// briefly returns the briefing of a folder of notes on 2027-02-28; before are the notes that did not change in the
// last month.
func briefly(t *testing.T, ctx context.Context, days int, outside markedLines, fresh,
	before map[string]string,
) []BriefLine {
	t.Helper()
	dir := t.TempDir()
	today := when.Day{Year: 2027, Month: time.February, Day: 28}
	for age, all := range map[int]map[string]string{0: fresh, 40: before} {
		for name, text := range all {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if at := today.Add(-age).Begins().Add(9 * time.Hour); os.Chtimes(path, at, at) != nil {
				t.Fatal("no file times")
			}
		}
	}
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	lines, unread, err := Brief(ctx, func() []*notes.Folder { return []*notes.Folder{folder} }, today, days, outside)
	if err != nil || unread != "" {
		t.Fatal(err, unread)
	}
	for i := range lines {
		lines[i].source = agent.Source{} // as TestBriefingIsCitedByItsLines says
	}
	return lines
}

// What an answer says of a briefing is checked against the lines themselves.
func TestBriefingIsCitedByItsLines(t *testing.T) {
	b := work(t, map[string]string{
		"tasks.md": "# Tasks\n\n- [ ] call the plumber 📅 2000-01-02\n",
		"clip.md":  "---\nsource: https://a.example\n---\n- [ ] pay them 📅 2000-01-01\n",
	})
	result, said := b.run("brief_notes", `{"period":"week"}`)
	if len(result.Sources) != 2 || !result.Sources[0].Untrusted || result.Sources[1].Untrusted {
		t.Fatalf("%+v", result.Sources)
	}
	holds(t, "brief_notes", said, "overdue since 2000-01-02, tasks.md:3: call the plumber")
	for i := range result.Sources {
		result.Sources[i].N = i + 1
	}
	for answer, want := range map[string]agent.Verdict{
		"You are to “call the plumber” [2].":                         agent.Verified,
		"You are to “call the dentist about both wisdom teeth” [2].": agent.NotFound,
	} {
		if got := citation.Check(answer, result.Sources, nil); len(got) != 1 || got[0].Verdict != want {
			t.Errorf("%s: %+v", answer, got)
		}
	}
}

// Each kind of line is found where it was planted, and nothing else.
func TestBriefListsWhatWasPlanted(t *testing.T) {
	t.Parallel()
	day := func(text string) (d when.Day) { d, _ = when.ParseDay(text); return d }
	old := map[string]string{
		"tasks.md": "# Tasks\n\n- [ ] today 📅 2027-02-28\n- [ ] late ⏳ 2027-01-01\n- [ ] Friday 📅 2027-03-05\n- [ ] " +
			"later 📅 2027-03-07\n" +
			"- [x] done 📅 2027-02-28\n- [-] dropped 📅 2027-02-28\n- [ ] some day\n",
		"daily/2026-02-28.md": "# 2026-02-28\n\n- [x] Fed *the* hens\n",
		"trip.md":             "---\ndate: 2026-02-28\n---\n# Trip\n",
		"2026-02-27.md":       "The day before.\n",
		"tasks.sync-conflict-20260101-120000-ABCDEFG.md": "# Tasks\n\n- [ ] copied 📅 2027-02-28\n",
	}
	want := []BriefLine{
		{Kind: DueTask, Path: "tasks.md", Line: 4, Text: "late", Day: day("2027-01-01")},
		{Kind: DueTask, Path: "tasks.md", Line: 3, Text: "today", Day: day("2027-02-28")},
		{Kind: ChangedNote, Path: "fresh.md", Text: "Fresh", Day: day("2027-02-28")},
		{Kind: YearAgo, Path: "daily/2026-02-28.md", Line: 3, Text: "Fed *the* hens", Day: day("2026-02-28")},
		{Kind: YearAgo, Path: "trip.md", Text: "Trip", Day: day("2026-02-28")},
	}
	fresh := map[string]string{"fresh.md": "# Fresh\n"}
	if got := briefly(t, t.Context(), 1, nil, fresh, old); !slices.Equal(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	week := slices.Insert(slices.Clone(want), 2, BriefLine{
		Kind: DueTask, Path: "tasks.md", Line: 5,
		Text: "Friday", Day: day("2027-03-05"),
	})
	if got := briefly(t, t.Context(), 7, nil, fresh, old); !slices.Equal(got, week) {
		t.Errorf("of a week: got %+v\nwant %+v", got, week)
	}
	if got := briefly(t, t.Context(), 7, nil, nil, nil); len(got) != 0 {
		t.Errorf("of no notes: %+v", got)
	}
	hiding := agent.Hiding(t.Context(), func(path string) bool { return path != "trip.md" })
	if got := briefly(t, hiding, 7, nil, fresh, old); !slices.Equal(got, want[4:]) {
		t.Errorf("with hidden notes: %+v", got)
	}
}

// A line is untrusted if its note names a source, or if the line or the note's name is marked.
func TestBriefKnowsWhatOthersWrote(t *testing.T) {
	t.Parallel()
	got := briefly(t, t.Context(), 1, markedLines{"pay the invoice", "Offer of the week"}, nil, map[string]string{
		"clip.md":              "---\nsource: https://a.example\n---\n- [ ] clipped 📅 2027-02-01\n",
		"own.md":               "- [ ] pay the invoice 📅 2027-02-02\n- [ ] mine 📅 2027-02-03\n",
		"Offer of the week.md": "- [ ] take it 📅 2027-02-04\n",
		"a day 2026-02-28.md":  "pay the invoice\n",
	})
	outside := []bool{true, true, false, true, true}
	if len(got) != len(outside) {
		t.Fatalf("%+v", got)
	}
	for i, l := range got {
		if l.Untrusted != outside[i] {
			t.Errorf("%+v, want %v", l, outside[i])
		}
	}
}
