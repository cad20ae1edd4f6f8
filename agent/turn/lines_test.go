package turn

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/agent/citation"
)

// drawNote draws a note of different lines, some of them blank.
func drawNote(t *rapid.T) []string {
	lines := make([]string, rapid.IntRange(1, 30).Draw(t, "lines"))
	for i := range lines {
		if rapid.IntRange(0, 4).Draw(t, "blank") > 0 {
			lines[i] = fmt.Sprintf("Line number %d tells of the %s harbour and what happened there.", i+1, strings.Repeat("very ", i%3))
		}
	}
	return lines
}

func drawPassage(t *rapid.T, note []string, path string) agent.Source {
	from := rapid.IntRange(1, len(note)).Draw(t, "from")
	to := rapid.IntRange(from, len(note)).Draw(t, "to")
	return agent.Source{Path: path, Line: from, EndLine: to, Text: strings.Join(note[from-1:to], "\n")}
}

// Overlapping passages are joined into one that has each line once.
func TestJoinedPassagesHoldEachLineOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		note := drawNote(t)
		a, b := drawPassage(t, note, "a.md"), drawPassage(t, note, "a.md")
		joined, shares := joinSources(a, b)
		if shares != (a.Line <= b.EndLine && b.Line <= a.EndLine) {
			t.Fatalf("%d–%d and %d–%d share lines: %v", a.Line, a.EndLine, b.Line, b.EndLine, shares)
		}
		from, to := min(a.Line, b.Line), max(a.EndLine, b.EndLine)
		if want := strings.Join(note[from-1:to], "\n"); shares && (joined.Line != from || joined.EndLine != to || joined.Text != want) {
			t.Fatalf("%d–%d:\n%s\nwant\n%s", joined.Line, joined.EndLine, joined.Text, want)
		}
	})
}

// However often steps find lines of two notes, a number stays with its lines, a passage
// can be quoted by the number it was shown with, and each line is shown once.
func TestSourceNumbersAreStableAndLinesUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		note := drawNote(t)
		a := emptyTurn()
		var found []finding
		var toldSources, toldParts []agent.Source
		numbers := map[string]int{}
		for i := range rapid.IntRange(1, 6).Draw(t, "steps") {
			f := finding{step: agent.Step{ID: fmt.Sprint(i), Tool: "search_notes"}, Outcome: Outcome{Status: agent.Done}}
			for range rapid.IntRange(0, 3).Draw(t, "passages") {
				f.Result.Sources = append(f.Result.Sources, drawPassage(t, note, rapid.SampledFrom([]string{"a.md", "b.md"}).Draw(t, "note")))
			}
			found = append(found, f)
			if rapid.Bool().Draw(t, "numbered only later") {
				continue
			}
			a.number(found)
			for _, s := range f.Result.Sources {
				n := a.answer.numberOf(s)
				if n == 0 {
					t.Fatalf("%s:%d–%d has no number among %+v", s.Path, s.Line, s.EndLine, a.answer.sources)
				}
				toldSources, numbers[fmt.Sprint(len(toldSources))] = append(toldSources, s), n
				toldParts = append(toldParts, unseen(toldParts, s)...)
			}
		}
		a.number(found)
		for i, s := range toldSources {
			n := numbers[fmt.Sprint(i)]
			held := a.answer.sources[n-1]
			if held.N != n || held.Path != s.Path || held.Line > s.Line || held.EndLine < s.EndLine || !strings.Contains(held.Text, s.Text) {
				t.Fatalf("[%d] was %s:%d–%d, and is %s:%d–%d", n, s.Path, s.Line, s.EndLine, held.Path, held.Line, held.EndLine)
			}
			for line := range strings.Lines(s.Text) {
				if line = strings.TrimSpace(line); line == "" {
					continue
				}
				for _, c := range citation.Check(fmt.Sprintf("It says: “%s” [%d]", line, n), a.answer.sources, nil) {
					if c.Verdict != agent.Verified {
						t.Fatalf("“%s” [%d] is %s: %s", line, n, c.Verdict, c.Detail)
					}
				}
			}
		}
		told := map[string]int{}
		for _, part := range toldParts {
			for i, line := range strings.Split(part.Text, "\n") {
				if told[fmt.Sprint(part.Path, part.Line+i)]++; strings.TrimSpace(line) != "" && told[fmt.Sprint(part.Path, part.Line+i)] > 1 {
					t.Fatalf("%s:%d is told twice", part.Path, part.Line+i)
				}
				if line != note[part.Line+i-1] {
					t.Fatalf("%s:%d is told as %q", part.Path, part.Line+i, line)
				}
			}
		}
		for _, s := range toldSources {
			for n := s.Line; n <= s.EndLine; n++ {
				if strings.TrimSpace(note[n-1]) != "" && told[fmt.Sprint(s.Path, n)] == 0 {
					t.Fatalf("%s:%d was never told", s.Path, n)
				}
			}
		}
	})
}

// A note that was changed during a turn becomes two sources.
func TestDifferentVersionsOfLinesAreNotJoined(t *testing.T) {
	before := agent.Source{Path: "a.md", Line: 1, EndLine: 2, Text: "One.\nTwo."}
	after := agent.Source{Path: "a.md", Line: 1, EndLine: 2, Text: "One.\n2."}
	if got := merge([]agent.Source{before}, after); len(got) != 2 || !slices.Equal(got, []agent.Source{before, after}) {
		t.Errorf("got %+v", got)
	}
	if got := unseen([]agent.Source{before}, after); len(got) != 1 || got[0].Text != "2." || got[0].Line != 2 {
		t.Errorf("told again is %+v", got)
	}
}
