// Package citation judges what an answer cites and quotes against its sources:
// whether they say so, in its words or in others.
package citation

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Check judges each [n] of an answer against the numbered sources:
//
//   - not_found: there is no source n, or words quoted at the citation do not
//     stand in it
//   - verified: the quoted words stand in it, and what is said around them
//     adds little; or, without any, all words of the statement do, one after
//     the other, as a clause or a sentence of its own that holds no doubt
//     ("not", "if") that the statement leaves out
//   - paraphrase: the source is there, the words differ
//   - stale: the sentence was changed or is gone. reread returns the lines
//     of a source as they are now; nil is not asked
//
// White space, markup, letter case and quotation marks do not matter. A
// citation that repeats another in all its parts is told once. A quotation without a
// number is looked for in all sources and told with its words: verified by the
// first that holds it, else not_found with the number 0.
// Why by words and not by similarity: docs/design/citations.md.
func Check(answer string, sources []agent.Source, reread func(agent.Source) (string, bool)) []agent.Citation {
	desk := &checker{sources: sources, reread: reread, open: map[int]*passage{}, now: map[int]*passage{}}
	var citations []agent.Citation
	add := func(c agent.Citation) {
		if !slices.ContainsFunc(citations, func(have agent.Citation) bool { return reflect.DeepEqual(have, c) }) {
			citations = append(citations, c)
		}
	}
	claims, lone := readClaims(answer)
	for _, c := range claims {
		for _, n := range c.numbers {
			add(desk.judge(c, n))
		}
	}
	for _, q := range lone {
		for _, c := range desk.judgeLone(q) {
			add(c)
		}
	}
	return citations
}

// checker holds the sources that were opened for comparing.
type checker struct {
	sources []agent.Source
	reread  func(agent.Source) (string, bool)
	open    map[int]*passage // by number
	now     map[int]*passage // the same lines as they stand on disk; nil: gone
}

func (d *checker) passage(n int) *passage {
	if n < 1 || n > len(d.sources) {
		return nil
	}
	if d.open[n] == nil {
		d.open[n] = openPassage(d.sources[n-1])
	}
	return d.open[n]
}

// judge is the verdict on one number of a claim.
func (d *checker) judge(c claim, n int) agent.Citation {
	p := d.passage(n)
	if p == nil {
		return agent.Citation{N: n, Verdict: agent.NotFound}
	}
	quotes, words := unnamed(c, p)
	verdict, at := agent.Paraphrase, p.closest(c)
	var judged []agent.Quoted
	if len(quotes) > 0 {
		judged, verdict, at = d.judgeQuotes(c, p, quotes, words, at)
	} else if exact, ok := p.supports(words); ok {
		verdict, at = agent.Verified, exact
	}
	told := d.place(p, n, at, verdict)
	for i := range judged {
		if told.Verdict == agent.Stale && judged[i].Verdict == agent.Verified {
			judged[i].Verdict = agent.Stale
		}
	}
	if len(judged) > 1 || len(judged) == 1 && judged[0].Verdict != told.Verdict {
		told.Quoted = judged
	}
	return told
}

// judgeQuotes is the verdict on each quotation of a claim, and on all of it.
func (d *checker) judgeQuotes(c claim, p *passage, quotes []quotedWords, words string, nearest place) (judged []agent.Quoted, verdict agent.Verdict, at place) {
	verdict, at = agent.Verified, place{}
	for _, q := range quotes {
		found, v := p.quote(q)
		one := agent.Quoted{Text: q.text, Verdict: v}
		switch {
		case v != agent.NotFound:
			if at.none() {
				at = found
			}
			if v == agent.Paraphrase && verdict == agent.Verified {
				verdict = v
			}
		case d.elsewhere(c.numbers, q):
			one.Verdict = agent.Paraphrase // it rests on a source cited next to this one
		default:
			verdict = agent.NotFound
		}
		judged = append(judged, one)
	}
	switch {
	case at.none():
		at = nearest
		if verdict == agent.Verified {
			verdict = agent.Paraphrase // all stands in the sources next to it
		}
	case verdict == agent.Verified && !p.framed(words, quotes, at):
		verdict = agent.Paraphrase
	}
	return judged, verdict, at
}

// quotedWords is a quotation, cut where it leaves something out.
type quotedWords struct {
	text  string
	parts [][]text.Token
}

// unnamed is the quotations of a claim except those that only name the note,
// and its words without these.
func unnamed(c claim, p *passage) (quotes []quotedWords, words string) {
	words = c.text
	for _, text := range c.quotes {
		q := quotedWords{text, QuoteParts(text)}
		if len(q.parts) == 0 {
			continue
		}
		if _, v := p.quote(q); v != agent.NotFound || IndexOf(p.title, q.parts[0], 0) < 0 || len(q.parts) > 1 {
			quotes = append(quotes, q)
		} else {
			words = strings.ReplaceAll(words, text, "")
		}
	}
	return quotes, words
}

