package when

import (
	"os"
	"strings"
	"testing"
	"time"
)

// The table has a line with the days on which its questions are asked and, for
// each time, a line with the expected days for each of them, followed by one with
// the questions in English, German, French and Chinese.
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
				today, err := time.ParseInLocation(time.DateOnly, date, time.Local)
				if err != nil {
					t.Fatal(err)
				}
				got := "none"
				if s, _ := In(phrase, today.Add(15*time.Hour)); !s.IsZero() {
					got = s.Words(today)
				}
				if got != want[n%len(want)] {
					t.Errorf("%s, on %s: %s, want %s", phrase, today.Format("Monday, 2 January"), got, want[n%len(want)])
				}
			}
		}
	}
	if phrases < 80 {
		t.Errorf("%d phrases", phrases)
	}
}
