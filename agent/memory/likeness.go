// Package memory finds again what was said and remembered: past exchanges and
// facts that fit a question.
package memory

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// FittingFacts returns the facts that fit a question, the best first.
func FittingFacts(ctx context.Context, question string, all []agent.Fact) ([]agent.Fact, error) {
	likeness, err := alike(ctx, question, factTexts(all))
	if err != nil {
		return nil, err
	}
	var order []int
	for i := range all {
		if likeness[i].fits() {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(likeness[b].sum(), likeness[a].sum()) })
	fitting := make([]agent.Fact, len(order))
	for i, at := range order {
		fitting[i] = all[at]
	}
	return fitting, nil
}

// likeness is how much a text is like a question.
type likeness struct {
	share   float64 // of the question's words that it holds
	letters float64 // cosine of the n-grams
}

func (l likeness) fits() bool { return l.share >= leastShare || l.letters >= leastLetters }

func (l likeness) sum() float64 { return l.share + l.letters }

// alike compares a question with each of some texts.
func alike(ctx context.Context, question string, texts []string) ([]likeness, error) {
	letters, err := llm.Ngrams{}.Embed(ctx, append([]string{question}, texts...))
	if err != nil {
		return nil, err
	}
	asked := WordSet(question)
	list := make([]likeness, len(texts))
	for i, text := range texts {
		held := shared(asked, WordSet(text))
		list[i] = likeness{float64(held) / float64(max(1, len(asked))), dot(letters[0], letters[i+1])}
	}
	return list, nil
}

// factTexts are what facts say.
func factTexts(facts []agent.Fact) []string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	return texts
}

// leastShare is the share of the question's words, without the small ones,
// that an exchange holds to be about it.
const leastShare = 0.4

// leastLetters does the same for the cosine of n-grams, which see parts of words.
const leastLetters = 0.2

// dot is the cosine of vectors of length 1.
func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// WordSet is the set of words of a text, by their roots.
func WordSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, tok := range text.Tokens(s) {
		if !tok.Stop {
			set[Root(tok.Text)] = true
		}
	}
	return set
}

func shared(a, b map[string]bool) (n int) {
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}

// Root is the first five letters of a word, so that "task" and "tasks",
// "mail" and "mailed" meet.
func Root(word string) string { return prefix(strings.TrimSuffix(word, "s"), 5) }

// prefix is the first n runes of s.
func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
