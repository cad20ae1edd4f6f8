// Package citation checks the citations and quotations of an answer against its
// sources: whether the quoted words are there, and what the note marks them as.
package citation

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Check judges each [n] of an answer against the numbered sources by the words
// quoted at it. A whole sentence copied from its source counts as a quotation
// even without quotation marks. The verdicts are:
//
//   - verified: the quoted words are in the source, with the same punctuation.
//     Context is what the note marks them as, such as struck out, or is ""
//   - cited: nothing is quoted
//   - not_found: the note does not contain the words quoted at the citation.
//     Detail names the source of the answer that does
//   - stale: the sentence was changed or removed since, as notes has it; if
//     notes is nil, nothing is stale
//
// A quotation without a number is searched for in all sources and returned with
// its words, and with the number 0 if no source contains it.
//
// An answer with more of them than any honest one is judged in its first part.
func Check(answer string, sources []agent.Source, notes Notes) []agent.Citation {
	citations, _ := CheckFirst(context.Background(), answer, sources, notes, maxJudged)
	return citations
}

// Notes are the notes that sources come from, as they are now.
type Notes interface {
	// Reread returns the current lines of a source; ok is false if they are gone.
	Reread(source agent.Source) (text string, ok bool)
}

// Request is what an answer is given to.
type Request interface {
	// Has reports whether it has words, which then are no quotation from a note.
	Has(words string) bool
}

// CheckExcept is like Check but ignores quotations of the user's own words.
func CheckExcept(answer string, sources []agent.Source, notes Notes, to Request) []agent.Citation {
	d := newChecker(sources, notes)
	d.request = to
	citations, _ := d.check(context.Background(), answer, maxJudged)
	return citations
}

// CheckFirst is like Check for text of any length from another program: it
// judges at most that many citations and quotations, and returns how many it
// left out. It stops when ctx ends.
func CheckFirst(ctx context.Context, answer string, sources []agent.Source, notes Notes, most int,
) (citations []agent.Citation, leftOut int) {
	return newChecker(sources, notes).check(ctx, answer, most)
}

func (d *checker) check(ctx context.Context, answer string, most int) (citations []agent.Citation, leftOut int) {
	if len(d.sources) == 0 {
		return nil, 0
	}
	claims, lone := readClaims(answer, d.isSource)
	judged := 0
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
		if left := most - judged; left < len(q.quotes) {
			leftOut += len(q.quotes) - left
			q.quotes = q.quotes[:left]
		}
		judged += len(q.quotes)
		citations = append(citations, d.judgeLone(q)...)
	}
	return citations, leftOut
}

// checker holds the sources and the passages opened so far.
type checker struct {
	sources []agent.Source
	notes   Notes            // nil: they are not read again
	request Request          // nil: of nobody
	open    map[int]*passage // by source number
	now     map[int]*passage // by source number: the whole note on disk; nil if it is gone
	judged  map[string]bool  // quotations without a number that were judged already
}

func newChecker(sources []agent.Source, notes Notes) *checker {
	return &checker{
		sources: sources, notes: notes,
		open: map[int]*passage{}, now: map[int]*passage{}, judged: map[string]bool{},
	}
}

func (d *checker) isSource(n int) bool { return n >= 1 && n <= len(d.sources) }

// passage returns the passage of a source.
func (d *checker) passage(n int) *passage {
	if d.open[n] == nil {
		first := slices.Index(d.sources, d.sources[n-1]) + 1 // the first source with the same text
		if d.open[first] == nil {
			d.open[first] = openPassage(d.sources[first-1])
		}
		d.open[n] = d.open[first]
	}
	return d.open[n]
}

// found is the location of a quotation, in the passage of a source or elsewhere
// in its note. In the zero value, passage is nil: not found.
type found struct {
	quotation
	n       int
	passage *passage
	runs    []place
	stale   bool // the sentence has changed on disk
}

// whole reports whether nothing but whole sentences is quoted.
func (f found) whole() bool {
	p, first, last := f.passage, f.runs[0].first, f.runs[len(f.runs)-1].last
	return p.begins(first) && p.ends(last)
}

