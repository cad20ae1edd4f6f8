package agent

import (
	"reflect"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"
)

// What stands in a file is never taken for a head, even if it looks like one.
func TestDiffsOfSeveralFilesAreTakenApart(t *testing.T) {
	line := rapid.SampledFrom([]string{"a\n", "-- x\n", "++ y\n", "@@ -1 +1 @@\n", "--- /dev/null\n", "\n", "+\n"})
	rapid.Check(t, func(t *rapid.T) {
		var p Preview
		var added, removed [2]int
		for i, name := range []string{"a.md", "b.md"} {
			var old, fresh string
			for _, l := range rapid.SliceOf(line).Draw(t, "old") {
				old += l
			}
			for _, l := range rapid.SliceOf(line).Draw(t, "fresh") {
				fresh += l
			}
			p.Diff += udiff.Unified(name, name, old, fresh)
			for _, e := range udiff.Lines(old, fresh) {
				removed[i] += lines(old[e.Start:e.End])
				added[i] += lines(e.New)
			}
		}
		var gotAdded, gotRemoved [2]int
		for _, file := range p.Diffs() {
			i := map[string]int{"a.md": 0, "b.md": 1}[file.From]
			if file.To != file.From {
				t.Errorf("%q: %s becomes %s", p.Diff, file.From, file.To)
			}
			for _, hunk := range file.Hunks {
				for _, l := range hunk.Lines {
					switch l[0] {
					case '+':
						gotAdded[i]++
					case '-':
						gotRemoved[i]++
					}
				}
			}
		}
		if gotAdded != added || gotRemoved != removed {
			t.Errorf("%q: added %v, removed %v", p.Diff, gotAdded, gotRemoved)
		}
	})
	want := []FileDiff{{From: NoFile, To: "new.md", Hunks: []Hunk{{Lines: []string{"+x"}}}}}
	if got := (Preview{Diff: udiff.Unified(NoFile, "new.md", "", "x\n")}).Diffs(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := (Preview{Diff: "no diff\n+++ @@ -1\n"}).Diffs(); got != nil {
		t.Errorf("%+v", got)
	}
}

func lines(text string) (n int) {
	for _, r := range text {
		if r == '\n' {
			n++
		}
	}
	return n
}
