package search

// Signals are what speaks for or against the notes having an answer.
type Signals struct {
	Named           bool    // a note has the question for its title or name, or a filter or a time asks for its notes alone
	Undated         bool    // the question asks for a time and no more, and no note is of that time
	UnknownLanguage bool    // the question is in a language that no note is in
	Silent          bool    // no note has a word that says what the question is about, and meaning answered
	Near            float64 // how far the closest passage stands out in meaning; 0.5 is chance; 0 also without an embedder
	Share           float64 // most words of the question, stop words aside, that a note has in one passage; 0 to 1
}

// signals looks at ranked candidates.
func (s *search) signals(ranked []candidate) Signals {
	g := Signals{UnknownLanguage: s.words.otherLanguage, Named: s.dated || len(ranked) > 0 && len(s.named) > 0, Silent: s.silent}
	for _, c := range ranked {
		g.Near, g.Share = max(g.Near, c.near), max(g.Share, c.share)
	}
	return g
}

// Answerable is how likely the notes have an answer, from 0 to 1.
func (g Signals) Answerable() float64 {
	switch {
	case g.Named:
		return 0.99
	case g.Undated:
		return 0.01
	case g.Silent: // below most of what words find
		return min(1, g.Near) / 4
	}
	return g.Share
}

// leastShare is the share of the question's words that a note must have: of the
// questions that the notes answer, each bench has 3 of 100 at most that reach less
// (docs/design/search.md).
const leastShare = 0.2

// Verdict says whether the notes have an answer; the higher, the likelier.
type Verdict int

// The verdicts.
const (
	NothingClose  Verdict = iota // no note has a word of the question
	Close                        // no note has a fifth of them
	OtherLanguage                // the question is in a language that no note is in: words cannot tell
	Likely
)

// verdict is that on a search which found something. What is closest in meaning
// is shown as just that.
func (g Signals) verdict() Verdict {
	switch {
	case g.Named || g.Silent || !g.Undated && g.Share >= leastShare:
		return Likely
	case g.UnknownLanguage && !g.Undated:
		return OtherLanguage
	case g.Share > 0:
		return Close
	}
	return NothingClose
}
