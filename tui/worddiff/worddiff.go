// Package worddiff compares two texts word by word.
package worddiff

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// Word is a piece of a text and what became of it.
type Word struct {
	Text string
	Mark rune // ' ' stands in both, '-' only before, '+' only after
}

// maxByWords bounds two texts together, in bytes, that are compared by words:
// what differs in longer ones is shown as replaced as a whole.
const maxByWords = 256 << 10

// Compare reports which words of before were replaced by which of after. Put
// together, the words that are not marked '+' are before, and those that are
// not marked '-' are after.
func Compare(before, after string) []Word {
	var list growing
	list.compare(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n"), func(gone, come string) {
		if len(gone)+len(come) > maxByWords {
			list.replace(gone, come)
			return
		}
		list.compare(wordsOf(gone), wordsOf(come), list.replace)
	})
	return together(list.words())
}

// compare adds what two lists have in common, and calls replace with what is
// between. The library finds the first and last changes only; what is
// between them is compared again.
func (g *growing) compare(a, b []string, replace func(gone, come string)) {
	same := 0
	for _, d := range lcs.DiffLines(a, b) {
		g.add(strings.Join(a[same:d.Start], ""), ' ')
		same = d.End
		gone, come := a[d.Start:d.End], b[d.ReplStart:d.ReplEnd]
		if len(gone) > 0 && len(come) > 0 && len(gone)+len(come) < len(a)+len(b) {
			g.compare(gone, come, replace)
			continue
		}
		replace(strings.Join(gone, ""), strings.Join(come, ""))
	}
	g.add(strings.Join(a[same:], ""), ' ')
}

// replace adds two texts that have nothing in common.
func (g *growing) replace(gone, come string) {
	g.add(gone, '-')
	g.add(come, '+')
}

// together takes changes together between which only marks and blanks stand:
// the slashes that two addresses share tell nobody anything.
func together(words []Word) []Word {
	var list growing
	var gone, come strings.Builder // of the change so far
	between := ""                  // what stands in both after it
	flush := func() {
		list.take([]Word{{gone.String(), '-'}, {come.String(), '+'}, {between, ' '}})
		gone.Reset()
		come.Reset()
		between = ""
	}
	for i, w := range words {
		switch {
		case w.Mark == ' ':
			between = w.Text
			if strings.ContainsFunc(w.Text, isWordRune) {
				flush()
			}
			continue
		case between != "" && (gone.Len() > 0 || leads(words[i:], '-')) && (come.Len() > 0 || leads(words[i:], '+')):
			gone.WriteString(between)
			come.WriteString(between)
			between = ""
		case between != "":
			flush()
		}
		if w.Mark == '-' {
			gone.WriteString(w.Text)
		} else {
			come.WriteString(w.Text)
		}
	}
	flush()
	return list.words()
}

// leads reports whether words of a mark stand before the next that stand in both.
func leads(words []Word, mark rune) bool {
	for _, w := range words {
		if w.Mark == ' ' {
			return false
		}
		if w.Mark == mark {
			return true
		}
	}
	return false
}

// growing is a list of words under way. Words of one mark in a row become one.
type growing struct {
	list []Word
	text strings.Builder
	mark rune
}

func (g *growing) add(text string, mark rune) {
	if mark != g.mark && text != "" {
		g.end()
		g.mark = mark
	}
	g.text.WriteString(text)
}

func (g *growing) take(words []Word) {
	for _, w := range words {
		g.add(w.Text, w.Mark)
	}
}

func (g *growing) end() {
	if g.text.Len() > 0 {
		g.list = append(g.list, Word{g.text.String(), g.mark})
		g.text.Reset()
	}
}

// words ends the list.
func (g *growing) words() []Word {
	g.end()
	return g.list
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// wordsOf cuts a text into runs of letters and digits, runs of blanks, and
// single marks.
func wordsOf(text string) []string {
	kind := func(r rune) int {
		switch {
		case isWordRune(r):
			return 1
		case r == ' ' || r == '\t':
			return 2
		}
		return 0
	}
	var words []string
	start, last := 0, 0
	for i, r := range text {
		k := kind(r)
		if i > 0 && (k == 0 || k != last) {
			words = append(words, text[start:i])
			start = i
		}
		last = k
	}
	if start < len(text) {
		words = append(words, text[start:])
	}
	return words
}
