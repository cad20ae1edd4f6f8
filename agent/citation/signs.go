package citation

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/internal/text"
)

// word is a token with the surrounding signs that a quotation has to preserve,
// such as operators, hyphens and slashes. Markup and sentence punctuation do
// not count.
type word struct {
	Token text.Token
	raw   string // letters and digits as written
	signs string // between the previous word and this one
	lead  string // directly attached before it
	trail string // directly attached after it
	tail  string // after the last word of the text

	line   bool   // first word of a line
	cell   bool   // first word of a table cell other than the first
	item   string // the number of the list item that it begins; "" if none
	parted bool   // continues the word before: hyphenated at a line break, or the next three digits of a number
	number string // the number in canonical form; "" if it is not a number
	key    string // number or text; what words are compared by
}

// wordless matches formatting tags, footnote markers, and linked notes with a
// folder.
var wordless = regexp.MustCompile(`(?i)</?(?:br|b|i|u|em|strong|mark|kbd|sub|sup|span|small|font|h[1-6]|p|div|a|li|` +
	`ul|ol|pre|code|t[dhr]|table|hr|center|details|summary)(?:[ \t][^<>\n]*)?/?>|\[\^[^\[\]\s]+\]|\[\[[^\[\]|` +
	`\n]*/[^\[\]|\n/]*\]\]`)

// highlighted matches ==highlighted words== that are no part of a word.
var highlighted = regexp.MustCompile(`(^|[^\pL\pN=])==([^\s=](?:[^=\n]*[^\s=])?)==`)

// unbroken replaces formatting tags, the marks of highlights, footnote markers and
// the folders of links with spaces, so that offsets stay the same.
func unbroken(md string) string {
	md = highlighted.ReplaceAllString(md, "$1  $2  ")
	return wordless.ReplaceAllStringFunc(md, func(tag string) string {
		name := ""
		if strings.HasPrefix(tag, "[[") {
			name = tag[strings.LastIndexByte(tag, '/')+1:]
		}
		return strings.Repeat(" ", len(tag)-len(name)) + name
	})
}

// wordsOf parses markdown into words.
func wordsOf(md string) []word {
	var words []word
	add := func(t text.Token) {
		w := word{Token: t, raw: strings.Map(lettersOnly, md[t.Start:t.End]), number: number(t.Text)}
		w.key = cmp.Or(w.number, strings.ToLower(w.Token.Text))
		from := 0
		if len(words) > 0 {
			from = words[len(words)-1].Token.End
		}
		w.item = itemBefore(md, from, t.Start)
		words = append(words, w)
	}
	for _, t := range text.Tokens(md) {
		if strings.Contains("-<>", t.Text) || isTimes(words, t) {
			continue // part of the signs, or markup
		}
		if at := timesAt(md[t.Start:t.End]); at > 0 { // 6x400: the x is a sign
			add(text.Token{Text: t.Text[:at], Start: t.Start, End: t.Start + at})
			if t.Start, t.Text = t.Start+at+1, t.Text[at+1:]; t.Text == "" {
				continue
			}
		}
		add(t)
	}
	end := 0
	for i := range words {
		var trail string
		words[i].signs, words[i].lead, trail = signsBetween(md, end, words[i].Token.Start)
		if i > 0 {
			words[i-1].trail = trail
			between := md[words[i-1].Token.End:words[i].Token.Start]
			words[i].line = strings.Contains(between, "\n")
			words[i].cell = strings.Contains(between, "|") && !strings.Contains(between, "||") &&
				!strings.Contains(between, "\n")
			words[i].parted = parted(words[i-1], between, words[i].Token.Text)
			if words[i].signs == "-" && isLetters(words[i-1].raw) && isLetters(words[i].raw) {
				words[i].signs = "" // well-known equals well known
			}
		}
		end = words[i].Token.End
	}
	if len(words) > 0 {
		words[len(words)-1].tail, _, words[len(words)-1].trail = signsBetween(md, end, len(md))
	}
	for i := range words { // in 50% and C++ the sign is a separate token
		if i+1 < len(words) && strings.Contains("%°+$€£¥", words[i+1].Token.Text) &&
			words[i].Token.End == words[i+1].Token.Start {
			words[i].trail += words[i+1].Token.Text
		}
		if i > 0 && strings.Contains("+±≈≥≤≠$€£¥", words[i-1].Token.Text) &&
			words[i-1].Token.End == words[i].Token.Start {
			words[i].lead = words[i-1].Token.Text + words[i].lead
		}
	}
	return words
}

