package transcript

import (
	"slices"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"

	"lifehub/internal/text"
	"lifehub/tui/draw"
)

// sentence identifies a sentence of the answer, by a byte offset in it or by its words.
type sentence struct {
	at    int
	words string
}

// sentences returns the sentences that cite the chosen source.
func (s *Sources) sentences() (list []sentence) {
	if s.chosen < 0 || s.chosen >= len(s.List) {
		return nil
	}
	c := s.List[s.chosen]
	for _, at := range c.At {
		switch {
		case at > 0:
			list = append(list, sentence{at: at})
		case c.Citation.Words != "":
			list = append(list, sentence{words: c.Citation.Words})
		case c.Citation.N == 0:
			list = append(list, sentence{words: c.Citation.Path})
		}
	}
	return list
}

// markSentences sets the sentences to mark and reports whether they changed.
func (a *Answer) markSentences(list []sentence) (changed bool) {
	changed = !slices.Equal(a.chosen, list)
	a.chosen = list
	return changed
}

// letters returns the letters and digits of a text, which drawing does not change.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// mark underlines the chosen sentences in the drawn lines of the answer and returns the
// index of the first marked line, or -1.
func (a *Answer) mark(lines []string, theme *draw.Theme) (out []string, first int) {
	if first = -1; len(a.chosen) == 0 {
		return lines, first
	}
	source := string(a.source)
	var drawn strings.Builder
	starts := make([]int, len(lines)) // of each line, in letters
	for i, line := range lines {
		starts[i] = drawn.Len()
		drawn.WriteString(letters(ansi.Strip(line)))
	}
	out = slices.Clone(lines)
	style := theme.Shade.Underline(true)
	for _, s := range a.chosen {
		from, words := 0, s.words
		for _, sentence := range text.Sentences(source) {
			if at := s.at - a.from; s.at > 0 && at > sentence.Start && at <= sentence.End {
				from, words = sentence.Start, a.marked(sentence.Start, sentence.End)
			}
		}
		for rest := words; rest != ""; { // where a link leads is drawn otherwise
			words, rest, _ = strings.Cut(rest, "](")
			_, rest, _ = strings.Cut(rest, ")")
			words = letters(words)
			begin := nearest(drawn.String(), words, len(letters(source[:from])))
			for i, line := range lines {
				from, to := cells(ansi.Strip(line), begin-starts[i], begin+len(words)-starts[i])
				if begin < 0 || from == to {
					continue
				}
				if first < 0 || i < first {
					first = i
				}
				out[i] = draw.Marked(out[i], from, to, style)
			}
		}
	}
	return out, first
}

// nearest returns the index of the occurrence of words that is nearest to place, or -1.
func nearest(text, words string, place int) int {
	best := -1
	for at := 0; words != ""; at++ {
		next := strings.Index(text[at:], words)
		if next < 0 {
			return best
		}
		if at += next; best < 0 || max(at-place, place-at) < max(best-place, place-best) {
			best = at
		}
	}
	return best
}

// cells returns the range of cells that shows a range of letters, with the punctuation
// next to them.
func cells(line string, from, to int) (begin, end int) {
	begin, end = -1, 0
	count, word := 0, 0 // bytes of letters before; where the word begins
	for at, r := range line {
		if unicode.IsSpace(r) {
			if word = at + 1; begin >= 0 && count >= to {
				break
			}
			continue
		}
		if n := len(letters(string(r))); n > 0 {
			if begin < 0 && count >= from && count < to {
				begin = word
			}
			count += n
		}
		if begin >= 0 && count <= to {
			end = at + len(string(r))
		}
	}
	if begin < 0 {
		return 0, 0
	}
	return draw.Width(line[:begin]), draw.Width(line[:end])
}
