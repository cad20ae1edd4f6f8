package when

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// token is a word or number that may be part of a time expression. In addition to
// the kinds of the vocabulary there are d, a numeric date with its span; n, the
// same without its year; Y, a year; '|', the end of a sentence; and '?', any
// other word.
type token struct {
	meaning
	span       Span
	start, end int
	unspaced   bool // in a script without spaces
}

// reader parses the times in a text.
type reader struct {
	text   string
	tokens []token
	kinds  string // one character per token
	today  time.Time
	tense  int  // -1: past, 1: future, 0: unknown
	year   int  // year of dates without one; 0: the nearest
	last   Span // time of the previous question
}

var (
	dateInFigures = regexp.MustCompile(`^(?:(\d{4})[-/.](\d\d?)[-/.](\d\d?)(?:t\d\d:\d\d[\d:.z]*)?|(\d\d?)\.(\d\d?)\.(\d{4})?|(\d{4})-(\d\d)|(\d{4})[ /-]?q([1-4])|q([1-4])(?:[ /-]?(\d{4}))?)`)
	numberOfDay   = regexp.MustCompile(`^(?:st|nd|rd|th|er|\.)`)
	nextMark      = regexp.MustCompile(`^[年月日号號년월일]`)
)

// newReader splits a text in lower case into tokens.
func newReader(lower string, today time.Time) *reader {
	r := &reader{text: lower, today: today}
	for at := 0; at < len(lower); {
		first, size := utf8.DecodeRuneInString(lower[at:])
		t := token{meaning: meaning{kind: '?'}, start: at, end: at + size}
		switch {
		case isDigit(lower[at]) || first == 'q':
			t.readFigures(lower, today)
			if first == 'q' && t.kind == '?' {
				t.readWord(lower)
			}
		case text.Unspaced(first) && !strings.ContainsRune("呢吗", first):
			t.readUnspaced(lower)
		case unicode.IsLetter(first) && !text.Unspaced(first):
			t.readWord(lower)
		case strings.ContainsRune("-–—", first):
			before, _ := utf8.DecodeLastRuneInString(lower[:at])
			after, _ := utf8.DecodeRuneInString(lower[at+size:])
			if t.kind = 'J'; unicode.IsLetter(before) && unicode.IsLetter(after) {
				t.kind = 'a'
			}
		case strings.ContainsRune(".?!;:\n。？！；：呢吗", first):
			if t.kind = '|'; first == '.' && len(r.tokens) > 0 && r.tokens[len(r.tokens)-1].kind == 'M' {
				t.kind = 'a' // as in "Jan. 2026"
			}
		case unicode.IsSpace(first) || strings.ContainsRune(",，'’\"“”()*_", first):
			t.kind = 'a'
		}
		at = max(t.end, at+size)
		if n := len(r.tokens) - 1; n >= 0 && t.kind != 'a' {
			t.settle(&r.tokens[n], lower)
		}
		if n := len(r.tokens) - 1; n >= 0 && t.kind == 'U' && r.tokens[n].kind == 'M' && r.tokens[n].end == t.start && !t.unspaced {
			r.tokens[n].end, t.start = t.end, r.tokens[n].start // Oktoberwoche: the week of October
			r.tokens = append(r.tokens[:n], t, r.tokens[n])
		} else if t.kind != 'a' {
			r.tokens = append(r.tokens, t)
		}
	}
	r.joinYears()
	return r
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// settle resolves an ambiguous word by the one before it.
func (t *token) settle(before *token, lower string) {
	switch word := lower[before.start:before.end]; {
	case word == "sept" && t.kind == 'U':
		before.meaning = meaning{'N', 7}
	case word == "an" && (t.kind == 'F' || t.kind == 'W'):
		before.meaning = meaning{'p', 2}
	case lower[t.start:t.end] == "an" && before.kind == 'N':
		t.meaning = meaning{'U', aYear}
	case word == "due" && t.kind != 'U':
		before.meaning = meaning{kind: '?'}
	}
}

// readFigures reads a number or a numeric date.
func (t *token) readFigures(lower string, today time.Time) {
	rest := lower[t.start:]
	before, _ := utf8.DecodeLastRuneInString(lower[:t.start])
	glued := isWordRune(before) && !text.Unspaced(before)
	if m := dateInFigures.FindStringSubmatch(rest); m != nil && !startsWord(rest[len(m[0]):]) && !glued {
		n := make([]int, len(m))
		for i := range m {
			n[i], _ = strconv.Atoi(m[i]) //nolint:errcheck // an empty string gives 0
		}
		t.end = t.start + len(m[0])
		switch {
		case n[1] > 0:
			t.dated(dateOf(today, n[1], n[2], n[3]))
		case n[6] > 0:
			t.dated(dateOf(today, n[6], n[5], n[4]))
		case n[4] > 0: // year 0 until the year is known
			t.meaning = meaning{'n', 100*n[5] + n[4]}
		case n[7] > 0:
			t.dated(monthsFrom(today, n[7], n[8], 1), 1 <= n[8] && n[8] <= 12 && !strings.HasPrefix(rest[len(m[0]):], "-"))
			t.value = aMonth
		case n[9] > 0:
			t.dated(monthsFrom(today, n[9], 3*n[10]-2, 3), true)
		case n[12] > 0:
			t.dated(monthsFrom(today, n[12], 3*n[11]-2, 3), true)
		case n[11] > 0:
			t.meaning = meaning{'Q', n[11]}
		}
		return
	}
	figures := rest[:len(rest)-len(strings.TrimLeft(rest, "0123456789"))]
	if figures == "" {
		return
	}
	t.end = t.start + len(figures)
	n, err := strconv.Atoi(figures)
	mark := numberOfDay.FindString(rest[len(figures):])
	switch after := rest[len(figures)+len(mark):]; {
	case err != nil || n > tenYears || glued:
	case mark != "" && !startsWord(after):
		if t.meaning = (meaning{'O', n}); mark != "." || strings.HasPrefix(after, " ") {
			t.end += len(mark)
		}
	case len(figures) == 4 && 1900 <= n && n < 2100:
		t.meaning = meaning{'Y', n}
	case !startsWord(rest[len(figures):]) || text.Unspaced(firstRune(rest[len(figures):])):
		t.meaning = meaning{'N', n}
	}
	t.readMark(lower)
}

const tenYears = 3650

// dated makes the token a date if the date exists.
func (t *token) dated(s Span, ok bool) {
	if t.kind = '?'; ok {
		t.meaning, t.span = meaning{'d', aDay}, s
	}
}

// readMark reads the character after a number that names its unit: 3月.
func (t *token) readMark(lower string) {
	spaces := len(lower[t.end:]) - len(strings.TrimLeft(lower[t.end:], " "))
	mark := nextMark.FindString(lower[t.end+spaces:])
	if mark == "" || t.kind != 'N' && t.kind != 'Y' || spaces > 1 {
		return
	}
	kinds := map[string]byte{"月": 'M', "월": 'M', "日": 'O', "号": 'O', "號": 'O', "일": 'O', "年": 'y', "년": 'y'}
	kind := kinds[mark]
	if kind == 'M' && (t.value < 1 || t.value > 12) || kind == 'y' && t.kind != 'Y' || kind == 'O' && (t.value > 31 || strings.HasPrefix(lower[t.end+spaces+len(mark):], " 전")) {
		return // 3年 means three years
	}
	t.kind, t.unspaced = kind, true
	t.end += spaces + len(mark)
}

// readUnspaced reads the longest word of the vocabulary, or a Chinese number.
func (t *token) readUnspaced(lower string) {
	t.unspaced = true
	rest := lower[t.start:]
	ends := make([]int, 0, longestWord)
	for i, r := range rest {
		if ends = append(ends, i+utf8.RuneLen(r)); len(ends) == longestWord || r == utf8.RuneError {
			break
		}
	}
	for _, end := range slices.Backward(ends) {
		if m, ok := meanings()[rest[:min(end, len(rest))]]; ok {
			t.meaning, t.end = m, t.start+end
			return
		}
	}
	rank, _ := strings.CutPrefix(rest, "第")
	figures := rank[:len(rank)-len(strings.TrimLeft(rank, "0123456789一二三四五六七八九十两几"))]
	if figures == "" {
		return
	}
	t.end = t.start + len(rest) - len(rank) + len(figures)
	n, err := strconv.Atoi(figures)
	if err != nil {
		n = chinese(figures)
	}
	if t.meaning = (meaning{'N', n}); len(rank) < len(rest) {
		t.kind = 'R'
		return
	}
	t.readMark(lower)
}

// chinese parses a Chinese number up to 99.
func chinese(figures string) (n int) {
	digit := 0
	for _, r := range figures {
		if r == '十' {
			n, digit = n+10*max(digit, 1), 0
			continue
		}
		if digit = 1 + slices.Index([]rune("一二三四五六七八九"), r); digit == 0 {
			digit = map[rune]int{'两': 2, '几': 3}[r]
		}
	}
	return n + digit
}

// readWord reads a word, or the longest phrase in the vocabulary.
func (t *token) readWord(lower string) {
	words, end := "", t.start
	for n := 0; n < 4; n++ {
		from := end
		for _, r := range lower[end:] {
			if !isWordRune(r) && (r != '\'' && r != '’' || end == from) || text.Unspaced(r) {
				break
			}
			end += utf8.RuneLen(r)
		}
		word := strings.ReplaceAll(lower[from:end], "’", "'")
		if elided := strings.IndexByte(word, '\''); elided > 0 && elided <= len("jusqu") && meanings()[word].kind == 0 && elided < len(word)-2 {
			word, end = word[:elided], from+elided // as in l'année and d'avant
			end += len("'")
			if strings.HasPrefix(lower[end-1:], "’") {
				end += len("’") - 1
			}
		}
		if words += word; n == 0 {
			t.end = end
		}
		bare := strings.TrimSuffix(strings.TrimRight(words, "'"), "'s")
		m, ok := meanings()[words]
		if !ok {
			m, ok = meanings()[bare]
		}
		switch {
		case ok && (words != "before_last" || !named(lower[end:])):
			t.meaning, t.end = m, end
		case n == 0 && t.readCompound(bare):
			return
		}
		if end == from || end == len(lower) || lower[end] != ' ' && lower[end] != '-' && lower[end-1] != '\'' {
			return
		}
		if words += "_"; lower[end] == ' ' || lower[end] == '-' {
			end++
		}
	}
}

// named reports whether a text begins with a word of the vocabulary that names a
// time.
func named(rest string) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kind := meanings()[strings.Trim(word, ".,?!")].kind
	return kind != 0 && strings.IndexByte("WMSFU", kind) >= 0
}

