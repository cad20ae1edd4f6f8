package agent

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
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

// marker is a citation as it stands in the answer, several in a row as one.
type marker struct {
	span
	numbers []int
}

var (
	// markerText is [1], [1, 2], [1-3] or the 【1】 of some models.
	markerText = regexp.MustCompile(`\[(\d{1,5}(?:\s*[,;–-]\s*\d{1,5})*)\]|【(\d{1,5})[^】\n]{0,40}】`)
	inlineCode = regexp.MustCompile("``[^\n]+?``|`[^`\n]+`")
	between    = regexp.MustCompile(`^[\s,;]*(?:and|und|&)?[\s]*$`)
)

// readClaims finds the citations of an answer and what each stands for.
func readClaims(answer string) []claim {
	sentences := sentencesOf(answer)
	markers := markersIn(answer)
	quotes := quotesOf(answer, markers)
	var claims []claim
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
			claims = append(claims, claim{
				numbers: m.numbers,
				text:    claimText(answer, markers, sentences[:at+1], m, from, to),
				quotes:  quotesFor(answer, quotes, markers, sentences, at, m),
			})
		}
	}
	return claims
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

// markersIn finds the citations outside code and links. Those that stand in a
// row are one.
func markersIn(answer string) (markers []marker) {
	hidden := codeIn(answer)
	rejected := -1 // end of the last bracket that was none
	for _, at := range markerText.FindAllStringSubmatchIndex(answer, -1) {
		start, end := at[0], at[1]
		list := answer[max(at[2], at[4]):max(at[3], at[5])] // one of the two forms matched
		if start == rejected || covers(hidden, start) || isLink(answer, start, end) || isIndex(answer, start, end) {
			rejected = end
			continue
		}
		numbers := numbersIn(list)
		if len(numbers) == 0 {
			continue
		}
		if last := len(markers) - 1; last >= 0 && between.MatchString(answer[markers[last].end:start]) && !strings.Contains(answer[markers[last].end:start], "\n") {
			markers[last].end = end
			markers[last].numbers = appendNew(markers[last].numbers, numbers)
			continue
		}
		markers = append(markers, marker{span{start, end}, numbers})
	}
	return markers
}

func appendNew(list, more []int) []int {
	for _, n := range more {
		if !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	return list
}

// maxRange bounds what [1-99] stands for.
const maxRange = 50

// numbersIn reads "1, 3" and "1-3". Years are no sources.
func numbersIn(list string) (numbers []int) {
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ';' }) {
		low, high, isRange := strings.Cut(strings.ReplaceAll(item, "–", "-"), "-")
		from, err := strconv.Atoi(strings.TrimSpace(low))
		if err != nil || from >= 1900 && from < 2100 {
			continue
		}
		to := from
		if isRange {
			if n, err := strconv.Atoi(strings.TrimSpace(high)); err == nil {
				to = n
			}
		}
		for n := from; n <= to && n-from < maxRange; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// codeIn lists the code blocks and code spans of a text.
func codeIn(text string) (spans []span) {
	for _, b := range blocksOf(text) {
		if b.kind == code {
			spans = append(spans, span{b.start, b.end})
			continue
		}
		for _, at := range inlineCode.FindAllStringIndex(text[b.start:b.end], -1) {
			spans = append(spans, span{b.start + at[0], b.start + at[1]})
		}
	}
	return spans
}

func covers(spans []span, at int) bool {
	i, _ := slices.BinarySearchFunc(spans, at, func(s span, at int) int {
		if s.end <= at {
			return -1
		}
		return 1
	})
	return i < len(spans) && spans[i].start <= at
}

// isLink tells a bracket that is the text of a link or names one.
func isLink(text string, start, end int) bool {
	rest := text[end:]
	if strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, "](") {
		return true
	}
	lineStart := strings.LastIndexByte(text[:start], '\n') + 1
	return strings.HasPrefix(rest, ":") && strings.TrimSpace(text[lineStart:start]) == "" && strings.Contains(rest[:min(len(rest), 20)], "://")
}

var (
	wordBefore  = regexp.MustCompile(`[\pL\pN_.$]+$`)
	indexNames  = wordSet(`arr array arrays list lists args argv items item values vals data row rows col cols matrix vec tuple slice buf buffer bytes str xs ys idx lines tokens nums self this result results`)
	indexAfter  = regexp.MustCompile(`^\s*(?:[-+*/]?=|\+\+|--|\(|\.\pL|\[\D)`)
	hasInnerCap = regexp.MustCompile(`\p{Ll}\p{Lu}`)
)

// isIndex tells arr[1] of program text from a citation set close to its word.
func isIndex(text string, start, end int) bool {
	word := wordBefore.FindString(text[max(0, start-60):start])
	if word == "" {
		return false
	}
	trimmed := strings.TrimRight(word, ".")
	if trimmed != word || strings.Trim(word, "0123456789.") == "" {
		return false // after a full stop or a number
	}
	if utf8.RuneCountInString(word) == 1 && !isCJK([]rune(word)[0]) || indexNames[strings.ToLower(word)] || hasInnerCap.MatchString(word) {
		return true
	}
	if strings.ContainsAny(word, "_.$") || strings.ContainsFunc(word, unicode.IsDigit) {
		return true
	}
	return indexAfter.MatchString(text[end:])
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
func quotesFor(answer string, quotes []quotation, markers []marker, sentences []sentence, at int, m marker) (texts []string) {
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
			texts = append(texts, quotes[first].text)
		}
	}
	take(from, to)
	if near, ok := quoteBlockBeside(answer, markers, sentences, at); ok && s.kind == prose {
		take(near.start, near.end)
	}
	return texts
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
