package citation

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

// minLone is how long a quotation without a number has to be to be judged:
// four words, or eight characters of a script without spaces, which count one
// each. What is shorter is mostly a name or a word for a thing.
const minLone = 8

// loneQuote is a quotation, or the quoted lines of one block, that no number
// of the answer vouches for.
type loneQuote struct {
	texts   []string
	callout bool // a block that speaks for the answer: "> **Tip:** …"
}

var calloutLine = pattern.Lazy(`^[>\s]*(?:\[!|\*\*[^*\n]{1,40}(?::\*\*|\*\*:))`)

// loneQuotes is the quotations that none of the claims took.
func loneQuotes(answer string, quotes []quotation, taken map[int]bool) (list []loneQuote) {
	for _, b := range text.Blocks(answer) {
		var texts []string
		for len(quotes) > 0 && quotes[0].Start < b.End {
			if !taken[quotes[0].Start] {
				texts = append(texts, quotes[0].text)
			}
			quotes = quotes[1:]
		}
		switch {
		case len(texts) == 0:
		case b.Kind == text.Quoted:
			list = append(list, loneQuote{texts, calloutLine.MatchString(answer[b.Start:b.End])})
		default:
			for _, text := range texts {
				list = append(list, loneQuote{texts: []string{text}})
			}
		}
	}
	return list
}

// judgeLone is the verdict on a quotation without a number: where its words
// stand in any source, or that they stand in none. Quoted lines that stand
// there as a whole are told once. Words that claim nothing about the notes are
// not told of where they stand in none: a name, a question, a callout.
func (d *checker) judgeLone(lone loneQuote) (citations []agent.Citation) {
	if len(lone.texts) > 1 {
		if c := d.find(strings.Join(lone.texts, "\n")); c.Verdict == agent.Verified || c.Verdict == agent.Stale {
			return []agent.Citation{c}
		}
	}
	for _, text := range lone.texts {
		if lengthOf(text) < minLone || len(contentOf(text)) < 2 {
			continue
		}
		if c := d.find(text); c.Verdict != agent.NotFound || !lone.callout && !isQuestion(text) && !d.isName(text) {
			citations = append(citations, c)
		}
	}
	return citations
}

// find looks for quoted words in all sources.
func (d *checker) find(text string) agent.Citation {
	best := agent.Citation{Words: text, Verdict: agent.NotFound}
	q := newQuotedWords(text)
	if len(q.parts) == 0 {
		return best
	}
	worth := []agent.Verdict{agent.NotFound, agent.Stale, agent.Verified}
	for n := 1; n <= len(d.sources) && best.Verdict != agent.Verified; n++ {
		p := d.passage(n)
		at, verdict, why := p.quote(q)
		if verdict == agent.NotFound {
			continue
		}
		if c := d.placeQuote(p, n, at, q, agent.Citation{Verdict: verdict, Detail: why}); slices.Index(worth, c.Verdict) > slices.Index(worth, best.Verdict) {
			best = c
			best.Words = text
		}
	}
	return best
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
		if !text.Unspaced(FirstRune(t.Text)) {
			n++
		}
	}
	return n
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
