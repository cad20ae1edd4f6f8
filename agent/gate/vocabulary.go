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

// vocabulary is what the user said: the words of some messages, and the days
// that they name.
type vocabulary struct {
	typed map[string]bool   // as they were typed
	count map[string]int    // in lower case: how often in one message at most
	bare  map[string]string // without accents: with them, both in lower case
	stems map[string]bool
	days  map[string]bool // ISO dates
	names map[string]bool // what these days are called, in lower case
	texts string          // the messages in lower case
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
				v.typed[lower] = true // a capital that only begins the message
			}
			v.typed[word] = true
			here[lower]++
			v.count[lower] = max(v.count[lower], here[lower])
			v.bare[withoutAccents(lower)] = lower
			for _, stem := range stems(lower) {
				v.stems[stem] = true
			}
			if day, ok := readDay(word); ok {
				v.addDay(day, 2) // its weekday says little more
			}
		}
	}
	v.texts = texts.String()
	const nearly = 366 // days: what was said without a year is within one
	for offset := -nearly; offset <= nearly; offset++ {
		if day := now.AddDate(0, 0, offset); v.says(day, offset) {
			v.addDay(day, offset)
		}
	}
	return v
}

// price returns how many liberties a word takes, and whether it is one that
// may go out at all.
func (v *vocabulary) price(word string) (liberties int, known bool) {
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

// wrote reports whether a text is within what the user typed, in any case.
func (v *vocabulary) wrote(text string) bool {
	return text != "" && strings.Contains(v.texts, strings.ToLower(text))
}

// times is how often a word is in one message.
func (v *vocabulary) times(word string) int {
	if n := v.count[strings.ToLower(word)]; n > 0 || !strings.ContainsFunc(word, text.Unspaced) {
		return n
	}
	return 1
}

// says reports whether the user's words name a day, which is offset days from
// today: today itself, tomorrow, a weekday or weekend about now, or day and
// month.
func (v *vocabulary) says(day time.Time, offset int) bool {
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

// dayText finds a date that begins a text.
var dayText = pattern.Lazy(`^(?:\d{4}-\d{2}-\d{2}|\d{1,2}\.\d{1,2}\.\d{4})`)

func readDay(word string) (time.Time, bool) {
	for _, layout := range []string{time.DateOnly, "2.1.2006"} {
		if day, err := time.Parse(layout, word); err == nil {
			return day, true
		}
	}
	return time.Time{}, false
}

// wordsBetween cuts a text into words, each with what stands before it; the
// last is "" with what stands after all words. A word is a run of letters, of
// digits or of a script without spaces, or a date.
func wordsBetween(text string) iter.Seq2[string, string] {
	return func(yield func(between, word string) bool) {
		start, end, kind := 0, 0, 0 // text[:start] is done, text[end:i] is the word so far
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

// kindOf is the kind of word that a character belongs to, after one of the
// kind before; 0: none.
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

// plainCase reports whether a word is in lower case, in upper case, or begins
// with a capital.
func plainCase(word string) bool {
	lower := strings.ToLower(word)
	first, size := utf8.DecodeRuneInString(lower)
	return word == lower || word == strings.ToUpper(word) || word == string(unicode.ToTitle(first))+lower[size:]
}

// withoutAccents takes the accents off letters, so that zürich is zurich. A
// mark that is a character of its own stays: it shows, and says something.
func withoutAccents(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) && !text.Unspaced(r) {
			return firstRune(norm.NFD.String(string(r)))
		}
		return r
	}, word)
}

// differing is in how many letters two words of the same length differ.
func differing(a, b string) (n int) {
	other := []rune(b)
	for i, r := range []rune(a) {
		if r != other[i] {
			n++
		}
	}
	return n
}

// stems reduces a word, in lower case, to what its forms have in common, by
// the rules of English and of German.
func stems(word string) (list []string) {
	const longest = 64 // bytes; what is longer is no word
	if len(word) > longest || unicode.IsDigit(firstRune(word)) {
		return nil
	}
	for _, language := range []text.Lang{"", "de"} {
		list = append(list, string(language)+" "+text.Stem(word, language))
	}
	return list
}

// sameJSON reports whether a value is what raw says.
func sameJSON(value any, raw json.RawMessage) bool {
	text, err := json.Marshal(value)
	var other bytes.Buffer
	return err == nil && json.Compact(&other, raw) == nil && bytes.Equal(text, other.Bytes())
}

// signName is a character that shows, or its number.
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
