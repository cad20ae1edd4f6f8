package citation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/text"
)

// passage is a text made ready for comparing: a source, or its note on disk.
type passage struct {
	source    agent.Source
	text      string
	words     []word
	sentences []text.Sentence
	within    []int          // the sentence of each word
	ranges    [][2]int       // the words of each sentence
	common    map[string]int // how often each word stands in it, by stem
	title     []text.Token   // of heading and path
	shift     int            // lines of text before the source's first line
	layout    *layout        // nil until its structure is asked for
}

// place is a run of words of a passage; the zero value is none.
type place struct{ first, last int }

func (p place) none() bool { return p.first >= p.last }

func openPassage(source agent.Source) *passage {
	p := &passage{source: source, text: unbroken(strings.TrimRight(source.Text, "\n"))}
	p.words = wordsOf(p.text)
	p.sentences = text.Sentences(p.text)
	if len(p.sentences) == 0 && len(p.words) > 0 { // such as the first line of a code block, and no more
		start := p.words[0].Start
		p.sentences = []text.Sentence{{Start: start, End: len(p.text), Line: strings.Count(p.text[:start], "\n"), EndLine: strings.Count(p.text, "\n")}}
	}
	p.title = text.Tokens(source.Heading + " / " + strings.NewReplacer("/", " / ", ".md", " ", "-", " ").Replace(source.Path))
	p.common = make(map[string]int, len(p.words))
	for _, w := range p.words {
		p.common[stem(w.Token)]++
	}
	p.within = make([]int, len(p.words))
	p.ranges = make([][2]int, len(p.sentences))
	at := 0
	for i, s := range p.sentences {
		for at < len(p.words) && p.words[at].Start < s.Start { // a mark between sentences
			p.within[at] = i
			at++
		}
		first := at
		for at < len(p.words) && p.words[at].Start < s.End {
			p.within[at] = i
			at++
		}
		p.ranges[i] = [2]int{first, at}
	}
	for ; at < len(p.words); at++ {
		p.within[at] = max(0, len(p.sentences)-1)
	}
	if extra := strings.Count(p.text, "\n") - (source.EndLine - source.Line); source.EndLine >= source.Line && extra > 0 {
		p.shift = extra // a heading path was put before the lines
	}
	return p
}

// lines are the lines in the note and the text of the sentences at a place;
// of no place, the source's first line.
func (p *passage) lines(at place) (line, endLine int, quote string) {
	if at.none() || len(p.sentences) == 0 {
		return p.source.Line, p.source.Line, ""
	}
	from, to := p.sentences[p.within[at.first]], p.sentences[p.within[at.last-1]]
	inNote := func(line int) int { return p.source.Line + max(0, line-p.shift) }
	const longest = 2000
	quote = p.text[from.Start:to.End]
	if len(quote) > longest {
		cut := longest
		for !utf8.RuneStart(quote[cut]) {
			cut--
		}
		quote = quote[:cut] + "…"
	}
	return inNote(from.Line), inNote(to.EndLine), quote
}

// find is where the words stand one after the other, from a word on.
func (p *passage) find(said []word, from int) (place, bool) {
	if len(said) == 0 {
		return place{}, false
	}
	for i := from; i+len(said) <= len(p.words); i++ {
		if slices.EqualFunc(p.words[i:i+len(said)], said, func(a, b word) bool { return a.Text == b.Text }) {
			return place{i, i + len(said)}, true
		}
	}
	return place{}, false
}

// begins reports whether a word is the first of its sentence.
func (p *passage) begins(i int) bool { return p.ranges[p.within[i]][0] == i }

// quote finds a quotation: its parts in order, within one sentence, or cut
// where sentences end, each written as it is there. Where only signs or case
// differ, why says how.
func (p *passage) quote(q quotedWords) (at place, verdict agent.Verdict, why string) {
	verdict = agent.NotFound
	for from := 0; ; {
		first, ok := p.find(q.parts[0], from)
		if !ok {
			return at, verdict, why
		}
		from = first.first + 1
		whole, ok := p.goOn(first, q.parts[1:])
		if !ok {
			continue
		}
		switch difference := p.difference(whole, q.parts); {
		case difference == "":
			return whole, agent.Verified, ""
		case why == "":
			why = difference
		}
	}
}

// goOn is the place that a quotation takes when its other parts follow.
func (p *passage) goOn(at place, parts [][]word) (place, bool) {
	for _, part := range parts {
		next, ok := p.find(part, at.last)
		if !ok {
			return place{}, false
		}
		before, after := p.within[at.last-1], p.within[next.first]
		clean := p.ranges[before][1] == at.last && p.ranges[after][0] == next.first
		if before != after && (!clean || after > before+2) {
			return place{}, false
		}
		at.last = next.last
	}
	return at, true
}

// difference says in which signs or letter case a quotation differs from the
// place that has its words; "": in none.
func (p *passage) difference(at place, parts [][]word) string {
	for from, i := at.first, 0; i < len(parts); i++ {
		part := parts[i]
		here, _ := p.find(part, from)
		from = here.last
		n := exact(p.words[here.first:here.last], part, func(i int) bool { return p.begins(here.first + i) })
		if n < 0 {
			continue
		}
		around := max(0, n-1)
		last := n
		return "“" + written(part[around:last+1]) + "”, the note says “" + written(p.words[here.first+around:here.first+last+1]) + "”"
	}
	return ""
}

// written is words as they are written, with their signs.
func written(words []word) string {
	var b strings.Builder
	for i, w := range words {
		if i == 0 {
			b.WriteString(w.lead)
		} else if w.signs != "" || !text.Unspaced(FirstRune(w.Text)) {
			b.WriteString(strings.TrimSuffix(" "+strings.TrimSuffix(w.signs, w.lead), " ") + " " + w.lead)
		}
		b.WriteString(w.raw)
	}
	return b.String() + words[len(words)-1].trail
}

// closest is the sentence that shares most with a claim, rare words counting
// more than those that stand all over the passage.
func (p *passage) closest(c claim) place {
	wanted := map[string]bool{}
	for _, text := range append([]string{c.text}, c.quotes...) {
		for _, tok := range contentOf(text) {
			wanted[stem(tok)] = true
		}
	}
	best, top := place{}, 0.0
	for i := range p.sentences {
		score, seen := 0.0, map[string]bool{}
		for _, w := range p.words[p.ranges[i][0]:p.ranges[i][1]] {
			if word := stem(w.Token); wanted[word] && !seen[word] && !w.Stop {
				seen[word] = true
				score += 1 / float64(p.common[word])
			}
		}
		if score > top {
			best, top = place{p.ranges[i][0], p.ranges[i][1]}, score
		}
	}
	return best
}

// contentOf is the tokens of a text that carry meaning.
func contentOf(s string) []text.Token {
	return slices.DeleteFunc(text.Tokens(s), func(t text.Token) bool { return t.Stop })
}

// stem takes the plural s off, so that "shoe" and "shoes" meet.
func stem(t text.Token) string {
	if len(t.Text) > 3 && strings.HasSuffix(t.Text, "s") && !strings.HasSuffix(t.Text, "ss") {
		return t.Text[:len(t.Text)-1]
	}
	return t.Text
}

func FirstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
