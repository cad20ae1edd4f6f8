package rag

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestTimeWords(t *testing.T) {
	today := time.Date(2026, 3, 18, 15, 0, 0, 0, time.Local) // a Wednesday
	cases := map[string]string{
		"what did I do yesterday":            "2026-03-17 2026-03-18",
		"today's plan":                       "2026-03-18 2026-03-19",
		"runs last week":                     "2026-03-09 2026-03-16",
		"this week's meals":                  "2026-03-16 2026-03-23",
		"what I spent in February":           "2026-02-01 2026-03-01",
		"the trip in October":                "2025-10-01 2025-11-01",
		"the trip in October 2023":           "2023-10-01 2023-11-01",
		"what did I read lately":             "2026-02-16 2026-03-19",
		"last month":                         "2026-02-01 2026-03-01",
		"this year's goals":                  "2026-01-01 2027-01-01",
		"3 days ago":                         "2026-03-15 2026-03-16",
		"notes of 2026-01-02":                "2026-01-02 2026-01-03",
		"was habe ich gestern gemacht":       "2026-03-17 2026-03-18",
		"我昨天做了什么":                            "2026-03-17 2026-03-18",
		"what did I do on Thursday":          "2026-03-12 2026-03-13",
		"what happened on Wednesday":         "2026-03-11 2026-03-12",
		"was war am Montag":                  "2026-03-16 2026-03-17",
		"what did we do at the weekend":      "2026-03-14 2026-03-16",
		"last weekend's trip":                "2026-03-14 2026-03-16",
		"plans for this weekend":             "2026-03-21 2026-03-23",
		"what happened on 19 November 2025":  "2025-11-19 2025-11-20",
		"November 19th":                      "2025-11-19 2025-11-20",
		"the 3rd of March":                   "2026-03-03 2026-03-04",
		"mar 3":                              "2026-03-03 2026-03-04",
		"am 3. März":                         "2026-03-03 2026-03-04",
		"Eintrag vom 24.12.2025":             "2025-12-24 2025-12-25",
		"11月19日我做了什么":                        "2025-11-19 2025-11-20",
		"2024年5月1日":                          "2024-05-01 2024-05-02",
		"two weeks ago":                      "2026-03-01 2026-03-08",
		"vor drei Tagen":                     "2026-03-15 2026-03-16",
		"两天前":                                "2026-03-16 2026-03-17",
		"what I read in 2024":                "2024-01-01 2025-01-01",
		"31 February":                        "none",
		"every Monday":                       "none",
		"on Mondays I run":                   "none",
		"may I use tabs":                     "none",
		"how does march madness work":        "none",
		"the last commit":                    "none",
		"99999999999999999999 days ago":      "none",
		"a date that is none, as 2026-99-99": "none",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			got := "none"
			if s, _ := timeWords(text, today); !s.isZero() {
				got = fmt.Sprint(s.from.Format(time.DateOnly), " ", s.to.Format(time.DateOnly))
			}
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestTimeWordsLiftNotesOfThatTime(t *testing.T) {
	folder, x := vault(t, map[string]string{
		"daily/2026-03-16.md": "Slow run along the river, then soup.\n",
		"daily/2026-03-17.md": "Fixed the bike. Long run in the rain.\n",
		"daily/2026-03-18.md": "Coffee with Ana.\n",
		"running.md":          "# Running plan\n\nEvery run should be slow; rest a day a week.\n",
		"commits.md":          "# Undo the last commit\n\nUse git reset on what was made yesterday.\n",
	})
	syncNow(t, x, folder, nil)
	cases := map[string]string{
		"what did I do yesterday?":       "daily/2026-03-17.md",
		"the long run of yesterday":      "daily/2026-03-17.md",
		"what happened on 2026-03-16":    "daily/2026-03-16.md",
		"what did I do on Monday":        "daily/2026-03-16.md",
		"was ist am 16. März passiert?":  "daily/2026-03-16.md",
		"昨天我做了什么？":                       "daily/2026-03-17.md",
		"undo a commit I made yesterday": "commits.md",
		"running plan":                   "running.md",
	}
	for text, want := range cases {
		t.Run(text, func(t *testing.T) {
			found, err := x.Search(t.Context(), Query{Text: text, Today: time.Date(2026, 3, 18, 9, 0, 0, 0, time.Local)})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range found.Passages {
				got = append(got, p.Path)
			}
			if len(got) == 0 || got[0] != want {
				t.Errorf("found %q, want %s first", got, want)
			}
			if !slices.IsSortedFunc(found.Passages, func(a, b Passage) int { return cmp.Compare(b.Score, a.Score) }) {
				t.Errorf("the scores do not fall: %+v", found.Passages)
			}
		})
	}
}

// The note of the day that a question names is looked at, whatever its words
// are, and the search does not say that the notes don't hold it.
func TestTheNoteOfANamedDayIsNeverDeclined(t *testing.T) {
	files := map[string]string{"daily/2026-03-17.md": "Ate ramen with Ida.\n"}
	for i := range 20 {
		files[fmt.Sprintf("other%d.md", i)] = fmt.Sprintf("Something else about plan %d.\n", i)
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, nil)
	for text, want := range map[string]string{
		"what did I eat yesterday?":    "daily/2026-03-17.md",
		"Was gab es gestern zu essen?": "daily/2026-03-17.md",
		"我昨天吃了什么？":                     "daily/2026-03-17.md",
		"what did I do 3 days ago?":    "",
	} {
		found, err := x.Search(t.Context(), Query{Text: text, Today: time.Date(2026, 3, 18, 9, 0, 0, 0, time.Local)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if found.Likely() && len(found.Passages) > 0 {
			got = found.Passages[0].Path
		}
		if got != want {
			t.Errorf("%s: found %q, want %q", text, got, want)
		}
	}
}