// elsewhere reports whether a quotation stands in one of the sources that are
// cited together.
func (d *checker) elsewhere(numbers []int, q quotedWords) bool {
	return slices.ContainsFunc(numbers, func(n int) bool {
		p := d.passage(n)
		if p == nil {
			return false
		}
		_, v := p.quote(q)
		return v == agent.Verified
	})
}

// framed reports whether what a claim says around its quotations leaves them
// what they are: words of their sentences and of the note's name, and who says
// it; or the whole stands in the source.
func (p *passage) framed(words string, quotes []quotedWords, at place) bool {
	frame := words
	said := 0
	for _, q := range quotes {
		frame = strings.ReplaceAll(frame, q.text, " ")
		for _, part := range q.parts {
			said += len(slices.DeleteFunc(slices.Clone(part), func(t text.Token) bool { return t.Stop }))
		}
	}
	around := Content(frame)
	if len(around) == 0 {
		return said > 0
	}
	from, to := p.ranges[p.within[at.first]][0], p.ranges[p.within[at.last-1]][1]
	own := slices.ContainsFunc(around, func(t text.Token) bool {
		same := func(have text.Token) bool { return stem(have) == stem(t) }
		return !text.Is(t.Text, text.Quoting) && !slices.ContainsFunc(p.tokens[from:to], same) && !slices.ContainsFunc(p.title, same)
	})
	if !own && said >= 3 {
		return true
	}
	_, ok := p.supports(words)
	return ok
}

// place names the lines of the passage, as they stand on disk where they can
// be read again.
func (d *checker) place(p *passage, n int, at place, verdict agent.Verdict) agent.Citation {
	c := agent.Citation{N: n, Path: p.source.Path, Verdict: verdict}
	c.Line, c.EndLine, c.Quote = p.lines(at)
	if d.reread == nil || agent.OnWeb(c.Path) || p.source.Call != "" { // no page is fetched, and no tool called, again
		return c
	}
	now := d.onDisk(n, p.source)
	moved, same := now.unchanged(p, at)
	if !same {
		whole := p.source
		whole.Line, whole.EndLine = 1, math.MaxInt
		now = d.onDisk(-n, whole) // it may have moved within the note
		moved, same = now.unchanged(p, at)
	}
	switch {
	case same && !at.none():
		c.Line, c.EndLine, _ = now.lines(moved)
	case !same && verdict != agent.NotFound:
		c.Verdict = agent.Stale
	}
	return c
}

// unchanged finds the whole sentences at a place of an older reading, as they
// were. A nil passage is a note that is gone.
func (p *passage) unchanged(was *passage, at place) (place, bool) {
	if p == nil {
		return place{}, false
	}
	if at.none() {
		return place{}, true
	}
	from, to := was.within[at.first], was.within[at.last-1]
	words := was.tokens[was.ranges[from][0]:was.ranges[to][1]]
	struck := strings.Contains(was.text[was.sentences[from].Start:was.sentences[to].End], "~~")
	for next := 0; ; {
		moved, ok := p.find(words, next)
		if !ok {
			return place{}, false
		}
		first, last := p.within[moved.first], p.within[moved.last-1]
		if p.ranges[first][0] == moved.first && p.ranges[last][1] == moved.last &&
			strings.Contains(p.text[p.sentences[first].Start:p.sentences[last].End], "~~") == struck {
			head := at.first - was.ranges[from][0]
			return place{moved.first + head, moved.first + head + at.last - at.first}, true
		}
		next = moved.first + 1
	}
}

// onDisk reads a source again, once; nil: it is gone.
func (d *checker) onDisk(key int, source agent.Source) *passage {
	if p, read := d.now[key]; read {
		return p
	}
	d.now[key] = nil
	if text, ok := d.reread(source); ok {
		source.Text = text
		source.EndLine = source.Line + strings.Count(strings.TrimRight(text, "\n"), "\n")
		d.now[key] = openPassage(source)
	}
	return d.now[key]
}

// QuoteParts cuts a quotation where it leaves something out.
func QuoteParts(quotation string) (parts [][]text.Token) {
	quotation = strings.NewReplacer("[…]", "…", "[...]", "…", "(…)", "…", "(...)", "…", "...", "…").Replace(quotation)
	for part := range strings.SplitSeq(quotation, "…") {
		if tokens := text.Tokens(part); len(tokens) > 0 {
			parts = append(parts, tokens)
		}
	}
	return parts
}