// parted reports whether a word and what follows it are parts of one: of a hyphenated
// or an elided word, or of a number with spaces between its thousands.
func parted(before word, between, after string) bool {
	switch {
	case strings.HasPrefix(between, "-") && hyphenated.MatchString(between),
		strings.ContainsAny(between, "'’") && elided.MatchString(between):
		return true
	case between != " " || !threeDigits.MatchString(after) || !upToThreeDigits.MatchString(before.Token.Text):
		return false
	}
	return !before.parted || len(before.Token.Text) == 3
}

// timesAt returns the offset of the x in a word such as 6x400 or 4x; 0 if there is none.
func timesAt(word string) int {
	at := strings.IndexAny(word, "xX")
	if at < 1 || strings.Trim(word[:at], "0123456789.,") != "" ||
		at+1 < len(word) && !unicode.IsDigit(rune(word[at+1])) {
		return 0
	}
	return at
}

// isTimes reports whether a token is an x that multiplies the number before it.
func isTimes(before []word, t text.Token) bool {
	return strings.EqualFold(t.Text, "x") && len(before) > 0 && before[len(before)-1].number != "" &&
		t.Start-before[len(before)-1].Token.End == 1
}

// itemBefore returns the number of the list item that the word at an offset begins; "" if it begins
// none. The word before it ends at from.
func itemBefore(md string, from, at int) string {
	if !strings.ContainsAny(md[from:at], "0123456789") {
		return ""
	}
	m := listNumber.FindStringSubmatch(md[from:at])
	if m == nil || from > 0 && m[1] == "" {
		return ""
	}
	return m[2]
}

// listNumber matches what is between two words if the second begins a numbered item.
var listNumber = regexp.MustCompile(`(?:^|(\n))[ \t>]*(\d{1,3})[.)][ \t][^\n]*$`)

var (
	elided          = regexp.MustCompile(`^['’](?:  |\[\[?(?:[^\[\]|\n]*\|)?)$`) // L'[[note|eau]], L'==eau==
	hyphenated      = regexp.MustCompile(`^-[ \t]*\n[ \t]*$`)
	threeDigits     = regexp.MustCompile(`^\d{3}$`)
	upToThreeDigits = regexp.MustCompile(`^[1-9]\d{0,2}$|^\d{3}$`)
	numeral         = regexp.MustCompile(`^\d+(?:[.,]\d+)*$`)
	grouped         = regexp.MustCompile(`^[1-9]\d{0,2}(?:\.\d{3})+$|^[1-9]\d{0,2}(?:,\d{3})+$`)
)

// number returns a number in canonical form, without thousands separators and
// with a decimal point; "" if the word is a date or not a number.
func number(word string) string {
	if !numeral.MatchString(word) {
		return ""
	}
	whole, fraction := word, ""
	if at := strings.LastIndexAny(word, ".,"); at >= 0 && !grouped.MatchString(word) {
		whole, fraction = word[:at], "."+word[at+1:]
		if strings.ContainsAny(whole, ".,") && !grouped.MatchString(whole) {
			return ""
		}
	}
	return strings.NewReplacer(".", "", ",", "").Replace(whole) + fraction
}

// persons maps words that change with the grammatical person to their group.
var persons = func() map[string]string {
	index := map[string]string{}
	for _, words := range []string{
		"i you we me us ich du wir mir mich dir dich je tu nous 我 你 您",
		"my your our mine yours mein dein meine deine mon ton ma ta", "am are", "was were", "have has had",
		"bin bist", "habe hast",
	} {
		for word := range strings.FieldsSeq(words) {
			index[word] = words
		}
	}
	return index
}()

// form returns the normal form shared by the inflections of a word.
func (w word) form() string {
	return cmp.Or(w.number, persons[w.Token.Text], text.FoldedStem(w.Token.Text, ""))
}

func lettersOnly(r rune) rune {
	if unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
		return r
	}
	return -1
}

func isLetters(word string) bool {
	return utf8.RuneCountInString(word) > 1 && !strings.ContainsFunc(word,
		func(r rune) bool { return !unicode.IsLetter(r) })
}

var (
	// lineMarks matches the markup at the start of a line: of a quote block,
	// list, task or heading.
	lineMarks = regexp.MustCompile(`^[ \t]*(?:>(?:[ \t]+|\pL|$))*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[.\][ ` +
		`\t]+)?)?(?:#{1,6}[ \t]+)?`)
	// inlineMarks matches markup within a line.
	inlineMarks = regexp.MustCompile(`\]\([^()\n]*\)|\[\[[^|\]\n]*\||<!--|-->|%%|~~|\*\*+|__+|` + "`+")
)

