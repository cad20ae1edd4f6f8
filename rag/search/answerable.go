package search

// Signals are what the verdict on the notes is made from.
type Signals struct {
	Named           bool    // the question is the name of a note, or asks for the notes of a filter or a time
	Undated         bool    // the question asks for nothing but a time, and no note is of it
	UnknownLanguage bool    // the question is in a language that no note is in
	SemanticOnly    bool    // no note has a content word of the question, and vectors found the passages
	Near            float64 // cosine of the closest passage; 0 also without an embedder
	Share           float64 // largest share of the question's content words in one passage, 0 to 1
}

// signals returns the signals of the ranked candidates.
func (s *search) signals(ranked []candidate) Signals {
	g := Signals{UnknownLanguage: s.words.otherLanguage, Named: s.dated ||
		len(ranked) > 0 && len(s.named) > 0, SemanticOnly: s.semanticOnly, Near: s.nearest}
	for _, c := range ranked {
		g.Share = max(g.Share, c.share)
	}
	return g
}

// Answerable estimates how likely the notes have an answer, from 0 to 1.
func (g Signals) Answerable() float64 {
	switch {
	case g.Named:
		return 0.99
	case g.Undated:
		return 0.01
	case g.SemanticOnly: // below most of what keywords find
		return min(1, g.Near) / 4
	}
	return g.Share
}

// minShare is the share of the question's content words that a note must have. On
// each bench, at most 3 of 100 questions that the notes answer reach less
// (docs/design/search.md).
const minShare = 0.2

// Verdict is the likelihood that the notes have an answer; higher is likelier.
type Verdict int

// The verdicts.
const (
	NothingClose  Verdict = iota // no note has a content word of the question
	Close                        // no note has a fifth of them
	OtherLanguage                // the question is in a language that no note is in, so that keywords cannot tell
	Likely
)

// verdict returns the verdict on a search that found something.
func (g Signals) verdict() Verdict {
	switch {
	case g.Named || g.SemanticOnly || !g.Undated && g.Share >= minShare:
		return Likely
	case g.UnknownLanguage && !g.Undated:
		return OtherLanguage
	case g.Share > 0:
		return Close
	}
	return NothingClose
}