// locate finds a quotation in the first of the numbered sources that contains
// it, in its passage or else elsewhere in its note. At the end of quoted lines, the
// name of the source is none of the words. It reports near if it found only other
// forms of the words.
func (d *checker) locate(numbers []int, q quotation) (at found, near bool) {
	words := newQuotedWords(q.text)
	if len(words.parts) == 0 {
		return found{}, false
	}
	words.label = wordsOf(q.label)
	tried := map[*passage]bool{} // sources may have the same text
	for _, n := range numbers {
		p := d.passage(n)
		if tried[p] {
			continue
		}
		tried[p] = true
		runs, alike := p.quote(words)
		if near = near || alike; runs == nil {
			continue
		}
		at = found{q, n, p, runs, false}
		if !d.rereads(n) {
			return at, false
		}
		note := d.onDisk(n)
		if moved, ok := note.unchanged(p, runs); ok {
			at.passage, at.runs = note, moved
			return at, false
		}
		at.stale = true
		return at, false
	}
	for _, n := range numbers {
		p := d.passage(n)
		more := []*passage{d.onDisk(n)}
		for other, s := range d.sources {
			if s.Path == p.source.Path && s.Vault == p.source.Vault {
				more = append(more, d.passage(other+1))
			}
		}
		for _, other := range more {
			if other == nil || other == p || tried[other] {
				continue
			}
			tried[other] = true
			if runs, _ := other.quote(words); runs != nil {
				return found{q, n, other, runs, false}, false
			}
		}
	}
	if headed := cutAtColon(q.text); len(headed.parts) > 0 {
		for _, n := range numbers {
			if runs, _ := d.passage(n).quote(headed); runs != nil {
				return found{q, n, d.passage(n), runs, false}, false
			}
		}
	}
	if words, name := cutAttribution(q.text); q.line && len(name) > 0 {
		named := slices.DeleteFunc(slices.Clone(numbers), func(n int) bool {
			return indexOf(d.passage(n).title, name, 0) < 0
		})
		if at, _ = d.locate(named, quotation{Span: q.Span, text: words, label: q.label}); at.passage != nil {
			at.quotation = q
			return at, false
		}
	}
	return found{}, near
}

// judge returns the verdict on source n of a claim.
func (d *checker) judge(c claim, n int) agent.Citation {
	p := d.passage(n)
	if c.whole && lengthOf(c.sentence) >= maxTerm-1 && len(contentOf(c.sentence)) > 1 {
		if at, _ := d.locate([]int{n}, quotation{text: c.sentence}); at.passage != nil && at.whole() {
			return d.verified(at, []found{at})
		}
	}
	quoted := d.judgeQuotes(c, n, p)
	var citation agent.Citation
	if len(quoted.here) > 0 {
		citation = d.verified(quoted.here[0], quoted.here)
	} else {
		citation = d.cited(c, n, p)
	}
	switch {
	case quoted.missing > 0:
		citation.Verdict, citation.Context = agent.NotFound, ""
		if quoted.missing == len(quoted.elsewhere) {
			citation.Detail = "not in [" + strconv.Itoa(n) + "], but in " +
				strings.Join(slices.Compact(quoted.elsewhere), ", ")
		}
	case quoted.unsure && citation.Verdict == agent.Verified:
		citation.Verdict, citation.Context = agent.Cites, ""
	}
	if len(quoted.judged) > 1 || len(quoted.judged) == 1 && quoted.judged[0].Verdict != citation.Verdict {
		citation.Quoted = quoted.judged
	}
	return citation
}

// judgedQuotes is the result for the quotations at one citation.
type judgedQuotes struct {
	here   []found // found in the source
	judged []agent.Quoted
	unsure bool // a quotation may be a name, a single term or a paraphrase

	missing   int      // quotations that are in none of the sources cited next to them
	elsewhere []string // [n] of another source, for each of them that is in one
}

// judgeQuotes looks for the quotations of a claim in its source n, whose
// passage is p.
func (d *checker) judgeQuotes(c claim, n int, p *passage) (result judgedQuotes) {
	seen := map[string]bool{}
	for _, q := range d.joined(c.quotes, []int{n}) {
		const word = 2 // the length of one word
		if seen[q.text] || lengthOf(q.text) <= word {
			continue
		}
		seen[q.text] = true
		at, near := d.locate([]int{n}, q)
		switch {
		case at.passage != nil:
			result.here = append(result.here, at)
			result.judged = append(result.judged, agent.Quoted{Text: q.text, Verdict: agent.Verified})
			continue
		case indexOf(p.title, text.Tokens(q.text), 0) >= 0, d.request != nil && d.request.Has(q.text):
			continue // not a quotation from a note
		case near, isTerm(q.text), d.isName(q.text), q.denied:
			result.unsure = true
			continue
		}
		if other, near := d.locate(c.near, q); other.passage != nil || near {
			// from a source cited next to it
			result.judged = append(result.judged, agent.Quoted{Text: q.text, Verdict: agent.Cites})
			continue
		}
		result.missing++
		if other, _ := d.locate(d.numbers(), q); other.passage != nil {
			result.elsewhere = append(result.elsewhere, "["+strconv.Itoa(other.n)+"]")
		}
		result.judged = append(result.judged, agent.Quoted{Text: q.text, Verdict: agent.NotFound})
	}
	return result
}

