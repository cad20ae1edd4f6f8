package draw

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Scores of a matched character: at the start of the text, at the start of a word,
// right after the previous match, and further on in the same word. scoreWhole is
// added if the last match ends a word.
const (
	scoreFirst  = 7
	scoreWord   = 6
	scoreRun    = 8
	scoreWithin = 1
	scoreWhole  = 1
)

const (
	maxMatched = 400            // bytes of a text that are compared
	maxLowered = 2 * maxMatched // bytes of them in lower case, which may be longer
)

// Match scores how well a text fits what is typed; 0 means not at all. A text fits
// if it has every typed word, in any order and case: the characters of a word in
// order, each right after the previous one, further on in the same word, or at the
// start of another.
func Match(text, typed string) (score int) {
	text = lowered(text)
	for _, typedWord := range strings.Fields(lowered(typed)) {
		worth, _ := match(text, typedWord, false)
		if worth == 0 {
			return 0
		}
		score += worth
	}
	return max(1, score)
}

// MatchRow is Match for a row of a list. In the description a typed word counts
// only as a whole, because almost any sentence has its characters in order.
func MatchRow(name, description, typed string) (score int) {
	description = strings.ToLower(description)
	for _, typedWord := range strings.Fields(lowered(typed)) {
		worth := Match(name, typedWord)
		if worth == 0 && !strings.Contains(description, typedWord) {
			return 0
		}
		score += worth
	}
	return max(1, score)
}

// Matched returns the offsets of the bytes that Match finds, in order.
func Matched(text, typed string) (at []int) {
	lower := lowered(text)
	if !strings.EqualFold(lower, text[:min(len(text), len(lower))]) {
		return nil // lower case has other lengths, so offsets would differ
	}
	for _, typedWord := range strings.Fields(lowered(typed)) {
		_, found := match(lower, typedWord, true)
		at = append(at, found...)
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// lowered returns the compared part of a text in lower case.
func lowered(text string) string {
	return strings.ToLower(strings.ToValidUTF8(text[:min(len(text), maxMatched)], ""))
}

// match scores the best match of a word in a text, 0 if there is none, and returns
// the offsets of its bytes if marks is set.
func match(text, typed string, marks bool) (score int, at []int) {
	if len(text) > maxLowered || !holdsLetters(text, typed) {
		return 0, nil
	}
	// now[j] is what the letters so far are worth when the last of them is at j, 0:
	// it cannot be; from says where the one before is then.
	var rows [2][maxLowered]int16
	now, last := rows[0][:len(text)], rows[1][:len(text)]
	var from [][]int
	for i := range len(typed) {
		now, last = last, now
		if marks {
			from = append(from, make([]int, len(text)))
		}
		inWord, before := -1, -1 // the best places of the letter before, in this word and in all
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
			case !utf8.RuneStart(typed[i]): // the rest of the letter before
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

// holdsLetters reports whether the letters of one text are in another, in order.
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
