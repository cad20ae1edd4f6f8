package agent

import (
	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

func isFiller(t token) bool { return text.Is(t.text, text.Filler) }

// sameWord tells whether a word of a note and a word of an answer say the same.
func sameWord(note, said token) bool {
	if note.text == said.text || text.ToReader(note.text) == said.text {
		return true
	}
	return !note.capital && !said.capital && stem(note) == stem(said) // Adams is not Adam
}

// beginningsOf lists where the words of a note may begin in a claim: at once,
// after "you", or after what only names the note.
func beginningsOf(claim []token) []int {
	begins := []int{0}
	if len(claim) > 0 && text.Is(claim[0].text, text.Addressee) {
		begins = append(begins, 1)
	}
	named := false
	for i, tok := range claim {
		if !tok.stop {
			break
		}
		if named = named || text.Is(tok.text, text.Saying); named {
			begins = append(begins, i+1)
		}
	}
	return begins
}

// turns tells a word that turns the sentence in which it stands.
func turns(t token) bool { return text.Is(t.text, text.Negation) }

var clauseEnd = pattern.Lazy(`[。、，,；;！!？?\n]`)
