package rag

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/internal/when"
)

// diary returns notes of 400 days up to 2026-11-22, a Sunday. Two in three mention a
// friend.
func diary() map[string]string {
	files := map[string]string{}
	did := []string{
		"Walked to the harbour", "Baked bread", "Read on the balcony", "Repaired the fence", "Long swim",
		"Sorted photographs", "Cooked lentils",
	}
	subjects := []string{"the move to Bergen", "her thesis", "the leaking roof", "old films", "a new bicycle"}
	for i := range 400 {
		day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).AddDate(0, 0, -i)
		text := fmt.Sprintf("# %s\n\n%s before noon. Rain number %d.\n", day.Format(time.DateOnly), did[i%len(did)], i)
		if i%3 > 0 {
			text += fmt.Sprintf("\nCoffee with Anna: %s.\n", subjects[i%len(subjects)])
		}
		files["daily/"+day.Format(time.DateOnly)+".md"] = text
	}
	files["plans.md"] = "# Plans for last week\n\nWeek plans, what I did last week, and the week after.\n"
	return files
}

// A word in most notes is their subject: a question about it is not declined because of
// its other words.
func TestWordInMostNotesCounts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, diary())
	syncNow(t, x, folder, nil)
	for question, want := range map[string]bool{
		"what did Anna and I talk about?":     true,
		"Anna":                                true,
		"how is Anna doing?":                  true,
		"what do my notes say about Anna?":    true,
		"what is quantum chromodynamics?":     false,
		"who painted the ceiling of Florence": false,
		"why do electrons repel each other?":  false,
	} {
		found, err := x.Search(t.Context(), Query{
			Text:  question,
			Today: when.DayOf(time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if found.Declined() == want {
			t.Errorf("%s: %.2f likely, want it answered: %v; %+v", question, found.Answerable, want, found.Signals)
		}
	}
}

// A friend is mentioned in 40 of 65 notes. A question about her is answered, and one
// that also has a rare word is judged by that word.
func TestRareWordOutweighsAFrequentOne(t *testing.T) {
	t.Parallel()
	files := map[string]string{"zeppelin.md": "# Zeppelin\n\nThe zeppelin museum opens at ten.\n"}
	did := []string{
		"Walked to the harbour", "Baked bread", "Read on the balcony",
		"Repaired the fence", "Sorted photographs",
	}
	for i := range 64 {
		files[fmt.Sprintf("notes/%02d.md", i)] = fmt.Sprintf("# Note %d\n\n%s, number %d.\n", i, did[i%len(did)], i)
		if i < 40 {
			files[fmt.Sprintf("notes/%02d.md", i)] += "\nAnna was there and we had coffee.\n"
		}
	}
	folder, x := vault(t, files)
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"what did Anna and I talk about?":    "everywhere",
		"does Anna know the zeppelin?":       "zeppelin.md",
		"Anna zeppelin museum":               "zeppelin.md",
		"what is the orbit of Jupiter?":      "",
		"why do electrons repel each other?": "",
	} {
		found, err := x.Search(t.Context(), Query{Text: question})
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case found.Declined() == (want != ""):
			t.Errorf("%s: %.2f likely", question, found.Answerable)
		case strings.HasSuffix(want, ".md") && found.Passages[0].Path != want:
			t.Errorf("%s: %s first, %+v", question, found.Passages[0].Path, found.Signals)
		}
	}
}

// On a Sunday, "last week" means the week that ends that day, newest day first.
func TestLastWeekListsItsDays(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, diary())
	syncNow(t, x, folder, nil)
	found, err := x.Search(t.Context(), Query{
		Text: "what did I do last week?", Limit: 7,
		Today: when.DayOf(time.Date(2026, 11, 22, 12, 0, 0, 0, time.Local)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Passages) != 7 || found.Declined() {
		t.Fatalf("%d passages, %.2f likely; want seven days", len(found.Passages), found.Answerable)
	}
	if at := found.Time; at == nil || at.Days != "16–22 November" || at.Notes != 7 || len(at.List) != 7 ||
		at.List[0].Path != "daily/2026-11-16.md" {
		t.Errorf("is about %+v", at)
	}
	for i, p := range found.Passages {
		if want := fmt.Sprintf("daily/2026-11-%d.md", 22-i); p.Path != want {
			t.Errorf("%d: %s, want %s", i+1, p.Path, want)
		}
	}
}
