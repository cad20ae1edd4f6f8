package citation

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// maxTerm is how long a name or a word for a thing is at most: three words, or
// seven characters of a script without spaces, which count one each. Longer words
// in quotation marks are a quotation.
const maxTerm = 7

// loneQuote is a quotation, or the quoted lines of one block, that no number
// of the answer vouches for.
type loneQuote struct {
	quotes  []quotation
	callout bool // a block that speaks for the answer: "> **Tip:** …"
}

var calloutLine = pattern.Lazy(`^[>\s]*(?:\[!|\*\*[^*\n]{1,40}(?::\*\*|\*\*:))`)

// loneQuotes is the quotations that none of the claims took.
func loneQuotes(answer string, quotes []quotation, taken map[int]bool) (list []loneQuote) {
	for _, b := range text.Blocks(answer) {
		var own []quotation
		for len(quotes) > 0 && quotes[0].Span.Start < b.End {
			if !taken[quotes[0].Span.Start] {
				own = append(own, quotes[0])
			}
			quotes = quotes[1:]
		}
		switch {
		case len(own) == 0:
		case b.Kind == text.Quoted:
			list = append(list, loneQuote{own, calloutLine.MatchString(answer[b.Start:b.End])})
		default:
			for _, q := range own {
				list = append(list, loneQuote{quotes: []quotation{q}})
			}
		}
	}
	return list
}

// judgeLone is the verdict on a quotation without a number: where its words
// stand in any source, or that they stand in none. Words that claim nothing
// about the notes are not told of where they stand in none: a name, a question,
// a callout.
func (d *checker) judgeLone(lone loneQuote) (citations []agent.Citation) {
	numbers := make([]int, len(d.sources))
	for i := range numbers {
		numbers[i] = i + 1
	}
	for _, q := range d.joined(lone.quotes, numbers) {
		if d.told[q.text] || lengthOf(q.text) <= maxTerm || len(contentOf(q.text)) < 2 {
			continue
		}
		d.told[q.text] = true
		c := agent.Citation{Words: q.text, Verdict: agent.NotFound}
		at, near := d.locate(numbers, q)
		switch {
		case at.passage != nil:
			c = d.verified(at, []found{at})
			c.Words = q.text
		case near, lone.callout, q.denied() != "", isQuestion(q.text), d.isName(q.text), len(newQuotedWords(q.text).parts) == 0:
			continue
		}
		citations = append(citations, c)
	}
	return citations
}

// joined puts the lines of a quote block together where they stand so in one of
// the sources.
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

// isName tells words that name something: those of the title of a source, or
// such as a title is written in.
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

// lengthOf counts two for a word and one for a character of a script without spaces.
func lengthOf(words string) (n int) {
	for _, t := range text.Tokens(words) {
		n++
		if !text.Unspaced(firstRune(t.Text)) {
			n++
		}
	}
	return n
}

// quotedWords is a quotation, cut where it leaves something out.
type quotedWords struct {
	parts [][]word
}

func newQuotedWords(quotation string) (q quotedWords) {
	for _, part := range cutAtGaps(quotation) {
		if words := wordsOf(unbroken(part)); len(words) > 0 {
			q.parts = append(q.parts, words)
		}
	}
	return q
}

// QuoteParts cuts a quotation where it leaves something out.
func QuoteParts(quotation string) (parts [][]text.Token) {
	for _, part := range cutAtGaps(quotation) {
		if tokens := text.Tokens(part); len(tokens) > 0 {
			parts = append(parts, tokens)
		}
	}
	return parts
}

var gap = pattern.Lazy(`\[…\]|\(…\)|\[\.\.\.\]|\(\.\.\.\)|\.\.\.|…`)

// cutAtGaps parts a quotation at each … or [...].
func cutAtGaps(quotation string) []string {
	return strings.Split(gap.ReplaceAllString(quotation, "…"), "…")
}

// indexOf is where words stand in a row among tokens, from one on; -1: nowhere.
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

// InOrder reports whether the parts stand in a text one after the other.
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
