package citation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/internal/text"
)

// claim is what an answer says with one citation, or with several in a row.
type claim struct {
	numbers  []int       // the sources named
	text     string      // the words that rest on them
	quotes   []quotation // the words among or near them that are quoted
	sentence string      // the whole sentence, without its citations
	whole    bool        // the citation is the only one of the sentence
	near     []int       // the sources named, and those right before: In [1] is “…”, in [2] “…”
	at       int         // where the citation ends in the answer
}

// beforeStop takes off the blank that a citation leaves before a full stop.
var beforeStop = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?")

// maxClaim bounds the words that one citation stands for, in bytes.
const maxClaim = 2000

// readClaims finds the citations of an answer and what each stands for, and
// the quotations that none of them vouches for.
func readClaims(answer string) (claims []claim, lone []loneQuote) {
	sentences := text.Sentences(answer)
	markers := markersIn(answer)
	quotes := quotesOf(answer, markers, sentences)
	taken := map[int]bool{} // quotations, by where they begin
	for at, s := range sentences {
		inside := within(markers, s.Start, s.End)
		for i, m := range inside {
			from, to := s.Start, s.End
			if i > 0 {
				from = inside[i-1].Span.End
			}
			if i+1 < len(inside) {
				to = inside[i+1].Span.Start
			}
			c := claim{numbers: m.numbers, text: claimText(answer, markers, sentences[:at+1], m, from, to), whole: len(inside) == 1, near: m.numbers, at: m.Span.End}
			if i > 0 {
				c.near = appendNew(slices.Clone(m.numbers), inside[i-1].numbers)
			}
			c.sentence = beforeStop.Replace(without(answer, markers, s.Start, min(s.End, s.Start+maxClaim)))
			c.quotes = quotesFor(answer, quotes, markers, sentences, at, m)
			for _, q := range c.quotes {
				taken[q.Span.Start] = true
			}
			claims = append(claims, c)
		}
	}
	return claims, loneQuotes(answer, quotes, taken)
}

// claimText is what stands before the marker in its sentence; where that is
// hardly anything, what follows it; else the whole sentence, or the one before.
func claimText(answer string, markers []marker, upTo []text.Sentence, m marker, from, to int) string {
	s := upTo[len(upTo)-1]
	before := without(answer, markers, max(from, m.Span.Start-maxClaim), m.Span.Start)
	if len(contentOf(before)) >= 2 {
		return before
	}
	if after := without(answer, markers, m.Span.End, min(to, m.Span.End+maxClaim)); len(contentOf(after)) >= 2 {
		return after
	}
	whole := without(answer, markers, max(s.Start, m.Span.Start-maxClaim), min(s.End, m.Span.End+maxClaim))
	if len(contentOf(whole)) > 0 || len(upTo) < 2 {
		return whole
	}
	previous := upTo[len(upTo)-2]
	return without(answer, markers, previous.Start, min(previous.End, previous.Start+maxClaim))
}

// without is the text between two places without the markers in it.
func without(answer string, markers []marker, from, to int) string {
	for from < to && !utf8.RuneStart(answer[from]) {
		from++
	}
	for to < len(answer) && to > from && !utf8.RuneStart(answer[to]) {
		to--
	}
	var b strings.Builder
	for _, m := range within(markers, from, to) {
		b.WriteString(answer[from:m.Span.Start])
		from = m.Span.End
	}
	b.WriteString(answer[from:max(from, to)])
	return strings.TrimSpace(b.String())
}

// within is the part of the markers that is between two places.
func within(markers []marker, from, to int) []marker {
	first, _ := slices.BinarySearchFunc(markers, from, func(m marker, at int) int { return m.Span.Start - at })
	last := first
	for last < len(markers) && markers[last].Span.End <= to {
		last++
	}
	return markers[first:last]
}

// quotation is quoted words of an answer, without signs and markers.
type quotation struct {
	Span   text.Span
	text   string
	before string // what its sentence says before it
	after  string
	line   bool // of a quote block, and the next one may continue it
	inside bool // the citation itself
}

