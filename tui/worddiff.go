package tui

import (
	"slices"
	"strings"
	"unicode"
)

// Word is a piece of a text and what became of it.
type Word struct {
	Text string
	Mark rune // ' ' stands in both, '-' only before, '+' only after
}

// maxEdits bounds the work of comparing two texts: so many words, or lines, may
// have gone and come. What differs more is compared by lines, and what differs
// more still is shown as replaced as a whole.
const maxEdits = 2000

// maxEditsOfLines is the same for the words of lines that were replaced.
const maxEditsOfLines = 64

// maxByWords is how long, in bytes, two texts together may be to be compared by
// words; longer ones are compared by lines, and then by words where lines differ.
const maxByWords = 256 << 10

// WordDiff tells which words of before were replaced by which of after. Put
// together, the words that are not marked '+' are before, and those that are
// not marked '-' are after.
func WordDiff(before, after string) []Word {
	if len(before)+len(after) > maxByWords {
		return together(byLines(before, after))
	}
	return together(compared(wordsOf(before), wordsOf(after), maxEdits, func(gone, come []string) []Word {
		return byLines(strings.Join(gone, ""), strings.Join(come, ""))
	}))
}

// byLines compares lines, and the words of those that were replaced as far as
// they have most in common.
func byLines(before, after string) []Word {
	words := compared(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n"), maxEdits, replaced)
	var list growing
	for i := 0; i < len(words); i++ {
		if i+1 < len(words) && words[i].Mark == '-' && words[i+1].Mark == '+' && len(words[i].Text)+len(words[i+1].Text) <= maxByWords {
			list.take(compared(wordsOf(words[i].Text), wordsOf(words[i+1].Text), maxEditsOfLines, replaced))
			i++
			continue
		}
		list.add(words[i].Text, words[i].Mark)
	}
	return list.words()
}

// replaced is the difference of two lists that have nothing in common.
func replaced(gone, come []string) []Word {
	return []Word{{strings.Join(gone, ""), '-'}, {strings.Join(come, ""), '+'}}
}

// compared is the difference of two lists: the fewest words that have gone and
// come. Where that is more than edits, other tells of what differs.
func compared(a, b []string, edits int, other func(gone, come []string) []Word) []Word {
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var list growing
	for _, w := range a[:head] {
		list.add(w, ' ')
	}
	gone, come := a[head:len(a)-tail], b[head:len(b)-tail]
	if path, ok := shortest(gone, come, edits); ok {
		list.follow(path, gone, come)
	} else {
		list.take(other(gone, come))
	}
	for _, w := range a[len(a)-tail:] {
		list.add(w, ' ')
	}
	return list.words()
}

// shortest finds the fewest edits that make b of a (E. W. Myers, "An O(ND)
// difference algorithm"): path[d] holds how far into a each diagonal, from -d
// to d in steps of two, comes with d edits. It is not ok if edits do not do.
func shortest(a, b []string, edits int) (path [][]int32, ok bool) {
	for d := 0; d <= min(edits, len(a)+len(b)); d++ {
		far := make([]int32, d+1)
		for i := range far {
			k := 2*i - d // the diagonal: words of a beyond those of b
			x := 0
			switch {
			case d == 0:
			case i == d || i > 0 && path[d-1][i-1] >= path[d-1][i]: // one of a has gone
				x = int(path[d-1][i-1]) + 1
			default: // one of b has come
				x = int(path[d-1][i])
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			far[i] = int32(x)
			if x == len(a) && x-k == len(b) {
				return append(path, far), true
			}
		}
		path = append(path, far)
	}
	return nil, false
}

// follow adds the difference of a and b that a path leads through.
func (g *growing) follow(path [][]int32, a, b []string) {
	var back []Word
	x, y := len(a), len(b)
	for d := len(path) - 1; d >= 0; d-- {
		from, fromY := 0, 0
		if d > 0 {
			before, i := path[d-1], (x-y+d)/2
			gone := i == d || i > 0 && before[i-1] >= before[i]
			if gone {
				i--
			}
			from = int(before[i])
			fromY = from - (2*i - (d - 1))
		}
		for x > from && y > fromY {
			x, y = x-1, y-1
			back = append(back, Word{a[x], ' '})
		}
		switch {
		case x > from:
			x--
			back = append(back, Word{a[x], '-'})
		case y > fromY:
			y--
			back = append(back, Word{b[y], '+'})
		}
	}
	slices.Reverse(back)
	g.take(back)
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

// leads tells whether words of a mark stand before the next that stand in both.
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
