package citation

import (
	"slices"
	"strings"

	"lifehub/internal/text"
)

// clause is what a clause says, by the stems of its content words: of a plain
// clause all of them, of a negated one those next to the "not", of which there
// is one clause each.
type clause struct {
	negation string // the word that negates it; "": it is plain
	stems    map[string]bool
	whole    map[string]bool // also those further from the "not"
}

// negationScope is how many content words on each side of a "not" it is about.
const negationScope = 2

// clausesOf cuts a sentence at its signs, and each clause at the words that
// negate it: those with one of some roles. root returns the stem of a word.
func clausesOf(md string, tokens []text.Token, negates text.Role, root func(word string) string, each func(words []text.Token, c clause)) {
	stemsOf := func(words []text.Token) map[string]bool {
		stems := map[string]bool{}
		for _, t := range words {
			if isContent(t) {
				stems[root(t.Text)] = true
			}
		}
		return stems
	}
	for len(tokens) > 0 {
		n := 1
		for n < len(tokens) && !strings.ContainsAny(md[tokens[n-1].End:tokens[n].Start], ",;:.!?()—|") {
			n++
		}
		words := tokens[:n]
		tokens = tokens[n:]
		plain := true
		for i, t := range words {
			// not only, not just: it negates nothing
			if text.Is(t.Text, negates) && (i+1 == len(words) || !text.Is(words[i+1].Text, text.Hedge)) {
				plain = false
				each(words, clause{t.Text, stemsOf(slices.Concat(lastContent(words[:i]), firstContent(words[i+1:]))), stemsOf(words)})
			}
		}
		if plain {
			negation := ""
			if text.Unspaced(FirstRune(words[0].Text)) && text.NegatesWithin(md[words[0].Start:words[n-1].End]) {
				negation = md[words[0].Start:words[n-1].End]
			}
			stems := stemsOf(words)
			each(words, clause{negation, stems, stems})
		}
	}
}

// firstContent is the first words of a clause that carry meaning.
func firstContent(words []text.Token) (content []text.Token) {
	for _, t := range words {
		if isContent(t) && len(content) < negationScope {
			content = append(content, t)
		}
	}
	return content
}

func lastContent(words []text.Token) []text.Token {
	words = slices.Clone(words)
	slices.Reverse(words)
	return firstContent(words)
}

func isContent(t text.Token) bool {
	return !t.Stop && !text.Is(t.Text, text.Negation|text.Hedge|text.Contrast|text.Narrowing)
}

// clauses are those of a passage.
func (p *passage) clauses() []clause {
	if p.said == nil {
		p.said = []clause{}
		known := func(word string) string { return p.content().roots[word] }
		for _, r := range p.ranges {
			tokens := make([]text.Token, 0, r[1]-r[0])
			for _, w := range p.words[r[0]:r[1]] {
				tokens = append(tokens, w.Token)
			}
			clausesOf(p.text, tokens, text.Negation, known, func(_ []text.Token, c clause) { p.said = append(p.said, c) })
		}
	}
	return p.said
}

// negation tells a "not" that only a claim or only its sources have: what
// stands closest to a clause of the claim, by the words that they share, has to
// be negated as it is. "": there is none.
func (d *checker) negation(c claim) (told string) {
	const closely = 0.9 // of what a plain clause says, for a "not" in the sources to be about it
	clausesOf(c.text, text.Tokens(c.text), text.Not, root, func(words []text.Token, said clause) {
		if told != "" || len(said.stems) == 0 {
			return
		}
		plain, negated, word := 0.0, 0.0, ""
		for _, n := range c.numbers {
			p := d.passage(n)
			if p == nil {
				continue
			}
			for _, there := range p.clauses() {
				stems := there.stems
				if said.negation == "" {
					stems = there.whole
				}
				shared := 0
				for stem := range said.stems {
					if stems[stem] {
						shared++
					}
				}
				share := float64(shared) / float64(len(said.stems))
				switch {
				case there.negation == "":
					plain = max(plain, share)
				case share > negated:
					negated, word = share, there.negation
				}
			}
		}
		switch {
		case said.negation != "" && plain > negated && (plain == 1 || !slices.ContainsFunc(words, isCondition)): // else it does not say that it is so
			told = "“" + said.negation + "” is only in the answer"
		case said.negation == "" && len(said.stems) > negationScope && negated > plain && negated >= closely && text.Is(word, text.Not) && !slices.ContainsFunc(words, func(t text.Token) bool { return negates(t.Text) }):
			told = "“" + word + "” is only in the note"
		}
	})
	return told
}

func isCondition(t text.Token) bool { return text.Is(t.Text, text.Condition) }
