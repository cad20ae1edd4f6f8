package markdown

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/tui/layout"
)

// repeated is each repeated to the length of the answers that the figures are
// about: marks that are never closed, and all else that stays open.
var repeated = []string{
	"*", "*a ", "_a*", "**a *", "~~a ", "a*\n", "[", "[a ", "[[a ", "[a](", "[a](b ", "![", "![a](", "`", "`a ", "<a ", "<b>", "\\(a", "$a ", "&a", "www.", "https://",
	"> ", "1. ", "- ", "-", "#", "| ", "|a", "a|", "[a]: ", "    a\n", "a\n===\n", "> a\nb\n", "é", "e\u0301", "👩\u200d",
}

// long is each repeated as it is.
var long = map[string]string{
	"nested quotes":         nested("> ", "x\n"),
	"deep list":             nested("  ", "- x\n"),
	"wide table":            "|" + strings.Repeat(" a |", 38) + "\n|" + strings.Repeat("---|", 38) + "\n" + fill("|"+strings.Repeat(" ab |", 38)+"\n"),
	"table of long rows":    "| a | b |\n|---|---|\n" + fill("| "+strings.Repeat("word ", 700)+" | b |\n"),
	"table of open marks":   "| a | b |\n|---|---|\n" + fill("| "+strings.Repeat("*a ", 1200)+" | b |\n"),
	"heads without a table": fill("|" + strings.Repeat(" ab |", 200) + "\n"),
	"long links":            fill("[a](http://b.example/c" + strings.Repeat("x", 1500) + ") "),
	"long code spans":       fill("`" + strings.Repeat("word ", 380) + "` "),
	"long emphasis":         fill("*" + strings.Repeat("word ", 380) + "* "),
	"long headings":         fill("# " + strings.Repeat("word ", 180) + "\n"),
	"headings of marks":     fill("# " + strings.Repeat("*a [", 180) + "\n"),
	"underlined text":       fill(strings.Repeat("word ", 180) + "\n---\n"),
	"an endless word":       "```go\n" + fill("x"),
	"an endless string":     "```go\n\"" + fill("word "),
	"an endless comment":    "```go\n/*" + fill("a "),
	"fences in a fence":     "````go\n" + fill("``` a\n"),
	"code in quotations":    strings.Repeat("> ", 11) + "```\n" + fill(strings.Repeat("> ", 11)+"code\n"),
	"an endless formula":    "$$\n" + fill("a+b "),
	"an endless tag":        "<!-- " + fill("word "),
}

// fill repeats text to the length of an answer.
func fill(text string) string { return strings.Repeat(text, 4*tokens/len(text)+1)[:4*tokens] }

func nested(mark, text string) string {
	var b strings.Builder
	for i := 0; b.Len() < 4*tokens; i++ {
		b.WriteString(strings.Repeat(mark, i%40) + text)
	}
	return b.String()
}

// hostileAnswers returns answers that keep a block open, by name.
func hostileAnswers() map[string]string {
	all := map[string]string{"open marks": answer("open marks", tokens)}
	for _, text := range repeated {
		all[fmt.Sprintf("%q", text)] = fill(text)
	}
	for name, text := range long {
		all[name] = text
	}
	return all
}

// randomAnswers returns n answers of a few random pieces again and again.
func randomAnswers(n int, seed int64) map[string]string {
	random := rand.New(rand.NewSource(seed))
	some := func(n int) (text string) {
		for range n {
			text += pieces[random.Intn(len(pieces))]
		}
		return text
	}
	all := map[string]string{}
	for range n {
		head, body := some(random.Intn(3)), some(1+random.Intn(4))
		all[fmt.Sprintf("%q, then %q", head, body)] = head + fill(body)
	}
	return all
}

// What is open is read again when it has grown, so that all that is read is
// no more than a few times the text, whatever is never closed.
func TestOpenTextIsParsedAFewTimes(t *testing.T) {
	all := hostileAnswers()
	for name, text := range randomAnswers(40, 1) {
		all[name] = text
	}
	for name, src := range all {
		src = src[:len(src)/3] // as much as any bound, some times over
		s := New(100, 100, darkPalette.Theme())
		read := 0
		for i := 0; i < len(src); i += 4 {
			due := s.due
			s.Write(src[i:min(i+4, len(src))])
			s.Lines()
			if s.due != due {
				read += 4 + s.unsettled()
			}
		}
		if read > 20*len(src) {
			t.Errorf("%s: %d bytes are read of %d", name, read, len(src))
		}
	}
}

// Text behind a mark that is still open shows as it comes, though what is open
// is not read again with each piece.
func TestTextAfterAnOpenMarkShowsImmediately(t *testing.T) {
	for _, begin := range []string{"an *open mark ", "an [open bracket ", "> some `open code ", "- **open in an item "} {
		s := New(60, 60, layout.Palette{}.Theme())
		s.Write(begin + strings.Repeat("words ", 80))
		s.Lines()
		for i := range 200 {
			word := fmt.Sprintf("w%03d", i)
			s.Write(word + " and ")
			if last := plain(s.Lines()); !strings.Contains(last, word) {
				t.Fatalf("%q: the word %s does not show:\n%s", begin, word, last)
			}
		}
	}
}

// BenchmarkHostile reports the answer that streaming makes dearest next to
// drawing it once, of those that draw a line for each kilobyte at least, and
// the dearest token and the worst frame of all.
func BenchmarkHostile(b *testing.B) {
	for set, answers := range map[string]map[string]string{"known": hostileAnswers(), "random": randomAnswers(100, time.Now().UnixNano())} {
		b.Run(set, func(b *testing.B) {
			var dearest, token, frame float64
			for b.Loop() {
				dearest, token, frame = 0, 0, 0
				for name, src := range answers {
					once, streamed, worst := time.Hour, time.Hour, time.Hour
					var lines []string
					for range 5 {
						begin := time.Now()
						lines = Render(src, 100, darkPalette.Theme())
						once = min(once, time.Since(begin))
						streamed, worst = min(streamed, streamOnly(src)), min(worst, slices.Max(stream(src)))
					}
					ratio := float64(streamed) / float64(once)
					if visible := len(lines) >= len(src)/1024; visible && ratio > dearest {
						dearest = ratio
						b.Logf("%5.1f x once, worst frame %5.2f ms, %s", ratio, worst.Seconds()*1e3, name)
					}
					token = max(token, streamed.Seconds()*1e6/tokens)
					frame = max(frame, worst.Seconds()*1e3)
				}
			}
			b.ReportMetric(dearest, "x-once")
			b.ReportMetric(token, "us/token")
			b.ReportMetric(frame, "ms-worst")
		})
	}
}
