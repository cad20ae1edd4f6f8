package agent

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lifehub/pattern"
)

const (
	// longestWord is what a word of a language has at most, in characters; what
	// is longer and was not said may be a code.
	longestWord = 24
	// leastHidden is the length in bytes of a private word that counts when it
	// stands inside another.
	leastHidden = 6
	// leastTurned is the same for one that is written backwards or shifted.
	leastTurned = 4
)

// disguises tells whether a word may stand for what is private without being
// a private word: a code, a number, one word run together with others, or one
// in look-alike letters. It is written as it stands in the call, not folded.
func (v *vocabulary) disguises(word string) bool {
	if len(v.words) == 0 {
		return false
	}
	return looksCoded(word) || v.inside(foldText(word)) || slices.ContainsFunc(decoded(word), v.holdsAny)
}

// looksCoded tells what no ordinary word looks like: digits in it, capitals
// within, letters of two scripts, or no end.
func looksCoded(word string) bool {
	var lower, latin, other bool
	for _, r := range word {
		switch {
		case unicode.IsNumber(r), unicode.IsUpper(r) && lower:
			return true
		case isCJK(r):
			return false // these scripts part no words
		case unicode.Is(unicode.Latin, r):
			latin = true
		case unicode.IsLetter(r):
			other = true
		}
		lower = lower || unicode.IsLower(r)
	}
	return latin && other || utf8.RuneCountInString(word) > longestWord
}

// inside tells whether a private word stands inside another word.
func (v *vocabulary) inside(word string) bool {
	bare := withoutMarks(word)
	for private := range v.words {
		if len(private) < leastHidden {
			continue
		}
		if len(word) > len(private)+2 && strings.Contains(word, private) || bare == withoutMarks(private) {
			return true
		}
	}
	return false
}

// holdsAny tells whether one of a text's words is private.
func (v *vocabulary) holdsAny(text string) bool {
	return slices.ContainsFunc(wordsOf(text), func(word string) bool { return !stopWords[word] && v.holds(word) })
}

// decoded are the texts that a word may be the code of.
func decoded(word string) (texts []string) {
	add := func(text string, least int) {
		if len(text) >= least && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl) {
			texts = append(texts, text)
		}
	}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if text, err := encoding.DecodeString(word); err == nil {
			add(string(text), 2)
		}
	}
	if text, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.ToUpper(word)); err == nil {
		add(string(text), 2)
	}
	if text, err := hex.DecodeString(word); err == nil {
		add(string(text), 2)
	}
	letters := []rune(strings.ToLower(word))
	slices.Reverse(letters)
	add(string(letters), leastTurned)
	add(strings.Map(rot13, word), leastTurned)
	return texts
}

func rot13(r rune) rune {
	switch lower := r | 0x20; {
	case lower >= 'a' && lower <= 'm':
		return r + 13
	case lower >= 'n' && lower <= 'z':
		return r - 13
	}
	return r
}

// withoutMarks takes accents off, so that Zurich is Zürich.
func withoutMarks(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFKD.String(word))
}

// spelled joins letters that stand alone, one after the other: a word may be
// told letter by letter.
func spelled(words []string) (joined []string) {
	const least = 3 // letters; fewer are initials
	for i := 0; i < len(words); {
		from := i
		for i < len(words) && utf8.RuneCountInString(words[i]) == 1 && !strings.ContainsFunc(words[i], isCJK) {
			i++
		}
		if i-from >= least {
			joined = append(joined, strings.Join(words[from:i], " "))
		}
		i = max(i, from+1)
	}
	return joined
}

const (
	// maxDates is how many dates of a call need no question; more could spell
	// something.
	maxDates = 2
	// maxCounts is the same for small numbers, such as of days.
	maxCounts = 2
	// nearYears is how far from now a year may lie to be that of a date that
	// somebody asks about.
	nearYears = 1
)

// dateText finds dates as they are written in calls, and years.
var dateText = pattern.Lazy(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b|\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b|\b(\d{4})\b`)

// withoutDates takes the first dates near now out of a text: to say when is
// no secret.
func withoutDates(text string, now time.Time) string {
	taken := 0
	return dateText.ReplaceAllStringFunc(text, func(date string) string {
		m := dateText.FindStringSubmatch(date)
		year, month, day := m[1]+m[6]+m[7], m[2]+m[5], m[3]+m[4]
		if taken == maxDates || !inRange(year, now.Year()-nearYears, now.Year()+nearYears) ||
			month != "" && (!inRange(month, 1, 12) || !inRange(day, 1, 31)) {
			return date
		}
		taken++
		return " "
	})
}

// isCount tells a small number, such as of days or places.
func isCount(word string) bool { return len(word) <= 2 && inRange(word, 1, 31) }

func inRange(number string, from, to int) bool {
	n, err := strconv.Atoi(number)
	return err == nil && n >= from && n <= to
}
