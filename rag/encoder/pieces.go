package encoder

import (
	"iter"
	"math"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kinds of characters.
const (
	separator = iota
	spaced    // a letter, number or mark of a script that puts spaces between words
	unspaced  // one of a script that does not
	leftOut   // an Arabic vowel sign, or a tatweel
)

var unspacedScripts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0e00, Hi: 0x0eff, Stride: 1}, // Thai, Lao
		{Lo: 0x1000, Hi: 0x109f, Stride: 1}, // Burmese
		{Lo: 0x1780, Hi: 0x17ff, Stride: 1}, // Khmer
		{Lo: 0x3005, Hi: 0x3007, Stride: 1},
		{Lo: 0x3040, Hi: 0x30ff, Stride: 1}, // kana
		{Lo: 0x31f0, Hi: 0x31ff, Stride: 1},
		{Lo: 0x3400, Hi: 0x4dbf, Stride: 1}, // Han
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x20000, Hi: 0x3ffff, Stride: 1}},
}

func kindOf(r rune) int {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return spaced
		}
		return separator
	case r == 0x640 || r >= 0x64b && r <= 0x65f || r == 0x670:
		return leftOut
	case !unicode.In(r, unicode.L, unicode.N, unicode.M):
		return separator
	case unicode.Is(unspacedScripts, r):
		return unspaced
	}
	return spaced
}

// runs iterates over the longest stretches of one kind of a text, in lower case. A word
// of a script with spaces has one in front. A run is valid until the next one.
func runs(s string) iter.Seq[[]byte] {
	s = strings.ToLower(norm.NFKC.String(strings.ReplaceAll(s, "İ", "i")))
	return func(yield func([]byte) bool) {
		var run []byte
		was := separator
		for _, r := range s {
			kind := kindOf(r)
			if kind == leftOut {
				continue
			}
			if kind != was {
				if len(run) > 0 && !yield(run) {
					return
				}
				run, was = run[:0], kind
				if kind == spaced {
					run = append(run, ' ')
				}
			}
			if kind != separator {
				run = utf8.AppendRune(run, r)
			}
		}
		if len(run) > 0 {
			yield(run)
		}
	}
}

// cuts are the pieces of the runs seen before.
type cuts map[string][]int32

func (c cuts) of(t *table, run []byte) []int32 {
	pieces, ok := c[string(run)]
	if !ok {
		pieces = t.cut(string(run))
		c[string(run)] = pieces
	}
	return pieces
}

// matches are the pieces that begin with a text: those from low to high.
type matches struct {
	low, high int
	length    int // of the text
}

// narrow returns the pieces that continue with more characters.
func (t *table) narrow(m matches, more string) matches {
	rest := func(i int) string { return t.pieces[int(t.starts[i])+m.length : t.starts[i+1]-1] }
	low := m.low + sort.Search(m.high-m.low, func(i int) bool { return rest(m.low+i) >= more })
	high := low + sort.Search(m.high-low, func(i int) bool { return !strings.HasPrefix(rest(low+i), more) })
	return matches{low, high, m.length + len(more)}
}

// whole returns the piece that is all of the text, or -1.
func (t *table) whole(m matches) int {
	if m.low < m.high && int(t.starts[m.low+1]-1-t.starts[m.low]) == m.length {
		return m.low
	}
	return -1
}

// cut cuts a run into the pieces whose prices have the least sum. Within a word, a
// stretch of at least four characters that is no piece may be the piece of a word, for
// the price of inner: the parts of a compound are words.
func (t *table) cut(run string) []int32 {
	const noPiece = -1
	type step struct{ price, from, piece int }
	best := make([]step, len(run)+1) // by the byte at which the piece ends
	for i := range best {
		best[i].price = math.MaxInt
	}
	best[0].price = 0
	all := matches{0, t.count(), 0}
	words := t.narrow(all, " ")
	for from := range run {
		within, word, alone := all, matches{}, noPiece
		if from > 1 && run[0] == ' ' {
			word = words
		}
		for at, r := range run[from:] {
			end := from + at + utf8.RuneLen(r)
			character := run[from+at : end]
			if within.low < within.high {
				within = t.narrow(within, character)
			}
			if word.low < word.high {
				word = t.narrow(word, character)
			}
			if within.low == within.high && word.low == word.high {
				break
			}
			piece, more := t.whole(within), 0
			if piece < 0 && utf8.RuneCountInString(run[from:end]) >= 4 {
				piece, more = t.whole(word), t.inner
			}
			if piece < 0 {
				continue
			}
			if at == 0 {
				alone = piece
			}
			if price := best[from].price + t.priceOf(piece) + more; price < best[end].price {
				best[end] = step{price, from, piece}
			}
		}
		_, size := utf8.DecodeRuneInString(run[from:])
		if price := best[from].price + t.unknown; alone == noPiece && price < best[from+size].price {
			best[from+size] = step{price, from, noPiece}
		}
	}
	var pieces []int32
	for end := len(run); end > 0; end = best[end].from {
		if piece := best[end].piece; piece != noPiece {
			pieces = append(pieces, int32(piece))
		}
	}
	return pieces
}