// quotesOf finds the quotations of an answer, in order: words in quotation
// marks outside code, and the lines of quote blocks.
func quotesOf(answer string, markers []marker, sentences []text.Sentence) (quotes []quotation) {
	hidden := codeIn(answer)
	add := func(q quotation) {
		if q.text = quoteText(without(answer, markers, q.Span.Start, q.Span.End)); q.text != "" {
			quotes = append(quotes, q)
		}
	}
	for _, b := range text.Blocks(answer) {
		switch b.Kind {
		case text.Prose:
			for _, q := range text.Quotations(answer, b) {
				if covers(hidden, q.Start) {
					continue
				}
				for len(sentences) > 1 && sentences[0].End <= q.Start {
					sentences = sentences[1:]
				}
				s := sentences[0]
				add(quotation{Span: q, inside: slices.ContainsFunc(markers, func(m marker) bool { return m.Span.Start < q.Start && q.End < m.Span.End }), before: without(answer, markers, max(s.Start, q.Start-maxClaim), q.Start), after: without(answer, markers, q.End, min(s.End, q.End+maxClaim))})
			}
		case text.Quoted:
			for start := b.Start; start < b.End; {
				end := b.End
				if i := strings.IndexByte(answer[start:b.End], '\n'); i >= 0 {
					end = start + i
				}
				add(quotation{Span: text.Span{Start: start, End: end}, line: true})
				start = end + 1
			}
		}
	}
	return quotes
}

// quotesFor is the quotations that a marker vouches for: each quotation
// belongs to the first marker after its beginning, or to the last one, within
// its sentence, or within its block of quoted lines. A block of quoted lines
// without a marker belongs to the sentence next to it that names its source.
func quotesFor(answer string, quotes []quotation, markers []marker, sentences []text.Sentence, at int, m marker) (vouched []quotation) {
	s := sentences[at]
	scope := text.Span{Start: s.Start, End: s.End}
	if s.Kind == text.Quoted {
		scope = s.Block
	}
	inside := within(markers, scope.Start, scope.End)
	i, _ := slices.BinarySearchFunc(inside, m.Span.Start, func(m marker, at int) int { return m.Span.Start - at })
	from, to := scope.Start, m.Span.End-1 // [1: "words"] holds them itself
	if i > 0 {
		from = inside[i-1].Span.End
	}
	if i == len(inside)-1 {
		to = scope.End
	}
	take := func(from, to int) {
		first, _ := slices.BinarySearchFunc(quotes, from, func(q quotation, at int) int { return q.Span.Start - at })
		for ; first < len(quotes) && quotes[first].Span.Start <= to; first++ {
			vouched = append(vouched, quotes[first])
		}
	}
	take(from, to)
	if near, ok := quoteBlockBeside(answer, markers, sentences, at); ok && s.Kind == text.Prose {
		take(near.Start, near.End)
	}
	return vouched
}

// quoteBlockBeside finds the block of quoted lines that a sentence introduces
// ("… [1]:"), or names the source of ("— [1]").
func quoteBlockBeside(answer string, markers []marker, sentences []text.Sentence, at int) (text.Span, bool) {
	s := sentences[at]
	next := -1
	if s.End == s.Block.End && at+1 < len(sentences) && sentences[at+1].Kind == text.Quoted && strings.HasSuffix(strings.TrimRight(answer[:s.End], "*_ "), ":") {
		next = at + 1
	}
	if s.Start == s.Block.Start && at > 0 && sentences[at-1].Kind == text.Quoted && len(contentOf(answer[s.Start:s.End])) < 6 {
		next = at - 1
	}
	if next < 0 {
		return text.Span{}, false
	}
	near := sentences[next].Block
	return near, len(within(markers, near.Start, near.End)) == 0
}

// quoteText is a quotation without its signs; "" for a line that only says
// where it comes from.
func quoteText(q string) string {
	q = strings.TrimLeft(q, "> \t")
	if strings.HasPrefix(q, "—") || strings.HasPrefix(q, "– ") || strings.HasPrefix(q, "-- ") {
		return ""
	}
	return strings.Trim(q, "“”„«»‹›‘’‚'「」『』\" \t\r\n")
}
