package markdown

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// answer returns an answer of about n tokens of 4 bytes, of one kind of block.
func answer(kind string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 4*n; i++ {
		switch kind {
		case "prose":
			fmt.Fprintf(&b, "Sentence %d says that you run **three times** a week [%d] and raise the *long run* slowly; see [the plan](https://runs.example/%d). ", i, i%9+1, i)
			if i%4 == 3 {
				b.WriteString("\n\n")
			}
		case "paragraph":
			fmt.Fprintf(&b, "Sentence %d says that you run **three times** a week [%d] and raise the *long run* slowly. ", i, i%9+1)
		case "chinese":
			fmt.Fprintf(&b, "第%d句话说你每周跑三次步，并且慢慢地增加长跑的距离。", i)
		case "list":
			fmt.Fprintf(&b, "- Item %d has **some bold text** and a few more words to fill the line\n", i)
		case "nested":
			if i == 0 {
				b.WriteString("- One item\n")
			}
			fmt.Fprintf(&b, "  - Nested item %d has `code` and a few more words\n", i)
		case "fence":
			if i == 0 {
				b.WriteString("```go\n")
			}
			fmt.Fprintf(&b, "\tfmt.Println(\"line\", %d) // a comment on it\n", i)
		case "table":
			if i == 0 {
				b.WriteString("| Name | Value | Note |\n|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| row %d | %d | a note with **bold** text |\n", i, i*i)
		case "quote":
			fmt.Fprintf(&b, "> Quoted line %d with *emphasis* and some more words\n", i)
		case "open marks":
			fmt.Fprintf(&b, "an *unclosed star %d and [an open bracket and `a tick ", i)
		case "long code line":
			if i == 0 {
				b.WriteString("```json\n")
			}
			fmt.Fprintf(&b, "{\"key%d\":[1,2,3]},", i)
		case "long indented line":
			if i == 0 {
				b.WriteString("    ")
			}
			fmt.Fprintf(&b, "word %d ", i)
		case "html":
			fmt.Fprintf(&b, "<div>line %d</div>\n", i)
		case "mixed":
			b.WriteString(all)
		}
	}
	return b.String()[:4*n]
}

var kinds = []string{"prose", "paragraph", "chinese", "list", "nested", "fence", "table", "quote", "html", "open marks", "long code line", "long indented line", "mixed"}

// tokens is the length of the answer that the figures are about.
const tokens = 8000

// stream writes an answer token by token, asking for the picture after each,
// and returns the time of each.
func stream(src string) []time.Duration {
	s := New(100, 100, darkPalette.Theme())
	took := make([]time.Duration, 0, len(src)/4)
	for i := 0; i < len(src); i += 4 {
		begin := time.Now()
		s.Write(src[i:min(i+4, len(src))])
		s.Lines()
		took = append(took, time.Since(begin))
	}
	s.Close()
	return took
}

// streamOnly returns the time of the same without a clock for each token.
func streamOnly(src string) time.Duration {
	begin := time.Now()
	s := New(100, 100, darkPalette.Theme())
	for i := 0; i < len(src); i += 4 {
		s.Write(src[i:min(i+4, len(src))])
		s.Lines()
	}
	s.Close()
	return time.Since(begin)
}

func sum(took []time.Duration) (total time.Duration) {
	for _, d := range took {
		total += d
	}
	return total
}

// BenchmarkStream reports, of an answer of 8,000 tokens: what streaming it
// costs next to drawing it once, the last quarter of the stream next to the
// first, and the worst of all frames. Times are the least of all rounds: the
// rest is other work of the machine.
func BenchmarkStream(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind, func(b *testing.B) {
			src := answer(kind, tokens)
			var streamed, quarters, worst, once []float64
			for b.Loop() {
				begin := time.Now()
				Render(src, 100, darkPalette.Theme())
				whole := time.Since(begin)
				took := stream(src)
				q := len(took) / 4
				streamed = append(streamed, float64(streamOnly(src).Microseconds())/1000)
				quarters = append(quarters, float64(sum(took[3*q:]))/float64(sum(took[:q])))
				worst = append(worst, float64(slices.Max(took).Microseconds())/1000)
				once = append(once, float64(whole.Microseconds())/1000)
			}
			b.ReportMetric(slices.Min(streamed)/slices.Min(once), "x-once")
			b.ReportMetric(median(quarters), "Q4/Q1")
			b.ReportMetric(slices.Min(worst), "ms-worst")
			b.ReportMetric(slices.Min(once), "ms-once")
		})
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}
