package citation

import (
	"fmt"
	"strings"
	"testing"

	"lifehub/agent"
)

// numbersTo returns the numbers from 0 up to n in a list.
func numbersTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d,", i)
	}
	return strings.TrimSuffix(b.String(), ",")
}

func times(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i+1)
	}
	return b.String()
}

func TestAnswerHasBoundedVerdicts(t *testing.T) {
	note := agent.Source{N: 1, Path: "running.md", Line: 1, EndLine: 1, Text: "I run three times a week in the park."}
	reread := onDisk(func(s agent.Source) (string, bool) { return s.Text, true })
	for name, c := range map[string]struct {
		answer string
		most   int
	}{
		"a list of numbers":  {`{"a":[` + numbersTo(30_000) + `]}`, 0},
		"a list of years":    {`[` + strings.TrimSuffix(times(30_000, "%.0s2024,"), ",") + `]`, 0},
		"marks":              {times(12_000, "It is so [%d]. "), maxJudged},
		"marks in a row":     {times(12_000, "[%d]"), maxJudged},
		"marks in one line":  {times(12_000, "so [%d] "), maxJudged},
		"ranges":             {times(12_000, "It is so [1-%d]. "), maxJudged},
		"lists of ranges":    {times(2_000, "It is so [1-40, 51-90, 101-140, %d]. "), maxJudged},
		"marks on one claim": {times(12_000, "%.0sI run three times a week in the park [1]. "), maxJudged},
		"quotations":         {times(12_000, "He said “the %d words which nobody wrote down”. "), maxJudged},
		"quoted lines":       {times(12_000, "> the %d words which nobody wrote down\n"), maxJudged},
		"quoted blocks":      {times(12_000, "> the %d words which nobody wrote down\n\n"), maxJudged},
		"quotations at one":  {times(12_000, "“the %d words which nobody wrote down” and ") + "so [1].", maxJudged},
	} {
		got := 0
		for _, c := range Check(c.answer, []agent.Source{note}, reread) {
			got += max(1, len(c.Quoted))
		}
		if got > c.most {
			t.Errorf("%s: %d are judged, want at most %d", name, got, c.most)
		}
	}
	if places := PlacesIn(times(12_000, "see note%d.md ")); len(places) > maxJudged {
		t.Errorf("%d places are judged", len(places))
	}
}
