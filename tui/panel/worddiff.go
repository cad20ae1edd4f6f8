package panel

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// diffWord is a piece of a text and its change.
type diffWord struct {
	Text string
	Mark rune // ' ' stands in both, '-' only before, '+' only after
}

// maxByWords is the maximum size of two texts together, in bytes, for a comparison by words.
// The differing part of longer ones is shown as replaced.
const maxByWords = 256 << 10

// maxRounds bounds how often the remaining parts are compared again, since a round reads all
// of them. What is left then is shown as replaced.
const maxRounds = 32

// compareWords returns the words that were replaced. Joined, the words not marked '+' are before,
// and those not marked '-' are after.
func compareWords(before, after string) []diffWord {
	var d diff
	d.compare(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n"), maxRounds, func(gone, come string) {
		if len(gone)+len(come) > maxByWords {
			d.replace(gone, come)
			return
		}
		d.compare(aWord.FindAllString(gone, -1), aWord.FindAllString(come, -1), maxRounds, d.replace)
	})
	d.flush()
	return d.words
}

// diff is an unfinished comparison.
type diff struct {
	words      []diffWord
	gone, come strings.Builder // of the change so far
	between    string          // what stands in both after it
}

// compare adds the common parts of two lists, and calls replace for the parts between. The
// library finds only the first and last changes; what is between them is compared again.
func (d *diff) compare(a, b []string, rounds int, replace func(gone, come string)) {
	same := 0
	for _, c := range lcs.DiffLines(a, b) {
		d.same(strings.Join(a[same:c.Start], ""))
		same = c.End
		gone, come := a[c.Start:c.End], b[c.ReplStart:c.ReplEnd]
		if rounds > 1 && len(gone) > 0 && len(come) > 0 && len(gone)+len(come) < len(a)+len(b) {
			d.compare(gone, come, rounds-1, replace)
			continue
		}
		replace(strings.Join(gone, ""), strings.Join(come, ""))
	}
	d.same(strings.Join(a[same:], ""))
}

// same adds text that both have.
func (d *diff) same(text string) {
	d.between += text
	if strings.ContainsFunc(text, isWordRune) {
		d.flush()
	}
}

// replace adds two texts that have nothing in common. Changes that are separated only by
// punctuation and blanks are merged, such as those in the parts of two URLs.
func (d *diff) replace(gone, come string) {
	switch first := d.gone.Len()+d.come.Len() == 0; {
	case first, d.gone.Len()+len(gone) == 0, d.come.Len()+len(come) == 0:
		d.flush()
	default:
		gone, come = d.between+gone, d.between+come
		d.between = ""
	}
	d.gone.WriteString(gone)
	d.come.WriteString(come)
}

// flush adds the change so far, and the common text after it, to the words. Consecutive words
// with the same mark are joined.
func (d *diff) flush() {
	for _, w := range []diffWord{{d.gone.String(), '-'}, {d.come.String(), '+'}, {d.between, ' '}} {
		switch n := len(d.words); {
		case w.Text == "":
		case n > 0 && d.words[n-1].Mark == w.Mark:
			d.words[n-1].Text += w.Text
		default:
			d.words = append(d.words, w)
		}
	}
	d.gone.Reset()
	d.come.Reset()
	d.between = ""
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// aWord matches a run of letters and digits, a run of blanks, or a punctuation mark.
var aWord = regexp.MustCompile(`[\pL\p{Nd}_]+|[ \t]+|(?s:.)`)
