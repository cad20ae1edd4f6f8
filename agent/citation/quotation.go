package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

// maxTerm is the greatest length of a name or term (see [lengthOf]).
const maxTerm = 7

// isTerm reports whether words are a name or term and too short for a quotation:
// three words, three characters of Chinese or Japanese, or seven of another
// script without spaces. Katakana spells a word as letters do.
func isTerm(words string) bool {
	n := lengthOf(words)
	for _, t := range text.Tokens(words) {
		if unicode.In(firstRune(t.Text), unicode.Han, unicode.Hiragana) {
			n++
		}
	}
	return n <= maxTerm
}

// loneQuote is a quotation, or the lines of one quote block, without a
// citation.
type loneQuote struct {
	quotes  []quotation
	callout bool // a block in which the answer itself speaks: "> **Tip:** …"
}

var calloutLine = regexp.MustCompile(`^[>\s]*(?:\[!|\*\*[^*\n]{1,40}(?::\*\*|\*\*:))`)

// loneQuotes returns the quotations that are not taken by a claim.
func loneQuotes(answer string, quotes []quotation, taken map[int]bool) (list []loneQuote) {
	for _, b := range text.Parts(answer) {
		var own []quotation
		for len(quotes) > 0 && quotes[0].Span.Start < b.End {
			if !taken[quotes[0].Span.Start] {
				own = append(own, quotes[0])
			}
			quotes = quotes[1:]
		}
		switch {
		case len(own) == 0:
		case b.Kind == text.QuoteBlock:
			list = append(list, loneQuote{own, calloutLine.MatchString(answer[b.Start:b.End])})
		default:
			for _, q := range own {
				list = append(list, loneQuote{quotes: []quotation{q}})
			}
		}
	}
	return list
}

// judgeLone returns the verdicts on a quotation without a number: the location
// in any source, or not found. Text that claims nothing about the notes, such
// as a name, a question or a callout, gets no verdict if it is not found.
func (d *checker) judgeLone(lone loneQuote) (citations []agent.Citation) {
	numbers := d.numbers()
	for _, q := range d.joined(lone.quotes, numbers) {
		if d.judged[q.text] || isTerm(q.text) || len(contentOf(q.text)) < 2 {
			continue
		}
		d.judged[q.text] = true
		c := agent.Citation{Words: q.text, Verdict: agent.NotFound}
		at, near := d.locate(numbers, q)
		switch {
		case at.passage != nil:
			c = d.verified(at, []found{at})
			c.Words = q.text
		case near, lone.callout, q.denied, isQuestion(q.text), d.isName(q.text), len(newQuotedWords(q.text).parts) == 0:
			continue
		}
		citations = append(citations, c)
	}
	return citations
}

// numbers returns the numbers of all sources.
func (d *checker) numbers() []int {
	numbers := make([]int, len(d.sources))
	for i := range numbers {
		numbers[i] = i + 1
	}
	return numbers
}

// joined merges the lines of a quote block into one quotation if a source
// contains them so.
func (d *checker) joined(quotes []quotation, numbers []int) (list []quotation) {
	for len(quotes) > 0 {
		n := 1
		for n < len(quotes) && quotes[n-1].line && quotes[n].line && quotes[n].Span.Start == quotes[n-1].Span.End+1 {
			n++
		}
		if n == 1 {
			list, quotes = append(list, quotes[0]), quotes[1:]
			continue
		}
		one := quotes[0]
		for _, q := range quotes[1:n] {
			one.text, one.Span.End = one.text+"\n"+q.text, q.Span.End
		}
		if at, _ := d.locate(numbers, one); at.passage != nil {
			list = append(list, one)
		} else {
			list = append(list, quotes[:n]...)
		}
		quotes = quotes[n:]
	}
	return list
}

// isName reports whether words are part of the title of a source, or are
// capitalized like a title.
func (d *checker) isName(words string) bool {
	for n := range d.sources {
		if indexOf(d.passage(n+1).title, text.Tokens(words), 0) >= 0 {
			return true
		}
	}
	if strings.ContainsAny(words[len(words)-1:], ".!;,") || strings.ToUpper(words) == words {
		return false
	}
	return !slices.ContainsFunc(contentOf(words), func(t text.Token) bool { return !t.Capital })
}

