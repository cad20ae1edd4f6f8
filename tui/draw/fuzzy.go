package draw

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lifehub/internal/text"
)

// Scores of a matched character: at the start of the text, at the start of a word,
// directly after the previous match, and later in the same word. scoreWhole is added
// if the last match is at the end of a word.
const (
	scoreFirst  = 7
	scoreWord   = 6
	scoreRun    = 8
	scoreWithin = 1
	scoreWhole  = 1
)

const (
	maxMatched = 400            // compared bytes of a text
	maxFolded  = 2 * maxMatched // the same folded, which may be longer
)

// Match scores how well a text matches what was typed; 0 is no match. Every typed
// word must match, in any order and case, with or without accents. The characters of
// a word match in order, each directly after the previous one, later in the same word,
// or at the start of another word.
func Match(in, typed string) (score int) {
	in = folded(in, nil)
	for _, typedWord := range strings.Fields(folded(typed, nil)) {
		worth, _ := match(in, typedWord, false)
		if worth == 0 {
			return 0
		}
		score += worth
	}
	return max(1, score)
}

// MatchRow is Match for a row of a list. In the description, a typed word matches only
// a complete word, because almost any sentence contains its characters in order.
func MatchRow(name, description, typed string) (score int) {
	description = text.Fold(description)
	for _, typedWord := range strings.Fields(folded(typed, nil)) {
		worth := Match(name, typedWord)
		if worth == 0 && !strings.Contains(description, typedWord) {
			return 0
		}
		score += worth
	}
	return max(1, score)
}

// Matched returns the byte offsets of the characters that Match matches, in order.
func Matched(in, typed string) (at []int) {
	var of []character
	lower := folded(in, &of)
	for _, typedWord := range strings.Fields(folded(typed, nil)) {
		_, found := match(lower, typedWord, true)
		for _, i := range found {
			for j := of[i].from; j < of[i].to; j++ {
				at = append(at, j)
			}
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// character is the range of bytes of a character with its marks.
type character struct{ from, to int }

// folded returns the compared part of a text, folded as the search does. If of is not nil, it receives for each byte
// the character of the text that it is of.
func folded(in string, of *[]character) string {
	in = in[:min(len(in), maxMatched)]
	var b strings.Builder
	for from, to := 0, 0; from < len(in); from = to {
		to = from + 1
		if in[from] >= utf8.RuneSelf || to < len(in) && in[to] >= utf8.RuneSelf {
			to = from + norm.NFC.NextBoundaryInString(in[from:], true)
		}
		b.WriteString(text.Fold(in[from:to]))
		for of != nil && len(*of) < b.Len() {
			*of = append(*of, character{from, to})
		}
	}
	return b.String()
}

// match scores the best match of a word in a text; 0 is no match. If marks is set, it
// returns the offsets of the matched bytes.
func match(text, typed string, marks bool) (score int, at []int) {
	if len(text) > maxFolded || !holdsLetters(text, typed) {
		return 0, nil
	}
	// now[j] is the best score of the bytes so far with the last one matched at j; 0
	// if that is impossible. from has the position of the previous one.
	var rows [2][maxFolded]int16
	now, last := rows[0][:len(text)], rows[1][:len(text)]
	var from [][]int
	for i := range len(typed) {
		now, last = last, now
		if marks {
			from = append(from, make([]int, len(text)))
		}
		inWord, before := -1, -1 // best positions of the previous byte, in this word and overall
		for j := range len(text) {
			starts := isLetter(text[j]) && (j == 0 || !isLetter(text[j-1]))
			if starts {
				inWord = -1
			}
			worth, prev := int16(0), 0
			take := func(at int, more int16) {
				if at >= 0 && last[at] > 0 && last[at]+more > worth {
					worth, prev = last[at]+more, at
				}
			}
			switch {
			case text[j] != typed[i]:
			case i == 0 && j == 0:
				worth = scoreFirst
			case i == 0 && starts:
				worth = scoreWord
			case i == 0:
				worth = scoreWithin
			case !utf8.RuneStart(typed[i]): // a further byte of the same character
				take(j-1, scoreRun)
			default:
				take(j-1, scoreRun)
				take(inWord, scoreWithin)
				if starts {
					take(before, scoreWord)
				}
			}
			if now[j] = worth; marks {
				from[i][j] = prev
			}
			if i > 0 && last[j] > 0 {
				if inWord < 0 || last[j] > last[inWord] {
					inWord = j
				}
				if before < 0 || last[j] > last[before] {
					before = j
				}
			}
		}
	}
	end := 0
	for j, worth := range now {
		if worth > 0 && (j+1 == len(text) || !isLetter(text[j+1])) {
			worth += scoreWhole
		}
		if int(worth) > score {
			score, end = int(worth), j
		}
	}
	if score == 0 || !marks {
		return score, nil
	}
	at = make([]int, len(typed))
	for i := len(typed) - 1; i >= 0; i-- {
		at[i] = end
		end = from[i][end]
	}
	return score, at
}

// holdsLetters reports whether a text contains the characters of another in order.
func holdsLetters(text, typed string) bool {
	for i := range len(typed) {
		at := strings.IndexByte(text, typed[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}

func isLetter(b byte) bool {
	return b >= utf8.RuneSelf || b >= 'a' && b <= 'z' || b >= '0' && b <= '9'
}
