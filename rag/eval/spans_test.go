package eval

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag"
)

// frontier is the reference of bench/spans.txt for five passages: what plain chunkers
// of several sizes reach. A point is above it if its recall is greater than that of
// every row with at least its IoU.
var frontier = []struct{ recall, iou float64 }{
	{0.9604, 0.0313}, {0.8978, 0.0570}, {0.9722, 0.0365}, {0.9673, 0.0338}, {0.8741, 0.0601},
}

// TestPassagesAreAboveTheFrontier measures chunker and search together: how much of the
// answering text is in the five best passages, and how much other text.
func TestPassagesAreAboveTheFrontier(t *testing.T) {
	t.Parallel()
	dir := testenv.Shared(t, "data/bench/chunking-spans")
	docs := filepath.Join(dir, "docs")
	x, _ := indexed(t, docs, nil)
	raw, err := os.ReadFile(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]string{}
	recall, iou, n := 0.0, 0.0, 0
	for line := range strings.Lines(string(raw)) {
		var question struct {
			Text, Doc string
			Spans     [][2]int // characters, not bytes
		}
		if err := json.Unmarshal([]byte(line), &question); err != nil {
			t.Fatal(err)
		}
		found, err := x.Search(t.Context(), rag.Query{Text: question.Text, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		wanted := map[int]bool{}
		for _, span := range question.Spans {
			for i := span[0]; i < span[1]; i++ {
				wanted[i] = true
			}
		}
		got, elsewhere := map[int]bool{}, 0
		for _, p := range found.Passages {
			length := len([]rune(p.Text))
			if p.Path != question.Doc {
				elsewhere += length
				continue
			}
			if texts[p.Path] == "" {
				whole, err := os.ReadFile(filepath.Join(docs, p.Path))
				if err != nil {
					t.Fatal(err)
				}
				texts[p.Path] = string(whole)
			}
			at := strings.Index(texts[p.Path], p.Text)
			if at < 0 {
				t.Fatalf("a passage of %s is not in it: %q", p.Path, p.Text)
			}
			start := len([]rune(texts[p.Path][:at]))
			for i := range length {
				got[start+i] = true
			}
		}
		both := 0
		for i := range wanted {
			if got[i] {
				both++
			}
		}
		recall += float64(both) / float64(len(wanted))
		iou += float64(both) / float64(len(wanted)+len(got)-both+elsewhere)
		n++
	}
	recall, iou = recall/float64(n), iou/float64(n)
	t.Logf("five passages: recall %.4f, IoU %.4f", recall, iou)
	for _, row := range frontier {
		if row.iou >= iou && row.recall >= recall {
			t.Errorf("recall %.4f at IoU %.4f is not above the reference's %.4f at %.4f", recall, iou, row.recall, row.iou)
		}
	}
}