func isQuestion(text string) bool {
	return strings.HasSuffix(text, "?") || strings.HasSuffix(text, "？")
}

// lengthOf counts two for each word, and one for each character of a script
// without spaces.
func lengthOf(words string) (n int) {
	for _, t := range text.Tokens(words) {
		n++
		if !text.Unspaced(firstRune(t.Text)) {
			n++
		}
	}
	return n
}

// quotedWords is a quotation split at its ellipses.
type quotedWords struct {
	parts [][]word
	label []word // what stands in front of it in the answer
	head  []word // what is in front of its first colon, if parts are what is behind it
}

func newQuotedWords(quotation string) (q quotedWords) {
	for _, part := range cutAtGaps(quotation) {
		if words := wordsOf(unbroken(part)); len(words) > 0 {
			q.parts = append(q.parts, words)
		}
	}
	return q
}

// loose returns the quotation without its label and the numbers of list items;
// false if it has none.
func (q quotedWords) loose() (quotedWords, bool) {
	bound := q.label != nil
	q.label = nil
	q.parts = slices.Clone(q.parts)
	for i, part := range q.parts {
		q.parts[i] = slices.Clone(part)
		for j := range part {
			bound = bound || part[j].item != ""
			q.parts[i][j].item = ""
		}
	}
	return q, bound
}

// cutAtColon returns what is behind the first colon of a quotation, with what is
// in front of it as its head; no parts if it has no colon.
func cutAtColon(quotation string) (q quotedWords) {
	at := strings.IndexAny(quotation, ":：")
	if at < 0 {
		return q
	}
	_, size := utf8.DecodeRuneInString(quotation[at:])
	q = newQuotedWords(quotation[at+size:])
	q.head = wordsOf(quotation[:at])
	return q
}

// attribution matches what may name the source at the end of quoted lines: what is behind a dash, in parentheses, or a
// link.
var attribution = regexp.MustCompile(`(?s)^(.+?)\s+(?:(?:—|–|--|-\s)\s*([^—–]{1,100})|\(([^()]{1,100})\)|` +
	`(\[\[[^\[\]]{1,100}\]\]))\s*$`)

// cutAttribution returns quoted lines without what may name their source, and the words of that; none if there is
// nothing of the kind.
func cutAttribution(quotation string) (words string, name []text.Token) {
	m := attribution.FindStringSubmatch(quotation)
	if m == nil {
		return quotation, nil
	}
	source, _, _ := strings.Cut(m[2]+m[3]+m[4], "|") // the rest is how a link is shown
	return m[1], text.Tokens(source)
}

// QuoteParts splits a quotation at its ellipses.
func QuoteParts(quotation string) (parts [][]text.Token) {
	for _, part := range cutAtGaps(quotation) {
		if tokens := text.Tokens(part); len(tokens) > 0 {
			parts = append(parts, tokens)
		}
	}
	return parts
}

var gap = regexp.MustCompile(`\[…\]|\(…\)|\[\.\.\.\]|\(\.\.\.\)|\.\.\.|…`)

// cutAtGaps splits a quotation at each … or [...].
func cutAtGaps(quotation string) []string {
	return strings.Split(gap.ReplaceAllString(quotation, "…"), "…")
}

// indexOf returns the index of the sequence words in tokens, starting at from;
// -1 if there is none.
func indexOf(tokens, words []text.Token, from int) int {
	if len(words) == 0 {
		return -1
	}
	for i := from; i+len(words) <= len(tokens); i++ {
		if slices.EqualFunc(tokens[i:i+len(words)], words, func(a, b text.Token) bool { return a.Text == b.Text }) {
			return i
		}
	}
	return -1
}

// InOrder reports whether the parts occur in tokens one after the other.
func InOrder(tokens []text.Token, parts [][]text.Token) bool {
	from := 0
	for _, part := range parts {
		at := indexOf(tokens, part, from)
		if at < 0 {
			return false
		}
		from = at + len(part)
	}
	return true
}
