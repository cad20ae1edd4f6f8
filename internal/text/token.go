package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// Token is a word, number or symbol of a text, folded for comparison: lower case,
// without markup, quotation marks and most punctuation. In scripts without
// spaces, each character is a token.
type Token struct {
	Text       string
	Start, End int  // byte offsets in the text
	Stop       bool // too frequent to carry meaning
	Capital    bool // starts with a capital, so it may be a name
}

// signs are symbols that become tokens, because omitting them would change the
// meaning.
const signs = "%$€£¥°+=&≤≥≠±≈❌✗✘🚫"

// Tokens returns the tokens of Markdown text, without the targets of links.
func Tokens(md string) []Token {
	var tokens []Token
	var word strings.Builder
	start, end := 0, 0
	finish := func() {
		if word.Len() > 0 {
			tokens = append(tokens, foldWord(word.String(), start, end, tokens))
			word.Reset()
		}
	}
	for i := 0; i < len(md); {
		r, size := utf8.DecodeRuneInString(md[i:])
		if skip := max(linkTarget(md, i), itemNumber(md, i)); skip > 0 {
			finish()
			i += skip
			continue
		}
		switch {
		case Unspaced(r):
			finish()
			tokens = append(tokens, Token{Text: string(r), Start: i, End: i + size})
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			if word.Len() == 0 {
				start = i
			}
			word.WriteRune(r)
			end = i + size
		case strings.ContainsRune("*`~_'’\u00ad\u200b\u200c\u200d\ufeff", r):
			// markup and apostrophes do not split words
		case (r == '.' || r == ',' || r == ':') && inNumber(md, i):
			word.WriteRune(r)
		case (r == '\u00a0' || r == '\u2009' || r == '\u202f') &&
			threeDigits.MatchString(md[i+size:min(len(md), i+size+4)]) && i > 0 && isDigit(md[i-1]):
			// a narrow space separates thousands
		case strings.ContainsRune(signs, r) && !isBullet(md, i, size), isNegative(md, r, i, size):
			finish()
			if r == '−' {
				r = '-'
			}
			tokens = append(tokens, Token{Text: string(r), Start: i, End: i + size})
		default:
			finish()
		}
		i += size
	}
	finish()
	for i := range len(tokens) - 1 { // normalise €45 to 45 €
		sign, amount := &tokens[i], &tokens[i+1]
		if strings.Contains("$€£¥", sign.Text) && isDigit(amount.Text[0]) && sign.End == amount.Start &&
			(i == 0 || !isDigit(tokens[i-1].Text[0]) || tokens[i-1].End < sign.Start) {
			sign.Text, amount.Text = amount.Text, sign.Text
		}
	}
	return tokens
}

// foldWord folds a word without its closing punctuation. Units keep their case,
// since mW is not MW; ² stays distinct from 2; and both encodings of é are equal.
func foldWord(word string, start, end int, before []Token) Token {
	word = norm.NFC.String(width.Fold.String(strings.TrimRight(word, ".,:")))
	if thousands.MatchString(word) {
		word = strings.ReplaceAll(word, ",", "")
	}
	t := Token{Text: strings.ToLower(word), Start: start, End: end}
	first, _ := utf8.DecodeRuneInString(word)
	t.Capital = unicode.IsUpper(first)
	t.Stop = Empty(t.Text)
	const longestUnit = 3 // characters
	afterNumber := len(before) > 0 && isDigit(before[len(before)-1].Text[0]) && start-before[len(before)-1].End <= 1
	if !t.Stop && (unicode.IsNumber(first) || afterNumber && utf8.RuneCountInString(word) <= longestUnit) {
		t.Text = word
	}
	return t
}

var threeDigits = regexp.MustCompile(`^\d{3}(?:\D|$)`)

// thousands matches a number with commas between thousands: 1,250.50.
var thousands = regexp.MustCompile(`^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$`)

// isNegative reports whether the character at i is the minus, < or > before a
// number.
func isNegative(text string, r rune, i, size int) bool {
	if r != '-' && r != '−' && r != '<' && r != '>' {
		return false
	}
	rest := text[i+size:]
	if r == '<' || r == '>' {
		rest = strings.TrimLeft(rest, " ")
	}
	if rest == "" || !isDigit(rest[0]) {
		return false
	}
	before := strings.TrimRight(text[:i], " ")
	if r == '>' && (before == "" || strings.HasSuffix(before, "\n")) {
		return false // a quoted line
	}
	return r != '-' || i == 0 || strings.ContainsRune(" (\n\t", rune(text[i-1]))
}

// linkTarget returns the length of a link's target that starts at i: the address
// in [text](address), or the name in [[name|text]].
func linkTarget(text string, i int) int {
	const longest = 500
	rest := text[i:min(len(text), i+longest)]
	switch {
	case strings.HasPrefix(rest, "]("):
		if end := strings.IndexAny(rest[2:], ")\n"); end >= 0 && rest[2+end] == ')' {
			return 2 + end + 1
		}
	case strings.HasPrefix(rest, "[["):
		if end := strings.IndexAny(rest[2:], "|]\n"); end >= 0 && rest[2+end] == '|' {
			return 2 + end + 1
		}
	}
	return 0
}

// itemNumber returns the length of a list item's number that starts at i.
func itemNumber(text string, i int) int {
	if i > 0 && text[i-1] != '\n' {
		return 0
	}
	return len(numberedItem.FindString(text[i:min(len(text), i+40)]))
}

var numberedItem = regexp.MustCompile(`^[ \t>]*\d{1,3}[.)][ \t]`)

// inNumber reports whether the character at i is between two digits.
func inNumber(text string, i int) bool {
	return i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// isBullet reports whether the character at i is a + that starts a list item.
func isBullet(text string, i, size int) bool {
	if text[i] != '+' || i+size >= len(text) || text[i+size] != ' ' {
		return false
	}
	before := strings.TrimRight(text[:i], " \t")
	return before == "" || strings.HasSuffix(before, "\n")
}

// Empty reports whether a word in lower case carries no meaning when texts are
// compared, in English or German.
func Empty(word string) bool {
	return (StopWord(word, "") || StopWord(word, "de") || Is(word, Saying)) && !Is(word, Negation|Hedge|Narrowing)
}
