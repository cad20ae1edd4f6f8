package rag

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
)

// life is a vault around 22 November 2026. With front matter the notes have their dates
// there or in their names, otherwise only in headings and lines.
func life(front bool) map[string]string {
	files := map[string]string{
		"running/log.md": "# Running log\n\nAlways slow, says the plan.\n\n- 2026-09-27: 9 km by the sea.\n- " +
			"2026-10-04: long run, 12 km in rain.\n- 2026-10-18: 14 km, shin tight.\n- 2026-11-01: 15 km, the " +
			"furthest since the summer.\n- 2026-11-17: intervals on the track.\n",
		"ideas.md": "# Ideas\n\nA rain barrel under the shed roof. Running shoes could dry there.\n",
		"garden.md": "# Garden\n\n## 24 October 2026\n\nGarlic went in, four rows.\n\n## 8 November " +
			"2026\n\nTurned the compost.\n",
		"presents.md": "# Presents\n\n- Scarf for Mum, bought on 19 December 2025\n- Book for Jonas, bought on 28 " +
			"December 2025\n",
		"plans.md": "# What I did last week\n\nPlans for last week and what to do in October, before Christmas too.\n",
	}
	days := map[string]string{
		"2026-10-11": "Cooked lentils with Lena.", "2025-12-21": "Carols at the harbour.", "2025-12-29": "Slept long.",
		"2026-11-07": "Saw the new bridge.", "2026-11-16": "Baked bread.", "2026-11-20": "Boiler pressure at 1.4.",
		"2026-11-21": "Film night.",
	}
	journal := "# Journal\n"
	for _, day := range []string{
		"2025-12-21", "2025-12-29", "2026-10-11", "2026-11-07", "2026-11-16",
		"2026-11-20", "2026-11-21",
	} {
		if front {
			files["daily/"+day+".md"] = days[day] + "\n"
		}
		journal += "\n## " + day + "\n\n" + days[day] + "\n"
	}
	if front {
		files["trip.md"] = "---\ndate: 2026-10-30\n---\n# Trip\n\nFlights are booked.\n"
	} else {
		files["journal.md"] = journal
		files["trip.md"] = "# Trip\n\nFlights were booked on 2026-10-30.\n"
	}
	return files
}

// Questions about a time find the notes of that time, even if all files were written in
// the same second, as in a clone.
func TestDatedQuestions(t *testing.T) {
	t.Parallel()
	for _, front := range []bool{true, false} {
		folder, x := vault(t, life(front))
		cloned(t, folder.Dir())
		syncNow(t, x, folder, nil)
		for _, c := range []struct{ today, question, days, shown, never string }{
			{
				"2026-11-22", "What did I do in October?", "October", "12 km in rain|14 km, shin|Garlic|lentils|booked",
				"9 km|15 km|compost|bread",
			},
			{
				"2026-11-22", "Was habe ich im Oktober gemacht?", "October",
				"12 km in rain|14 km, shin|Garlic|lentils|booked", "9 km|15 km|compost|bread",
			},
			{
				"2026-11-22", "what did I do last week?", "16–22 November",
				"bread|Boiler|Film|intervals", "15 km|lentils|bridge",
			},
			{"2026-11-22", "was war vor zwei Wochen?", "5–11 November", "bridge|compost", "bread|15 km"},
			{"2026-11-22", "what did I do two weeks ago", "5–11 November", "bridge|compost", "bread|15 km"},
			{
				"2027-01-10", "what did I do before Christmas?", "before 24 December 2026",
				"Film|Boiler|intervals|bread", "",
			},
			{"2025-12-30", "what did I do before Christmas?", "before 24 December", "Scarf|Carols", "Book for|Slept"},
			{"2026-11-22", "what did I do on 5 March 2025?", "5 March 2025", "", "Scarf|bread"},
		} {
			t.Run(fmt.Sprint(front, " ", c.question), func(t *testing.T) {
				today, err := time.ParseInLocation(time.DateOnly, c.today, time.Local)
				if err != nil {
					t.Fatal(err)
				}
				found, err := x.Search(t.Context(), Query{Text: c.question, Limit: 10, Today: when.DayOf(today)})
				if err != nil {
					t.Fatal(err)
				}
				if found.Time == nil || found.Time.Days != c.days {
					t.Fatalf("is about %+v, want %s", found.Time, c.days)
				}
				var dated strings.Builder
				for _, p := range found.Passages {
					if p.Dated || found.Declined() {
						fmt.Fprintf(&dated, "%s:%d %s\n", p.Path, p.Line, p.Text)
					}
				}
				for want := range strings.SplitSeq(c.shown, "|") {
					if !strings.Contains(dated.String(), want) {
						t.Errorf("lacks %q in\n%s", want, dated.String())
					}
				}
				for bad := range strings.SplitSeq(c.never, "|") {
					if bad != "" && !found.Declined() && strings.Contains(dated.String(), bad) {
						t.Errorf("holds %q:\n%s", bad, dated.String())
					}
				}
				if (c.shown != "") == found.Declined() {
					t.Errorf("%.2f likely", found.Answerable)
				}
			})
		}
	}
}

