// Package citation judges what an answer cites and quotes against its sources:
// whether the words that it quotes stand there, and what stands around them.
package citation

import (
	"context"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Check judges each [n] of an answer against the numbered sources, by the
// sentence that it stands in:
//
//   - verified: the words quoted at the citation stand in the source, with their
//     signs; Context tells what stands around them there, "" is that they are a
//     whole sentence that nothing around it changes
//   - cited: nothing is quoted
//   - not_found: there is no source n, or words quoted at the citation do not
//     stand in it
//   - stale: the sentence was changed or is gone. reread returns the lines
//     of a source as they are now; nil is not asked
//
// White space, markup and the punctuation of sentences do not matter. A
// quotation without a number is looked for in all sources and told with its
// words: as the first one that holds it says, else not_found with the number 0.
// Why by words and not by similarity: docs/design/citations.md.
func Check(answer string, sources []agent.Source, reread func(agent.Source) (string, bool)) []agent.Citation {
	return CheckBut(answer, sources, reread, func(string) bool { return false })
}

// CheckBut is Check where words that the user said are nobody's citation.
func CheckBut(answer string, sources []agent.Source, reread func(agent.Source) (string, bool), said func(words string) bool) []agent.Citation {
	if len(sources) == 0 && len(markersIn(answer)) == 0 {
		return nil // it quotes what it likes
	}
	d := &checker{sources: sources, reread: reread, said: said, open: map[int]*passage{}, now: map[int]*passage{}}
	citations, _ := d.check(context.Background(), answer, math.MaxInt)
	return citations
}

// CheckFirst is Check for a text of somebody else: it judges at most that many
// citations and quotations, and returns how many it left out. It stops when ctx ends.
func CheckFirst(ctx context.Context, answer string, sources []agent.Source, most int) (citations []agent.Citation, leftOut int) {
	if len(sources) == 0 && len(markersIn(answer)) == 0 {
		return nil, 0
	}
	d := &checker{sources: sources, said: func(string) bool { return false }, open: map[int]*passage{}, now: map[int]*passage{}}
	return d.check(ctx, answer, most)
}

func (d *checker) check(ctx context.Context, answer string, most int) (citations []agent.Citation, leftOut int) {
	judged := 0
	claims, lone := readClaims(answer)
	for _, c := range claims {
		for _, n := range c.numbers {
			work := max(1, len(c.quotes))
			if work > most-judged || ctx.Err() != nil {
				leftOut++
				continue
			}
			judged += work
			one := d.judge(c, n)
			one.Sentence, one.At = c.sentence, c.at
			citations = append(citations, one)
		}
	}
	for _, q := range lone {
		if ctx.Err() != nil {
			break
		}
		if left := most - judged; left < len(q.texts) {
			leftOut += len(q.texts) - left
			q.texts = q.texts[:left]
		}
		judged += len(q.texts)
		for _, c := range d.judgeLone(q) {
			if !slices.ContainsFunc(citations, func(have agent.Citation) bool { return have.Words == c.Words }) {
				citations = append(citations, c)
			}
		}
	}
	return citations, leftOut
}

// checker holds the sources that were opened for comparing.
type checker struct {
	sources []agent.Source
	reread  func(agent.Source) (string, bool)
	said    func(words string) bool
	open    map[int]*passage // by number
	now     map[int]*passage // the whole notes as they stand on disk; nil: gone
}

func (d *checker) passage(n int) *passage {
	if n < 1 || n > len(d.sources) {
		return nil
	}
	if d.open[n] == nil {
		first := slices.Index(d.sources, d.sources[n-1]) + 1 // of the same text under several numbers
		if d.open[first] == nil {
			d.open[first] = openPassage(d.sources[first-1])
		}
		d.open[n] = d.open[first]
	}
	return d.open[n]
}

// judge is the verdict on one number of a claim.
func (d *checker) judge(c claim, n int) agent.Citation {
	p := d.passage(n)
	if p == nil {
		return agent.Citation{N: n, Verdict: agent.NotFound}
	}
	quotes := d.quoted(c, p)
	if len(quotes) == 0 {
		return d.place(p, n, p.closest(c), agent.Citation{Verdict: agent.Cites})
	}
	var judged []agent.Quoted
	var told agent.Citation
	var contexts []string
	at := place{}
	worth := []agent.Verdict{"", agent.Verified, agent.Cites, agent.Stale, agent.NotFound}
	for _, q := range quotes {
		found, verdict, why := p.quote(q)
		if verdict == agent.NotFound && d.elsewhere(c.numbers, q) {
			verdict = agent.Cites // it rests on a source cited next to this one
		}
		if !found.none() {
			one := d.placeQuote(p, n, found, q, agent.Citation{Verdict: verdict, Detail: why})
			verdict = one.Verdict
			if one.Context != "" && !slices.Contains(contexts, one.Context) {
				contexts = append(contexts, one.Context)
			}
			if at.none() {
				at = found
				told.N, told.Path, told.Line, told.EndLine, told.Quote = one.N, one.Path, one.Line, one.EndLine, one.Quote
			}
		}
		judged = append(judged, agent.Quoted{Text: q.text, Verdict: verdict})
		if slices.Index(worth, verdict) > slices.Index(worth, told.Verdict) {
			told.Verdict, told.Detail = verdict, why
		}
	}
	if at.none() {
		told = d.place(p, n, p.closest(c), told)
	}
	told.Context = ""
	if told.Verdict == agent.Verified {
		told.Context = strings.Join(contexts, " · ")
	}
	if len(judged) > 1 || judged[0].Verdict != told.Verdict {
		told.Quoted = judged
	}
	return told
}

// quotedWords is a quotation, cut where it leaves something out.
type quotedWords struct {
	text  string
	parts [][]word
}

func newQuotedWords(quotation string) quotedWords {
	q := quotedWords{text: quotation}
	for _, part := range cutAtGaps(quotation) {
		if words := wordsOf(unbroken(part)); len(words) > 0 {
			q.parts = append(q.parts, words)
		}
	}
	return q
}

// quoted is the quotations of a claim except those that only name the note,
// and of what does not stand there those that repeat the user.
func (d *checker) quoted(c claim, p *passage) (quotes []quotedWords) {
	for _, quotation := range c.quotes {
		q := newQuotedWords(quotation)
		if len(q.parts) == 0 {
			continue
		}
		if _, v, _ := p.quote(q); v != agent.NotFound || indexOf(p.title, text.Tokens(quotation), 0) < 0 && !d.said(quotation) {
			quotes = append(quotes, q)
		}
	}
	return quotes
}

// elsewhere reports whether a quotation stands in one of the sources that are
// cited together.
func (d *checker) elsewhere(numbers []int, q quotedWords) bool {
	return slices.ContainsFunc(numbers, func(n int) bool {
		p := d.passage(n)
		if p == nil {
			return false
		}
		_, v, _ := p.quote(q)
		return v == agent.Verified
	})
}

// placeQuote names the lines of a quotation, and what stands around it.
func (d *checker) placeQuote(p *passage, n int, at place, q quotedWords, c agent.Citation) agent.Citation {
	whole, now := p, at
	if c = d.place(p, n, at, c); c.Verdict == agent.Verified {
		if note := d.now[n]; note != nil { // it says more than the passage that the search cut
			if moved, ok := note.unchanged(p, at); ok {
				whole, now = note, moved
			}
		}
		c.Context = whole.around(now, q.parts)
	}
	return c
}

// place names the lines of the passage, as they stand on disk where they can
// be read again.
func (d *checker) place(p *passage, n int, at place, c agent.Citation) agent.Citation {
	c.N, c.Path = n, p.source.Path
	c.Line, c.EndLine, c.Quote = p.lines(at)
	if d.reread == nil || agent.OnWeb(c.Path) || p.source.Call != "" { // no page is fetched, and no tool called, again
		return c
	}
	now := d.onDisk(n, p.source)
	moved, same := now.unchanged(p, at)
	switch {
	case same && !at.none():
		c.Line, c.EndLine, _ = now.lines(moved)
	case !same && c.Verdict != agent.NotFound:
		c.Verdict, c.Detail = agent.Stale, ""
	}
	return c
}

// unchanged finds the whole sentences at a place of an older reading, as they
// were, the nearest to where they stood. A nil passage is a note that is gone.
func (p *passage) unchanged(was *passage, at place) (best place, found bool) {
	if p == nil {
		return place{}, false
	}
	if at.none() {
		return place{}, true
	}
	from, to := was.within[at.first], was.within[at.last-1]
	words := was.words[was.ranges[from][0]:was.ranges[to][1]]
	stood, _, _ := was.lines(at)
	struck := strings.Contains(was.text[was.sentences[from].Start:was.sentences[to].End], "~~")
	distance := math.MaxInt
	for next := 0; ; {
		moved, ok := p.find(words, next)
		if !ok {
			return best, found
		}
		next = moved.first + 1
		first, last := p.within[moved.first], p.within[moved.last-1]
		line := p.source.Line + p.sentences[first].Line
		if p.ranges[first][0] == moved.first && p.ranges[last][1] == moved.last && max(line-stood, stood-line) < distance &&
			strings.Contains(p.text[p.sentences[first].Start:p.sentences[last].End], "~~") == struck {
			head := at.first - was.ranges[from][0]
			best, found = place{moved.first + head, moved.first + head + at.last - at.first}, true
			distance = max(line-stood, stood-line)
		}
	}
}

// onDisk reads the note of a source again, once; nil: it is gone.
func (d *checker) onDisk(n int, source agent.Source) *passage {
	if p, read := d.now[n]; read {
		return p
	}
	d.now[n] = nil
	if !agent.IsPDF(source.Path) { // a page may end within a sentence, and a book is long
		source.Line, source.EndLine = 1, math.MaxInt
	}
	if text, ok := d.reread(source); ok {
		source.Text = text
		source.EndLine = source.Line + strings.Count(strings.TrimRight(text, "\n"), "\n")
		d.now[n] = openPassage(source)
	}
	return d.now[n]
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

// cutAtGaps parts a quotation at each … or [...].
func cutAtGaps(quotation string) []string {
	return strings.Split(strings.NewReplacer("[…]", "…", "[...]", "…", "(…)", "…", "(...)", "…", "...", "…").Replace(quotation), "…")
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
