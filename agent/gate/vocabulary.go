package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// vocabulary is what the user typed: the words of some messages, and the days
// that they mention.
type vocabulary struct {
	typed map[string]bool   // exact spelling
	count map[string]int    // lower case; highest count in one message
	bare  map[string]string // without accents → with accents, both in lower case
	stems map[string]bool
	days  map[string]bool // ISO dates
	names map[string]bool // names of these days, in lower case
	texts string          // the messages, in lower case
}

func newVocabulary(messages []string, now time.Time) *vocabulary {
	v := &vocabulary{typed: map[string]bool{}, count: map[string]int{}, bare: map[string]string{}, stems: map[string]bool{}, days: map[string]bool{}, names: map[string]bool{}}
	var texts strings.Builder
	for _, message := range messages {
		message = norm.NFC.String(message)
		texts.WriteString(strings.ToLower(message) + "\n")
		here := map[string]int{}
		for _, word := range wordsBetween(message) {
			if word == "" {
				continue
			}
			lower := strings.ToLower(word)
			if len(here) == 0 {
				v.typed[lower] = true // the first word may be capitalized only for its position
			}
			v.typed[word] = true
			here[lower]++
			v.count[lower] = max(v.count[lower], here[lower])
			v.bare[withoutAccents(lower)] = lower
			for _, stem := range stems(lower) {
				v.stems[stem] = true
			}
			if day, ok := readDay(word); ok {
				v.addDay(day, 2) // its weekday, month and year disclose little more
			}
		}
	}
	v.texts = texts.String()
	const nearly = 366 // days: a date without a year is within one year
	for offset := -nearly; offset <= nearly; offset++ {
		if day := now.AddDate(0, 0, offset); v.mentions(day, offset) {
			v.addDay(day, offset)
		}
	}
	return v
}

// price returns how many deviations a word costs, and whether it may be sent at
// all.
func (v *vocabulary) price(word string) (deviations int, known bool) {
	lower := strings.ToLower(word)
	switch {
	case v.typed[word] || strings.ContainsFunc(word, text.Unspaced) && v.wrote(word):
		return 0, true
	case !plainCase(word):
		return 0, false
	case v.count[lower] > 0:
		return 1, true
	case v.bare[withoutAccents(lower)] != "":
		return differing(lower, v.bare[withoutAccents(lower)]), true
	case v.names[lower] || text.Empty(lower):
		return 1, true
	}
	if day, ok := readDay(word); ok {
		return 1, v.days[day.Format(time.DateOnly)]
	}
	for _, stem := range stems(lower) {
		if v.stems[stem] {
			return 1, true
		}
	}
	return 0, false
}

// wrote reports whether text occurs in what the user typed, ignoring case.
func (v *vocabulary) wrote(text string) bool {
	return text != "" && strings.Contains(v.texts, strings.ToLower(text))
}

// times returns how often the word occurs in one message at most.
func (v *vocabulary) times(word string) int {
	if n := v.count[strings.ToLower(word)]; n > 0 || !strings.ContainsFunc(word, text.Unspaced) {
		return n
	}
	return 1
}

// mentions reports whether the user's words refer to day, which is offset days from
// today: today itself, tomorrow, a weekday or weekend near today, or a day and
// month.
func (v *vocabulary) mentions(day time.Time, offset int) bool {
	about := offset > -8 && offset < 14 // "last Monday", "next Friday"
	weekend := day.Weekday() == time.Saturday || day.Weekday() == time.Sunday
	return offset == 0 || v.hasAny(text.RelativeDays(offset)...) ||
		about && (v.hasAny(text.WeekdayNames(day.Weekday())...) || weekend && v.hasAny("weekend", "wochenende")) ||
		v.hasAny(day.Format("2"), day.Format("02")) && v.hasAny(append(text.MonthNames(day.Month()), day.Format("1"), day.Format("01"))...)
}

func (v *vocabulary) hasAny(words ...string) bool {
	for _, word := range words {
		if v.count[word] > 0 {
			return true
		}
	}
	return false
}

func (v *vocabulary) addDay(day time.Time, offset int) {
	v.days[day.Format(time.DateOnly)] = true
	names := append(text.WeekdayNames(day.Weekday()), text.MonthNames(day.Month())...)
	for _, name := range append(append(names, day.Format("2"), day.Format("2006")), text.RelativeDays(offset)...) {
		v.names[name] = true
	}
}

// dayText matches a date at the start of a text.
var dayText = pattern.Lazy(`^(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})`)

func readDay(word string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2.1.2006"} {
		if day, err := time.Parse(layout, word); err == nil {
			return day, true
		}
	}
	return time.Time{}, false
}

// wordsBetween yields each word of a text with the text before it, and finally
// "" with the text after the last word. A word is a run of letters, of digits
// or of a script without spaces, or a date.
func wordsBetween(text string) iter.Seq2[string, string] {
	return func(yield func(between, word string) bool) {
		start, end, kind := 0, 0, 0 // text[:start] was yielded; text[end:i] is the current word
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			next := kindOf(r, kind)
			if next != kind {
				if kind != 0 {
					if !yield(text[start:end], text[end:i]) {
						return
					}
					start = i
				}
				end, kind = i, next
				if next == digits {
					if date := dayText.FindString(text[i:]); date != "" && kindOf(firstRune(text[i+len(date):]), 0) == 0 {
						size = len(date)
					}
				}
			}
			i += size
		}
		if kind != 0 {
			if !yield(text[start:end], text[end:]) {
				return
			}
			start = len(text)
		}
		yield(text[start:], "")
	}
}

const digits = 2

// kindOf returns the kind of word that r belongs to, following a rune of kind
// before; 0 if none.
func kindOf(r rune, before int) int {
	switch {
	case unicode.IsMark(r):
		return max(before, 1)
	case text.Unspaced(r):
		return 3
	case unicode.IsNumber(r):
		return digits
	case unicode.IsLetter(r):
		return 1
	}
	return 0
}

// plainCase reports whether a word is in lower case, in upper case or
// capitalized.
func plainCase(word string) bool {
	lower := strings.ToLower(word)
	first, size := utf8.DecodeRuneInString(lower)
	return word == lower || word == strings.ToUpper(word) || word == string(unicode.ToTitle(first))+lower[size:]
}

// withoutAccents removes the accents of letters, so that zürich becomes zurich.
// Combining marks that are separate runes stay: they are visible and carry
// meaning.
func withoutAccents(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !text.Unspaced(r) {
			return firstRune(norm.NFD.String(string(r)))
		}
		return r
	}, word)
}

// differing returns the number of runes in which two words of the same length
// differ.
func differing(a, b string) (n int) {
	other := []rune(b)
	for i, r := range []rune(a) {
		if r != other[i] {
			n++
		}
	}
	return n
}

// stems returns the stems of a lower-case word by the rules of English and of
// German.
func stems(word string) (list []string) {
	const longest = 64 // bytes; anything longer is not a word
	if len(word) > longest || unicode.IsDigit(firstRune(word)) {
		return nil
	}
	for _, language := range []text.Lang{"", "de"} {
		list = append(list, string(language)+" "+text.Stem(word, language))
	}
	return list
}

// sameJSON reports whether value encodes to the same JSON as raw.
func sameJSON(value any, raw json.RawMessage) bool {
	text, err := json.Marshal(value)
	var other bytes.Buffer
	return err == nil && json.Compact(&other, raw) == nil && bytes.Equal(text, other.Bytes())
}

// signName returns the character itself if it is visible, otherwise its code
// point.
func signName(r rune) string {
	if unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) {
		return string(r)
	}
	return fmt.Sprintf("%U", r)
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