// A time that is only part of a question boosts the passages of that time.
func TestTimeInAQuestionBoostsItsLines(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"a.md": "# Log\n\n## 2025\n\n- 2025-10-05: long run, 20 km.\n",
		"b.md": "# Log\n\n- 2026-10-04: long run, 12 km.\n",
		"c.md": "# Log\n\n- 2026-09-04: long run, 11 km.\n",
	})
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"long run in October": "b.md", "long run in October 2025": "a.md",
		"the long run of September": "c.md",
	} {
		found, err := x.Search(t.Context(), Query{
			Text:  question,
			Today: when.DayOf(time.Date(2026, 11, 22, 9, 0, 0, 0, time.Local)),
		})
		if err != nil || len(found.Passages) != 3 || found.Passages[0].Path != want || found.Time.List != nil {
			t.Errorf("%s: %+v %v", question, found, err)
		}
	}
}

// A question about a week or less finds the notes of that week, whatever their words.
// If the question is only a time without notes, nothing is shown.
func TestNotesOfAWeekComeFirst(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"daily/2026-11-18.md": "Easy hour along the canal.\n",
		"plan.md":             "# Running plan\n\nI run three times a week, and the run of last week counts.\n",
		"log.md":              "# Running log\n\n- 2026-10-04: a long run, 12 km, in the rain of the week.\n",
	})
	syncNow(t, x, folder, nil)
	today := time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local)
	for question, want := range map[string]string{
		"where did I run last week?":    "daily/2026-11-18.md",
		"how far did I run in October?": "log.md", "what did I do in March 1999?": "",
	} {
		found, err := x.Search(t.Context(), Query{Text: question, Today: when.DayOf(today)})
		switch {
		case err != nil:
			t.Fatal(err)
		case want == "" && len(found.Passages) > 0:
			t.Errorf("%s: %+v", question, found.Passages)
		case want != "" && (found.Passages[0].Path != want || !found.Passages[0].Dated):
			t.Errorf("%s: %+v", question, found.Passages)
		}
	}
}

// cloned gives all files of a folder the same modification time.
func cloned(t *testing.T, dir string) {
	t.Helper()
	at := time.Date(2026, 11, 18, 10, 0, 0, 0, time.Local)
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, at, at)
	}); err != nil {
		t.Fatal(err)
	}
}