// signsBetween returns the signs in md[from:to], the text between two words:
// all of them, those attached to the following word, and those attached to the
// preceding one.
func signsBetween(md string, from, to int) (all, lead, trail string) {
	if from == to || md[from:to] == " " {
		return "", "", ""
	}
	gap := md[from:to]
	var plain strings.Builder
	lines := strings.Split(gap, "\n")
	for i, line := range lines {
		if i > 0 {
			plain.WriteByte('\n')
		}
		if i > 0 || from == 0 {
			rest := line
			if to < len(md) && i == len(lines)-1 { // the markup may need the following word
				rest += md[to:min(len(md), to+1)]
			}
			line = line[min(len(line), len(lineMarks.FindString(rest))):]
		}
		plain.WriteString(inlineMarks.ReplaceAllString(line, ""))
	}
	before, _ := utf8.DecodeLastRuneInString(md[:from])
	after, _ := utf8.DecodeRuneInString(md[to:])
	runes := slices.Concat([]rune{before}, []rune(plain.String()), []rune{after})
	var parts [3][]rune // attached to the word before, all, attached to the word after
	parted := false
	for i := 1; i < len(runes)-1; i++ {
		r := runes[i]
		if unicode.IsSpace(r) || r == '—' {
			parted, parts[2] = true, nil
		}
		r, ok := sign(runes, i)
		if !ok {
			continue
		}
		parts[1] = append(parts[1], r)
		if !parted {
			parts[0] = append(parts[0], r)
		}
		parts[2] = append(parts[2], r)
	}
	return string(parts[1]), string(parts[2]), string(parts[0])
}

// sign returns the normalized rune at i, and whether it is significant there.
func sign(runes []rune, i int) (rune, bool) {
	r, before, after := runes[i], runes[i-1], runes[i+1]
	inside := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
	operand := inside(after) || strings.ContainsRune("=<>+-/\\&@$%^{(", after)
	switch r {
	case '—':
		return r, false
	case 'x', 'X': // only between words if it multiplies
		return '×', true
	case '-', '–', '−', '‐', '‑':
		if after == '>' {
			return '→', true
		}
		apart := unicode.IsSpace(before) && unicode.IsSpace(after)
		return '-', !apart || numberBeside(runes, i)
	case '>':
		if before == '-' {
			return r, false // part of an arrow
		}
	case '.', ':', '!', '?':
		return r, operand && !text.Unspaced(after)
	case '(':
		return r, inside(before) && !text.Unspaced(before)
	case ')':
		return r, operand && !text.Unspaced(after)
	case '*':
		return r, unicode.IsSpace(before) && unicode.IsSpace(after) || unicode.IsNumber(before) && operand ||
			inside(before) && unicode.IsNumber(after)
	case '#':
		return r, inside(before) || inside(after)
	case '|':
		return r, before == '|' || after == '|'
	case '\\':
		return r, inside(after)
	case '_', '\'', '"', '`', '[', ']', ',', ';', '…', '·', '•', '§':
		return r, false
	}
	const pictures = '\u2600' // decorative from here on
	return r, r < pictures && !unicode.IsSpace(r) && !unicode.IsPunct(r) && !unicode.Is(unicode.Cf, r) ||
		strings.ContainsRune("/@{}%&", r)
}

// numberBeside reports whether a dash at i is surrounded by spaces between two
// numbers.
func numberBeside(runes []rune, i int) bool {
	return i > 1 && i+2 < len(runes) && unicode.IsNumber(runes[i-2]) && unicode.IsNumber(runes[i+2])
}

// sameAsWritten reports whether a word whose letters are not those of the note may
// be quoted so. Case
// matters for one-letter names, acronyms and units. At the start of a sentence
// or quotation, the initial may differ.
func sameAsWritten(note, quoted word, begins bool) bool {
	const longestAcronym = 5 // letters; longer words in capitals are emphasis
	a, b := []rune(note.raw), []rune(quoted.raw)
	if len(a) != len(b) || len(a) > longestAcronym {
		return true
	}
	if len(a) == 1 {
		return begins && note.Token.Stop || unicode.ToLower(a[0]) != unicode.ToLower(b[0])
	}
	acronym := slices.ContainsFunc(a[1:], unicode.IsUpper) || slices.ContainsFunc(b[1:], unicode.IsUpper)
	if !acronym {
		return true
	}
	return begins && string(a[1:]) == string(b[1:])
}