// readCompound reads the month in a German compound such as Oktoberwoche.
func (t *token) readCompound(word string) bool {
	month := strings.TrimSuffix(strings.TrimSuffix(word, "nende"), "woche")
	m := meanings()[month]
	if m.kind != 'M' || month == word {
		return false
	}
	t.meaning, t.end = m, t.start+len(month)
	return true
}

// joinYears merges the tokens of phrases such as "last year".
func (r *reader) joinYears() {
	kept := r.tokens[:0]
	for _, t := range r.tokens {
		n := len(kept) - 1
		switch {
		case t.kind == 'y' && t.value < 1000:
			t.value += r.today.Year()
		case n >= 0 && (kept[n].kind == 'I' && t.kind == 'U' && t.value == aYear || t.kind == 'I' && kept[n].kind == 'U' && kept[n].value == aYear):
			step := t.value
			if t.kind == 'U' {
				step = kept[n].value
			}
			kept[n].meaning, kept[n].end = meaning{'y', r.today.Year() + step}, t.end
			continue
		}
		kept = append(kept, t)
	}
	r.tokens = kept
	var kinds strings.Builder
	for _, t := range kept {
		kinds.WriteByte(t.kind)
	}
	r.kinds = kinds.String()
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

func startsWord(s string) bool {
	r := firstRune(s)
	return isWordRune(r) && !text.Unspaced(r)
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