// A date filter keeps passages of its time and, ranked below, those without a date, and
// drops those of other times, whenever the files were written.
func TestDateFilterIncludesUndatedNotes(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, life(true))
	cloned(t, folder.Dir())
	syncNow(t, x, folder, nil)
	october := func(text string) []Passage {
		found, err := x.Search(t.Context(), Query{
			Text: text, Limit: 20, Today: when.DayOf(time.Date(2026, 11, 22, 9, 0, 0, 0, time.Local)),
			After:  when.DayOf(time.Date(2026, 10, 1, 0, 0, 0, 0, time.Local)),
			Before: when.DayOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if found.Time == nil || found.Time.Days != "October" || found.Time.From != "2026-10-01" ||
			found.Time.To != "2026-10-31" || found.Time.Notes != 4 {
			t.Errorf("%s: is about %+v", text, found.Time)
		}
		return found.Passages
	}
	for _, text := range []string{"running", "what did I do", ""} {
		dated, undated := 0, 0
		var all string
		for _, p := range october(text) {
			all += p.Path + " " + p.Date + " " + p.Text + "\n"
			switch {
			case p.Date == "":
				undated++
			case !strings.HasPrefix(p.Date, "2026-10"):
				t.Errorf("%q: %s is of %s", text, p.Path, p.Date)
			case undated > 0 && text == "":
				t.Errorf("%q: %s comes after what has no date", text, p.Path)
			default:
				dated++
			}
		}
		if dated == 0 || undated == 0 || !strings.Contains(all, "12 km in rain") {
			t.Errorf("%q: %d dated, %d without a date:\n%s", text, dated, undated, all)
		}
	}
	if first := october("running shoes rain")[0]; first.Date != "2026-10-30" {
		t.Errorf("first is %s of %s, not the latest", first.Path, first.Date)
	}
}

// A time without notes is ignored, and its words are searched for: results are never
// shown next to "0 notes".
func TestTimeWithoutNotesIsIgnored(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"daily/2026-11-18.md": "Easy hour along the canal.\n",
		"party.md":            "# Halloween party\n\nPumpkins, and a cake.\n",
		"sauna.md":            "# Sauna\n\nTen minutes, then the lake.\n",
	})
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"what did we do on Halloween?": "party.md", "who was in the sauna in March?": "sauna.md",
		"sauna after:2020-01-01 before:2020-02-01": "sauna.md",
		"what did I do last week?":                 "daily/2026-11-18.md", "what did I do in March?": "", "was war im März?": "",
	} {
		q, err := ParseQuery(question)
		if err != nil {
			t.Fatal(err)
		}
		q.Today = when.DayOf(time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local))
		found, err := Library{Indexes: []*Index{x}}.Search(t.Context(), q)
		switch {
		case err != nil:
			t.Fatal(err)
		case want == "" && (len(found.Passages) > 0 || found.Time == nil || found.Time.Notes != 0):
			t.Errorf("%s: %+v", question, found)
		case want != "" && (len(found.Passages) == 0 || found.Passages[0].Path != want ||
			found.Time != nil && found.Time.Notes == 0):
			t.Errorf("%s: %+v", question, found)
		}
	}
}

// A search limited to a time returns all its notes by date, across all vaults, as far
// as they fit.
func TestSearchOfATimeReturnsAllItsNotes(t *testing.T) {
	t.Parallel()
	one, two := map[string]string{"todo.md": "# Todo\n\nRun in October.\n"}, map[string]string{}
	for day := 1; day <= 8; day++ {
		of := one
		if day%2 == 0 {
			of = two
		}
		of[fmt.Sprintf("daily/2026-10-%02d.md", day)] = fmt.Sprintf("Ran %d km %s\n", day,
			strings.Repeat(fmt.Sprintf("by the canal no%d ", day), 20))
	}
	folder, x := vault(t, one)
	other, y := vault(t, two)
	syncNow(t, x, folder, nil)
	syncNow(t, y, other, nil)
	for _, c := range []struct {
		query string
		room  int
		says  string
		shown int
	}{
		{"what did I do in October?", 4000, "October · 8 notes", 8},
		{"how far did I run after:2026-10-01 before:2026-11-01", 4000, "October · 8 notes", 8},
		{"what did I do in October?", 0, "October · 8 notes · 3 of 8 not shown", 5},
		{"what did I do in October?", 400, "October · 8 notes · 4 of 8 not shown", 4},
	} {
		q, err := ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		q.Today, q.Room = when.DayOf(time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local)), c.room
		found, err := Library{Indexes: []*Index{x, y}}.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		last, dated := "9999", 0
		for _, p := range found.Passages {
			if p.Dated {
				if dated++; p.Date >= last {
					t.Errorf("%s: %s stands after %s", c.query, p.Date, last)
				}
				last = p.Date
			}
		}
		if dated != c.shown || found.Time.String() != c.says {
			t.Errorf("%s, room %d: %d passages, %s", c.query, c.room, dated, found.Time)
		}
	}
}
