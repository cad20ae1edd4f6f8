package citation

import (
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

func isFiller(t text.Token) bool { return text.Is(t.Text, text.Filler) }

// sameWord reports whether a word of a note and a word of an answer say the same.
func sameWord(note, said text.Token) bool {
	if note.Text == said.Text || text.ToReader(note.Text) == said.Text {
		return true
	}
	return !note.Capital && !said.Capital && stem(note) == stem(said) // Adams is not Adam
}

// beginningsOf lists where the words of a note may begin in a claim: at once,
// after "you", or after what only names the note.
func beginningsOf(claim []text.Token) []int {
	begins := []int{0}
	if len(claim) > 0 && text.Is(claim[0].Text, text.Addressee) {
		begins = append(begins, 1)
	}
	named := false
	for i, tok := range claim {
		if !text.Is(tok.Text, text.Attribution) {
			break
		}
		if named = named || text.Is(tok.Text, text.Naming); named {
			begins = append(begins, i+1)
		}
	}
	return begins
}

// turns tells a word that turns the sentence in which it stands.
func turns(t text.Token) bool { return text.Is(t.Text, text.Negation) }

var clauseEnd = pattern.Lazy(`[。、，,；;！!？?\n]`)
