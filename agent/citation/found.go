package citation

import (
	"math"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Found returns the sentence of the sources that shares most words with each
// sentence of an answer that neither quotes nor cites, so that the user can look
// it up. Nothing is judged: a sentence that shares less than two words with all
// sources, unless it has only one, has none. Headings and questions are left out.
func Found(answer string, sources []agent.Source, notes Notes) (citations []agent.Citation) {
	d := newChecker(sources, notes)
	all := carriers{holds: map[string][]int{}}
	for n := range sources {
		all.add(d.passage(n+1), n+1)
	}
	sentences := text.Sentences(answer)
	markers := markersIn(answer, d.isSource)
	quotes := quotesOf(answer, markers, sentences)
	for _, s := range sentences {
		for len(quotes) > 0 && quotes[0].Span.Start < s.Start {
			quotes = quotes[1:]
		}
		said := without(answer, nil, s.Start, min(s.End, s.Start+maxClaim))
		quotes := len(quotes) > 0 && quotes[0].Span.Start < s.End
		cited := len(within(markers, s.Start, s.End)) > 0
		states := s.Kind.Prose() && levelOf(said) == 0 && !isQuestion(said)
		if !states || quotes || cited || len(citations) == maxJudged {
			continue
		}
		const enough = 4 // two words
		from, shared := all.of(said)
		if shared == 0 || shared < enough && shared < lengthOf(said) {
			continue
		}
		c := agent.Citation{Verdict: agent.Found, Sentence: said, At: s.End}
		if strings.HasPrefix(said, "|") {
			c.At = 0 // nothing can be shown behind a row
		}
		d.locateAt(&c, from.n, from.passage, []place{from.place})
		citations = append(citations, c)
	}
	return citations
}

// carriers are the sentences of passages, by the words in them.
type carriers struct {
	list  []carrier
	holds map[string][]int // indices of the sentences with a word
}

// carrier is a sentence of the passage of source n.
type carrier struct {
	place
	passage *passage
	n       int
}

func (c *carriers) add(p *passage, n int) {
	for _, words := range p.ranges {
		for _, w := range p.words[words[0]:words[1]] {
			key := w.form()
			if in := c.holds[key]; !w.Token.Stop && (len(in) == 0 || in[len(in)-1] != len(c.list)) {
				c.holds[key] = append(in, len(c.list))
			}
		}
		c.list = append(c.list, carrier{place{words[0], words[1]}, p, n})
	}
}

// of returns the sentence that shares most words with a text, and the length of
// these words. Words that are in few sentences count more.
func (c *carriers) of(said string) (most carrier, shared int) {
	score, length, seen := map[int]float64{}, map[int]int{}, map[string]bool{}
	top := 0
	for _, w := range wordsOf(said) {
		key := w.form()
		in := c.holds[key]
		if seen[key] || w.Token.Stop {
			continue
		}
		seen[key] = true
		for _, i := range in {
			score[i] += math.Log(1 + float64(len(c.list))/float64(len(in)))
			length[i] += lengthOf(w.Token.Text)
			if score[i] > score[top] || score[i] == score[top] && i < top {
				top = i
			}
		}
	}
	if len(score) == 0 {
		return carrier{}, 0
	}
	return c.list[top], length[top]
}
