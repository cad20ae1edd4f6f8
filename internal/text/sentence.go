package text

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sentence is a part of a Markdown text that makes one statement: a sentence of a
// paragraph, a list item, a heading, or a row of a table.
type Sentence struct {
	Start, End int // byte offsets in the text, without the line break
	Line       int // line of its start, counted from 0
	EndLine    int
	Block      Span // the paragraph, item or quote that contains it
	Kind       BlockKind
}

// Sentences splits Markdown into sentences. A sentence does not end inside
// quotation marks, and includes the citations that follow its full stop.
func Sentences(text string) []Sentence {
	var list []Sentence
	line, counted := 0, 0
	lineAt := func(at int) int {
		line += strings.Count(text[counted:at], "\n")
		counted = at
		return line
	}
	add := func(start, end int, b Block) {
		if s := trim(text, start, end); s.Start < s.End {
			list = append(list, Sentence{
				Start: s.Start, End: s.End, Line: lineAt(s.Start), EndLine: lineAt(s.End),
				Block: trim(text, b.Start, b.End), Kind: b.Kind,
			})
		}
	}
	for _, b := range Parts(text) {
		if b.Kind == CodeBlock { // each line of code is a sentence
			for start := b.Start; start < b.End; {
				end := b.End
				if i := strings.IndexByte(text[start:b.End], '\n'); i >= 0 {
					end = start + i
				}
				add(start, end, b)
				start = end + 1
			}
			continue
		}
		start := b.Start
		quotes := Quotations(text, b)
		for i := b.Start; i < b.End; {
			if len(quotes) > 0 && i >= quotes[0].Start {
				inside := strings.TrimRight(text[:max(i, quotes[0].End)], "”“\"»«’‘'」』›‹")
				i, quotes = max(i, quotes[0].End), quotes[1:]
				if !strings.ContainsAny(inside[len(inside)-1:], ".!?") || text[len(inside):i] == "" {
					continue
				}
				i = len(inside) - 1 // the end of the quotation may end the sentence
			}
			_, size := utf8.DecodeRuneInString(text[i:])
			if end := sentenceEnd(text[:b.End], start, i); end > 0 {
				add(start, end, b)
				start, i = end, end
				continue
			}
			i += size
		}
		add(start, b.End, b)
	}
	return list
}

var trailingMarks = regexp.MustCompile(`^(?:["'”’»)\]*_]*)(?:\s*(?:` + citationForms + `))*`)

// sentenceEnd returns where the sentence from start ends if the character at i
// ends it, and otherwise 0.
func sentenceEnd(text string, start, i int) int {
	r, size := utf8.DecodeRuneInString(text[i:])
	if strings.ContainsRune("。！？", r) {
		return i + size + len(trailingMarks.FindString(text[i+size:]))
	}
	if r != '.' && r != '!' && r != '?' && r != '…' {
		return 0
	}
	end := i + size + len(trailingMarks.FindString(text[i+size:]))
	if end >= len(text) {
		return end
	}
	if text[end] != ' ' && text[end] != '\n' && text[end] != '\t' {
		return 0
	}
	if r == '.' && isAbbreviation(text[start:i], text[end:]) {
		return 0
	}
	next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], " \n\t*_>\"“„«("))
	if unicode.IsLower(next) {
		return 0
	}
	return end
}

// SentenceEnd returns the length of the first sentence of a text, including the
// white space after it. A line break ends a sentence.
func SentenceEnd(s string) int {
	for i := 0; i < len(s); {
		_, size := utf8.DecodeRuneInString(s[i:])
		switch end := sentenceEnd(s, 0, i); {
		case s[i] == '\n':
			return i + 1
		case end > 0:
			return end + len(s[end:]) - len(strings.TrimLeft(s[end:], " "))
		}
		i += size
	}
	return len(s)
}

// isAbbreviation reports whether the full stop after before belongs to its last
// word: a single letter, a common abbreviation, the number of a list item or, in
// German, of a day (3. Mai).
func isAbbreviation(before, after string) bool {
	last := before[strings.LastIndexAny(before, " \n\t(")+1:]
	if len(last) <= 2 && strings.Trim(last, "0123456789") == "" {
		word, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
		return strings.TrimSpace(before) == last || GermanMonth(strings.ToLower(strings.Trim(word, ",.")))
	}
	initial, size := utf8.DecodeRuneInString(last)
	return size == len(last) && unicode.IsLetter(initial) && last != "I" || Is(strings.ToLower(last), Abbreviation)
}

// Span is a range of byte offsets in a text.
type Span struct{ Start, End int }

// trim excludes white space at both ends.
func trim(text string, start, end int) Span {
	start += len(text[start:end]) - len(strings.TrimLeft(text[start:end], " \t\r\n"))
	return Span{start, start + len(strings.TrimRight(text[start:end], " \t\r\n"))}
}

// closers are the characters that may close a quotation, by the character that
// opens it.
var closers = map[rune]string{
	'“': "”", '”': "”", '„': "“”\"", '«': "»", '»': "«", '"': "\"", '「': "」", '『': "』",
	'‹': "›", '›': "‹", '‘': "’", '‚': "‘’", '\'': "'",
}

// maxQuote bounds a quotation in bytes, so that an unmatched quotation mark is
// ignored.
const maxQuote = 2000

// Quotations finds the quotations in a block, including their quotation marks.
func Quotations(text string, b Block) (quotes []Span) {
	before := ' '
	for i := b.Start; i < b.End; {
		r, size := utf8.DecodeRuneInString(text[i:])
		end, opens := closers[r]
		if opens && strings.ContainsRune("\"”»›'", r) { // the character may also close a quotation, or be an apostrophe
			after, _ := utf8.DecodeRuneInString(text[i+size : b.End])
			inWord := unicode.IsLetter(before) || unicode.IsDigit(before)
			begins := r == '"' || unicode.IsSpace(before) || strings.ContainsRune("([*_:—>", before)
			opens = begins && !inWord && !unicode.IsSpace(after)
			opens = opens && (r != '\'' || unicode.IsLetter(after) && !elision.MatchString(text[i:b.End]))
		}
		if opens {
			inside := text[i+size : min(b.End, i+size+maxQuote)]
			if n := closing(inside, end); n > 0 {
				_, closer := utf8.DecodeRuneInString(inside[n:])
				quotes = append(quotes, Span{i, i + size + n + closer})
				i += size + n + closer
				before = ' '
				continue
			}
		}
		before = r
		i += size
	}
	return quotes
}

// elision matches a word that begins with an apostrophe.
var elision = regexp.MustCompile(`^'(?i:tis|twas|em|til|cause|n|bout|round|s|ne?n?)\b`)

// closing returns where a quotation ends, or -1. Apostrophes do not end it.
func closing(inside, end string) int {
	for from := 0; ; {
		n := strings.IndexAny(inside[from:], end)
		if n < 0 || !strings.ContainsAny(end, "’'") {
			return n
		}
		_, size := utf8.DecodeRuneInString(inside[from+n:])
		next, _ := utf8.DecodeRuneInString(inside[from+n+size:])
		switch {
		case unicode.IsLetter(next):
		case end != "'":
			return from + n
		case strings.Contains(inside[:from+n], "\n"), !strings.Contains(inside[:from+n], " "):
			return -1 // ambiguous
		case !strings.HasSuffix(inside[:from+n], "s") || !pluralFollows.MatchString(inside[from+n+size:]):
			return from + n
		}
		from += n + size
	}
}

// pluralFollows distinguishes a plural possessive (the dogs' bowls) from the end
// of a quotation.
var pluralFollows = regexp.MustCompile(`^ \pL`)
