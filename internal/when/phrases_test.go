package when

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The table has a line with the days on which its questions are asked and, for
// each time, a line with the expected days for each of them, followed by one with
// the questions in English and German.
func TestAllPhrasesAreUnderstood(t *testing.T) {
	table, err := os.ReadFile("testdata/phrases.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines, phrases := strings.Split(strings.TrimSpace(string(table)), "\n"), 0
	for i := 1; i+1 < len(lines); i += 2 {
		want := strings.Split(lines[i], " | ")
		for phrase := range strings.SplitSeq(lines[i+1], " | ") {
			phrases++
			for n, date := range strings.Split(lines[0], " | ") {
				got, want := wordsFor(t, phrase, date), want[n%len(want)]
				if got != want {
					t.Errorf("%s, on %s: %s, want %s", phrase, date, got, want)
				}
			}
		}
	}
	if phrases < 80 {
		t.Errorf("%d phrases", phrases)
	}
}

// wordsFor describes the time of a question that is asked on a date.
func wordsFor(t *testing.T, question, on string) string {
	t.Helper()
	at, err := time.Parse(time.DateOnly, on)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := In(question, DayOf(at))
	if s.IsZero() {
		return "none"
	}
	return s.Words(DayOf(at))
}
