package notes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// Dates come from a note's name, front matter, headings and lines, never from its
// modification time.
func TestDatesApplyToTheirLines(t *testing.T) {
	for _, c := range []struct {
		name, path, text string
		want             string // lines, first day, number of days
	}{
		{"none", "a.md", "# A\n\nWords, the year 2026 and 3 May.\n", ""},
		{"name", "daily/2026-03-14.md", "Soup.\nBread.\n", "1-3:2026-03-14"},
		{"month in the name", "2026-03.md", "Soup.\n", "1-2:2026-03-01+31"},
		{"week in the name", "2026-W11.md", "Soup.\n", "1-2:2026-03-09+7"},
		{"front matter", "a.md", "---\ndate: 2026-03-14\n---\nSoup.\n", "1-5:2026-03-14"},
		{
			"log", "log.md", "# Log\n\n- 2026-10-04: long run,\n  legs fine\n- 2026-10-06: rest\n\nWords.\n",
			"3-4:2026-10-04 5-6:2026-10-06",
		},
		{"a loose item", "log.md", "- 2026-10-04: run\n\n  Rain.\n\n- no day\n", "1-4:2026-10-04"},
		{"nested", "log.md", "- 2026-10-04\n  - run\n  - rain\n- else\n", "1-3:2026-10-04"},
		{"table", "log.md", "| day | km |\n|---|---|\n| 2026-10-04 | 12 |\n| none | 1 |\n", "3-3:2026-10-04"},
		{"prose", "a.md", "She comes on the 5th of December 2026\nand stays.\n\nElse.\n", "1-3:2026-12-05"},
		{"lines of prose", "a.md", "2026-10-04 ran far\n2026-10-06 ran slow\n", "1-1:2026-10-04 2-3:2026-10-06"},
		{
			"headings", "a.md", "# Journal\n\n## 4 October 2026\n\nRan.\n\n### Food\n\nSoup.\n\n## Else\n\nWords.\n",
			"3-10:2026-10-04",
		},
		{
			"month headings", "log-2026.md", "## October\n\n3 Oct: ran\n\nwords\n\n## November 2025\n\nswam\n",
			"1-6:2026-10-01+31 3-4:2026-10-03 7-10:2025-11-01+30",
		},
		{"a year above", "log.md", "# 2025\n\n## May\n\n- 14 May swam\n", "3-6:2025-05-01+31 5-6:2025-05-14"},
		{"alone on its line", "j.md", "**2026-10-04**\n\nRan.\n\nOn 2027-01-01 I rest.\n\nSunday, 11 October " +
			"2026\n\nSlept.\n", "1-6:2026-10-04 5-6:2027-01-01 7-10:2026-10-11"},
		{
			"other ways", "a.md", "am 4.10.2026 gelaufen\n\nthe 5th of October, 2026\n\n6. Oktober 2026 " +
				"gelaufen\n\n[[2026-10-07]] ran\n\n2026/10/8 ran\n\n2026-10-09T10:00 ran\n\nOct 10, 2026 ran\n\nin " +
				"November 2026\n",
			"1-2:2026-10-04 3-4:2026-10-05 5-6:2026-10-06 7-8:2026-10-07 9-10:2026-10-08 11-12:2026-10-09 " +
				"13-14:2026-10-10 15-16:2026-11-01+30",
		},
		{"a task", "tasks.md", "- [ ] Descale 📅 2026-12-01\n- [ ] Kettle\n", "1-1:2026-12-01"},
		{"no days", "a.md", "2026-13-45 2026-02-30 v2026.1 12026-10-04 call 20261004123 page 2026\n\n3. May Day\n", ""},
		{"own day and lines", "2026-10-04.md", "Ran.\n\nMum comes on 2026-12-05.\n", "1-4:2026-10-04 3-4:2026-12-05"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, written := range []time.Time{{}, time.Date(2020, 1, 1, 0, 0, 0, 0, time.Local)} {
				note := Parse(Entry{Path: c.path, ModTime: written}, []byte(c.text))
				var got []string
				slices.SortStableFunc(note.Dates, func(a, b Dated) int { return a.First - b.First })
				for _, d := range note.Dates {
					dated := fmt.Sprintf("%d-%d:%s", d.First, d.Last, d.Span.From)
					if days := d.Span.To.Number() - d.Span.From.Number(); days != 1 {
						dated += fmt.Sprintf("+%d", days)
					}
					got = append(got, dated)
				}
				if strings.Join(got, " ") != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

// A property that dates a note is read like the dates of its text.
func TestFrontMatterDatesANote(t *testing.T) {
	for front, want := range map[string]string{
		"date: 2026-10-10": "2026-10-10", "date: 10.10.2026": "2026-10-10", "Date: 10 October 2026": "2026-10-10",
		"date: Oct 10, 2026": "2026-10-10", "date: October 10th, 2026": "2026-10-10",
		"date: 10. Oktober 2026": "2026-10-10",
		"date: 13/10/2026":       "2026-10-13", "date: 2026-W41": "2026-10-05", "date: \"[[2026-10-10]]\"": "2026-10-10",
		"date created: 2026-10-10 09:15": "2026-10-10", "created_at: 2026-10-10T09:15:00Z": "2026-10-10",
		"updated: 2026-10-11\ncreated: 2026-10-10": "2026-10-10", "date: soon": "", "updates: 2026-10-10": "",
		"recreated: 2026-10-10": "",
	} {
		if got := Parse(Entry{Path: "n.md"}, []byte("---\n"+front+"\n---\ntext\n")).Date; got.String() != want {
			t.Errorf("%q: %s, want %q", front, got, want)
		}
	}
}