// cited returns the verdict on a claim that quotes nothing from its source n,
// whose passage is p, with the current lines closest to the claim.
func (d *checker) cited(c claim, n int, p *passage) agent.Citation {
	citation := agent.Citation{Verdict: agent.Cites}
	if !d.locateAt(&citation, n, p, p.closest(c.sentence+"\n"+c.text)) {
		citation.Verdict = agent.Stale
	}
	return citation
}

// locateAt sets the source, lines and text of a citation to those of the words
// at runs, with the lines where they are on disk. It reports false if they were
// changed or removed since.
func (d *checker) locateAt(c *agent.Citation, n int, p *passage, runs []place) (same bool) {
	c.N, c.Path = n, p.source.Path
	c.Line, c.EndLine, c.Quote = p.lines(runs)
	if !d.rereads(n) {
		return true
	}
	moved, same := d.onDisk(n).unchanged(p, runs)
	if same && len(runs) > 0 {
		c.Line, c.EndLine, _ = d.now[n].lines(moved)
	}
	return same
}

// verified returns the verdict on the quotations found for one citation, with
// the location of the first.
func (d *checker) verified(at found, all []found) agent.Citation {
	c := agent.Citation{N: at.n, Path: at.passage.source.Path, Verdict: agent.Verified}
	c.Line, c.EndLine, c.Quote = at.passage.lines(at.runs)
	var riders []string
	for _, f := range all {
		if f.stale {
			c.Verdict = agent.Stale
		}
		if rider := f.rider(); rider != "" && !slices.Contains(riders, rider) {
			riders = append(riders, rider)
		}
	}
	if c.Verdict == agent.Verified {
		c.Context = strings.Join(riders, " · ")
	}
	return c
}

// unchanged looks for the sentences at runs of an older reading in p, as
// unchanged whole sentences, and returns the match nearest to the old line. p
// is nil if the note is gone.
func (p *passage) unchanged(was *passage, runs []place) (moved []place, found bool) {
	if p == nil {
		return nil, false
	}
	if len(runs) == 0 {
		return nil, true
	}
	from, to := was.within[runs[0].first], was.within[runs[len(runs)-1].last-1]
	start := was.ranges[from][0]
	words := was.words[start:was.ranges[to][1]]
	stood, _, _ := was.lines(runs)
	struck := strings.Contains(was.text[was.sentences[from].Start:was.sentences[to].End], "~~")
	distance := math.MaxInt
	for i := 0; i+len(words) <= len(p.words); i++ {
		if !slices.EqualFunc(p.words[i:i+len(words)], words,
			func(a, b word) bool { return a.Token.Text == b.Token.Text }) {
			continue
		}
		first, last := p.within[i], p.within[i+len(words)-1]
		line := p.source.Line + p.sentences[first].Line
		if p.ranges[first][0] == i && p.ranges[last][1] == i+len(words) && max(line-stood, stood-line) < distance &&
			strings.Contains(p.text[p.sentences[first].Start:p.sentences[last].End], "~~") == struck {
			distance = max(line-stood, stood-line)
			moved = nil
			for _, r := range runs {
				moved = append(moved, place{r.first - start + i, r.last - start + i})
			}
		}
	}
	return moved, moved != nil
}

// rereads reports whether source n is a note that can be read again. Web pages
// are not fetched, and tools not called, a second time.
func (d *checker) rereads(n int) bool {
	return d.notes != nil && !agent.OnWeb(d.sources[n-1].Path) && d.sources[n-1].Call == ""
}

// onDisk returns the note of a source as it is on disk, reading it once. It
// returns nil if the note is gone or the source is not a note.
func (d *checker) onDisk(n int) *passage {
	if !d.rereads(n) {
		return nil
	}
	if p, read := d.now[n]; read {
		return p
	}
	d.now[n] = nil
	source := d.sources[n-1]
	if !agent.IsPaged(source.Path) { // a page may end within a sentence, and a book is long
		source.Line, source.EndLine = 1, math.MaxInt
	}
	for other, p := range d.now {
		s := d.sources[other-1]
		sameNote := s.Path == source.Path && s.Vault == source.Vault
		if p != nil && sameNote && !agent.IsPaged(s.Path) {
			d.now[n] = p
			return p
		}
	}
	if text, ok := d.notes.Reread(source); ok {
		source.Text = text
		source.EndLine = source.Line + strings.Count(strings.TrimRight(text, "\n"), "\n")
		d.now[n] = openPassage(source)
	}
	return d.now[n]
}
