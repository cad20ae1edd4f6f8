package agent

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// claim is what an answer says with one citation, or with several in a row.
type claim struct {
	numbers []int    // the sources named
	text    string   // the words that rest on them
	quotes  []string // the words among or near them that are quoted
}

// maxClaim bounds the words that one citation stands for, in bytes.
const maxClaim = 2000

// readClaims finds the citations of an answer and what each stands for, and
// the quotations that none of them vouches for.
func readClaims(answer string) (claims []claim, lone []loneQuote) {
	sentences := sentencesOf(answer)
	markers := markersIn(answer)
	quotes := quotesOf(answer, markers)
	taken := map[int]bool{} // quotations, by where they begin
	for at, s := range sentences {
		inside := within(markers, s.start, s.end)
		for i, m := range inside {
			from, to := s.start, s.end
			if i > 0 {
				from = inside[i-1].end
			}
			if i+1 < len(inside) {
				to = inside[i+1].start
			}
			c := claim{numbers: m.numbers, text: claimText(answer, markers, sentences[:at+1], m, from, to)}
			for _, q := range quotesFor(answer, quotes, markers, sentences, at, m) {
				c.quotes = append(c.quotes, q.text)
				taken[q.start] = true
			}
			claims = append(claims, c)
		}
	}
	return claims, loneQuotes(answer, quotes, taken)
}

// claimText is what stands before the marker in its sentence; where that is
// hardly anything, what follows it; else the whole sentence, or the one before.
func claimText(answer string, markers []marker, upTo []sentence, m marker, from, to int) string {
	s := upTo[len(upTo)-1]
	before := without(answer, markers, max(from, m.start-maxClaim), m.start)
	if len(content(before)) >= 2 {
		return before
	}
	if after := without(answer, markers, m.end, min(to, m.end+maxClaim)); len(content(after)) >= 2 {
		return after
	}
	whole := without(answer, markers, max(s.start, m.start-maxClaim), min(s.end, m.end+maxClaim))
	if len(content(whole)) > 0 || len(upTo) < 2 {
		return whole
	}
	previous := upTo[len(upTo)-2]
	return without(answer, markers, previous.start, min(previous.end, previous.start+maxClaim))
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
		b.WriteString(answer[from:m.start])
		from = m.end
	}
	b.WriteString(answer[from:max(from, to)])
	return strings.TrimSpace(b.String())
}

// within is the part of the markers that lies between two places.
func within(markers []marker, from, to int) []marker {
	first, _ := slices.BinarySearchFunc(markers, from, func(m marker, at int) int { return m.start - at })
	last := first
	for last < len(markers) && markers[last].end <= to {
		last++
	}
	return markers[first:last]
}

// quotation is quoted words of an answer, without signs and markers.
type quotation struct {
	span
	text string
}

// quotesOf finds the quotations of an answer, in order: words in quotation
// marks outside code, and the lines of quote blocks.
func quotesOf(answer string, markers []marker) (quotes []quotation) {
	hidden := codeIn(answer)
	add := func(q span) {
		if text := quoteText(without(answer, markers, q.start, q.end)); text != "" {
			quotes = append(quotes, quotation{q, text})
		}
	}
	for _, b := range blocksOf(answer) {
		switch b.kind {
		case prose:
			for _, q := range quotesIn(answer, b) {
				if !covers(hidden, q.start) {
					add(q)
				}
			}
		case quoted:
			for start := b.start; start < b.end; {
				end := b.end
				if i := strings.IndexByte(answer[start:b.end], '\n'); i >= 0 {
					end = start + i
				}
				add(span{start, end})
				start = end + 1
			}
		}
	}
	return quotes
}

// quotesFor is the quotations that a marker vouches for: each quotation
// belongs to the first marker after its beginning, or to the last one, within
// its sentence, or within its block of quoted lines. A block of quoted lines
// without a marker belongs to the sentence beside it that names its source.
func quotesFor(answer string, quotes []quotation, markers []marker, sentences []sentence, at int, m marker) (vouched []quotation) {
	s := sentences[at]
	scope := span{s.start, s.end}
	if s.kind == quoted {
		scope = s.block
	}
	inside := within(markers, scope.start, scope.end)
	i, _ := slices.BinarySearchFunc(inside, m.start, func(m marker, at int) int { return m.start - at })
	from, to := scope.start, m.start
	if i > 0 {
		from = inside[i-1].start + 1
	}
	if i == len(inside)-1 {
		to = scope.end
	}
	take := func(from, to int) {
		first, _ := slices.BinarySearchFunc(quotes, from, func(q quotation, at int) int { return q.start - at })
		for ; first < len(quotes) && quotes[first].start <= to; first++ {
			vouched = append(vouched, quotes[first])
		}
	}
	take(from, to)
	if near, ok := quoteBlockBeside(answer, markers, sentences, at); ok && s.kind == prose {
		take(near.start, near.end)
	}
	return vouched
}

// quoteBlockBeside finds the block of quoted lines that a sentence introduces
// ("… [1]:"), or names the source of ("— [1]").
func quoteBlockBeside(answer string, markers []marker, sentences []sentence, at int) (span, bool) {
	s := sentences[at]
	beside := -1
	if s.end == s.block.end && at+1 < len(sentences) && sentences[at+1].kind == quoted && strings.HasSuffix(strings.TrimRight(answer[:s.end], "*_ "), ":") {
		beside = at + 1
	}
	if s.start == s.block.start && at > 0 && sentences[at-1].kind == quoted && len(content(answer[s.start:s.end])) < 6 {
		beside = at - 1
	}
	if beside < 0 {
		return span{}, false
	}
	near := sentences[beside].block
	return near, len(within(markers, near.start, near.end)) == 0
}

// quoteText is a quotation without its signs; "" for a line that only says
// where it comes from.
func quoteText(q string) string {
	q = strings.TrimLeft(q, "> \t")
	if strings.HasPrefix(q, "—") || strings.HasPrefix(q, "– ") || strings.HasPrefix(q, "-- ") {
		return ""
	}
	return strings.Trim(q, "“”„«»‹›「」『』\" \t\r\n")
}
