package agent

import (
	"slices"
	"strings"
)

// checkCitations judges the citations of the answer and tells each.
func (t *turn) checkCitations(answer string) []Citation {
	citations := CheckCitations(answer, t.sources, t.Reread)
	for _, c := range citations {
		cited := Cited{Citation: c}
		if c.N >= 1 && c.N <= len(t.sources) {
			cited.Source = t.sources[c.N-1]
		}
		t.emit(cited)
	}
	return citations
}

// CheckCitations judges each [n] of an answer against the numbered sources:
//
//   - not_found: there is no source n, or words quoted at the citation do not
//     stand in it
//   - verified: the quoted words stand in it; or, without any, all words of
//     the statement that carry meaning do, in order, in one sentence or two
//     neighbours, and that sentence adds no doubt of its own ("not", "if")
//   - paraphrase: the source is there, the words differ
//   - stale: reread no longer has the sentence. A nil reread is not asked.
//
// White space, markup, letter case and quotation marks do not matter. A
// citation that repeats another in all its parts is told once.
func CheckCitations(answer string, sources []Source, reread func(Source) (string, bool)) []Citation {
	desk := &desk{sources: sources, reread: reread, open: map[int]*passage{}, now: map[int]*passage{}}
	var citations []Citation
	for _, c := range readClaims(answer) {
		for _, n := range c.numbers {
			if verdict := desk.judge(c, n); !slices.Contains(citations, verdict) {
				citations = append(citations, verdict)
			}
		}
	}
	return citations
}

// desk holds the sources that were opened for comparing.
type desk struct {
	sources []Source
	reread  func(Source) (string, bool)
	open    map[int]*passage // by number
	now     map[int]*passage // the same lines as they stand on disk; nil: gone
}

func (d *desk) passage(n int) *passage {
	if n < 1 || n > len(d.sources) {
		return nil
	}
	if d.open[n] == nil {
		d.open[n] = openPassage(d.sources[n-1])
	}
	return d.open[n]
}

// judge is the verdict on one number of a claim.
func (d *desk) judge(c claim, n int) Citation {
	p := d.passage(n)
	if p == nil {
		return Citation{N: n, Verdict: NotFound}
	}
	quotes, words := d.unnamed(c, p)
	verdict, at := Paraphrase, p.closest(c)
	if len(quotes) > 0 {
		found, all := p.quotes(quotes)
		switch {
		case all, len(found) > 0 && d.shareQuotes(c.numbers, quotes):
			verdict, at = Verified, found[0]
		case len(c.numbers) == 1 || !d.shareQuotes(c.numbers, quotes):
			verdict = NotFound
		}
	} else if exact, ok := p.supports(words); ok {
		verdict, at = Verified, exact
	}
	return d.place(p, n, at, verdict)
}

// unnamed is the quotations and the words of a claim but for those
// quotations that only name the note.
func (d *desk) unnamed(c claim, p *passage) (quotes [][]token, words string) {
	words = c.text
	for _, text := range c.quotes {
		for _, part := range quoteParts(text) {
			if _, there := p.find(part, 0); there || indexOf(p.title, part, 0) < 0 {
				quotes = append(quotes, part)
			} else {
				words = strings.ReplaceAll(words, text, "")
			}
		}
	}
	return quotes, words
}

// shareQuotes tells whether each quotation stands in one of the sources that
// are cited together.
func (d *desk) shareQuotes(numbers []int, quotes [][]token) bool {
	for _, quote := range quotes {
		stands := slices.ContainsFunc(numbers, func(n int) bool {
			p := d.passage(n)
			if p == nil {
				return false
			}
			_, ok := p.find(quote, 0)
			return ok
		})
		if !stands {
			return false
		}
	}
	return true
}

// place names the lines of the passage, as they stand on disk where they can
// be read again.
func (d *desk) place(p *passage, n int, at place, verdict Verdict) Citation {
	c := Citation{N: n, Path: p.source.Path, Verdict: verdict}
	c.Line, c.EndLine, c.Quote = p.lines(at)
	if d.reread == nil {
		return c
	}
	now := d.onDisk(n)
	switch {
	case now == nil && verdict != NotFound:
		c.Verdict = Stale
	case now != nil && !at.none():
		if moved, ok := now.find(p.tokens[at.first:at.last], 0); ok {
			c.Line, c.EndLine, _ = now.lines(moved)
		} else if verdict != NotFound {
			c.Verdict = Stale
		}
	}
	return c
}

func (d *desk) onDisk(n int) *passage {
	if p, read := d.now[n]; read {
		return p
	}
	d.now[n] = nil
	source := d.sources[n-1]
	if text, ok := d.reread(source); ok {
		source.Text = text
		d.now[n] = openPassage(source)
	}
	return d.now[n]
}

// quoteParts cuts a quotation where it leaves something out.
func quoteParts(text string) (parts [][]token) {
	text = strings.NewReplacer("[…]", "…", "[...]", "…", "(…)", "…", "(...)", "…", "...", "…").Replace(text)
	for part := range strings.SplitSeq(text, "…") {
		if tokens := tokenize(part); len(tokens) > 0 {
			parts = append(parts, tokens)
		}
	}
	return parts
}
