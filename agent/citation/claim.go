package citation

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"lifehub/internal/text"
)

// claim is what an answer states with one citation, or with several in a row.
type claim struct {
	numbers  []int       // source numbers
	text     string      // text that the citation supports
	quotes   []quotation // quotations in or near that text
	sentence string      // sentence without its citations
	whole    bool        // whether the sentence has no other citation
	near     []int       // numbers, and those right before: In [1] is “…”, in [2] “…”
	at       int         // offset of the end of the citation in the answer
}

// beforeStop removes the space that a removed citation leaves before
// punctuation.
var beforeStop = strings.NewReplacer(" .", ".", " ,", ",", " ;", ";", " :", ":", " !", "!", " ?", "?")

// maxClaim bounds the text that one citation supports, in bytes.
const maxClaim = 2000

// readClaims returns the claims of an answer, and the quotations that belong to
// none of them.
func readClaims(answer string, isSource func(n int) bool) (claims []claim, lone []loneQuote) {
	sentences := text.Sentences(answer)
	markers := markersIn(answer, isSource)
	quotes := quotesOf(answer, markers, sentences)
	taken := map[int]bool{} // quotations that belong to a claim, by start
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
			c := claim{
				numbers: m.numbers, near: m.numbers, at: m.Span.End,
				text:  claimText(answer, markers, sentences[:at+1], m, from, to),
				whole: len(inside) == 1,
			}
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

// claimText returns the text before the marker in its sentence; if that has
// hardly any words, the text after it; otherwise the whole sentence, or the one
// before.
func claimText(answer string, markers []marker, upTo []text.Sentence, m marker, from, to int) string {
	s := upTo[len(upTo)-1]
	before := without(answer, markers, max(from, m.Span.Start-maxClaim), m.Span.Start)
	if len(contentOf(before)) >= 2 {
		return before
	}
	if after := without(answer, markers, m.Span.End, min(to, m.Span.End+maxClaim)); len(contentOf(after)) >= 2 {
		return after
	}
	claim := without(answer, markers, max(s.Start, m.Span.Start-maxClaim), min(s.End, m.Span.End+maxClaim))
	if len(contentOf(claim)) > 0 || len(upTo) < 2 {
		return claim
	}
	previous := upTo[len(upTo)-2]
	return without(answer, markers, previous.Start, min(previous.End, previous.Start+maxClaim))
}

// without returns answer[from:to] without its markers.
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

// within returns the markers between two offsets.
func within(markers []marker, from, to int) []marker {
	first, _ := slices.BinarySearchFunc(markers, from, func(m marker, at int) int { return m.Span.Start - at })
	last := first
	for last < len(markers) && markers[last].Span.End <= to {
		last++
	}
	return markers[first:last]
}

// quotation is a quotation in an answer; text is without quotation marks and
// citations.
type quotation struct {
	Span   text.Span
	text   string
	label  string // in front of it on its line: the words before a colon or a dash, or the first cell of a row
	denied bool   // a negation is in its sentence, outside of it
	line   bool   // a line of a quote block, which the next one may continue
}

// quotesOf returns the first quotations of an answer, in order: text in
// quotation marks outside code, and the lines of quote blocks.
func quotesOf(answer string, markers []marker, sentences []text.Sentence) (quotes []quotation) {
	hidden := codeIn(answer)
	add := func(q quotation) {
		if q.text = quoteText(without(answer, markers, q.Span.Start, q.Span.End)); q.text != "" &&
			len(quotes) < maxJudged {
			quotes = append(quotes, q)
		}
	}
	for _, b := range text.Parts(answer) {
		switch {
		case b.Kind.Prose():
			for _, q := range text.Quotations(answer, b) {
				if covers(hidden, q.Start) || len(quotes) == maxJudged {
					continue
				}
				for len(sentences) > 1 && sentences[0].End <= q.Start {
					sentences = sentences[1:]
				}
				s := sentences[0]
				before := answer[max(s.Start, q.Start-maxClaim):q.Start]
				after := answer[q.End:max(q.End, min(s.End, q.End+maxClaim))]
				add(quotation{
					Span: q, label: labelOf(answer[b.Start:q.Start]),
					denied: negates(before) || negates(after),
				})
			}
		case b.Kind == text.QuoteBlock:
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

var (
	frontLabel = regexp.MustCompile(`([^:：|.!?。；;]{1,60})(?:[:：]|\s[–—-])[\s*_]*$`)
	firstCell  = regexp.MustCompile(`^\s*\|([^|]{1,60})\|`)
)

// labelOf returns the label at the end of a text, or of the row that it begins.
func labelOf(before string) string {
	const longest = 200 // bytes
	line := before[strings.LastIndexByte(before, '\n')+1:]
	if m := firstCell.FindStringSubmatch(line[:min(len(line), longest)]); m != nil {
		return m[1]
	}
	end := line[max(0, len(line)-longest):]
	if m := frontLabel.FindStringSubmatch(strings.ToValidUTF8(end, "")); m != nil {
		return m[1]
	}
	return ""
}

func negates(words string) bool {
	return slices.ContainsFunc(text.Tokens(words), func(t text.Token) bool { return text.Is(t.Text, text.Negation) })
}

// quotesFor returns the quotations that belong to a marker. A quotation belongs
// to the first marker after its start, or else to the last one, in its sentence
// or in its quote block. A quote block without a marker belongs to the adjacent
// sentence that names its source.
func quotesFor(answer string, quotes []quotation, markers []marker, sentences []text.Sentence, at int,
	m marker,
) (vouched []quotation) {
	s := sentences[at]
	scope := text.Span{Start: s.Start, End: s.End}
	if s.Kind == text.QuoteBlock {
		scope = s.Block
	}
	inside := within(markers, scope.Start, scope.End)
	i, _ := slices.BinarySearchFunc(inside, m.Span.Start, func(m marker, at int) int { return m.Span.Start - at })
	from, to := scope.Start, m.Span.Start
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
	if near, ok := quoteBlockBeside(answer, markers, sentences, at); ok && s.Kind.Prose() {
		take(near.Start, near.End)
	}
	return vouched
}

// quoteBlockBeside finds the quote block that a sentence introduces ("… [1]:")
// or attributes ("— [1]"). It reports false if there is none, or if the block
// has markers of its own.
func quoteBlockBeside(answer string, markers []marker, sentences []text.Sentence, at int) (text.Span, bool) {
	s := sentences[at]
	isQuoted := func(i int) bool { return 0 <= i && i < len(sentences) && sentences[i].Kind == text.QuoteBlock }
	next := -1
	introduces := s.End == s.Block.End && strings.HasSuffix(strings.TrimRight(answer[:s.End], "*_ "), ":")
	if introduces && isQuoted(at+1) {
		next = at + 1
	}
	attributes := s.Start == s.Block.Start && len(contentOf(answer[s.Start:s.End])) < 6
	if attributes && isQuoted(at-1) {
		next = at - 1
	}
	if next < 0 {
		return text.Span{}, false
	}
	near := sentences[next].Block
	return near, len(within(markers, near.Start, near.End)) == 0
}

// quoteText returns a quotation without its quotation marks; "" for a line that
// only attributes it.
func quoteText(q string) string {
	q = strings.TrimLeft(q, "> \t")
	if strings.HasPrefix(q, "—") || strings.HasPrefix(q, "– ") || strings.HasPrefix(q, "-- ") {
		return ""
	}
	return strings.Trim(q, "“”„«»‹›‘’‚'「」『』\" \t\r\n")
}
