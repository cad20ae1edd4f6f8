// Package memory finds past exchanges and facts that fit a question.
package memory

import (
	"cmp"
	"context"
	"slices"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// FittingFacts returns the facts that fit a question, best first.
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

// likeness is how similar a text is to a question.
type likeness struct {
	share  float64 // of the question's words that occur in the text
	ngrams float64 // cosine of the n-gram vectors
}

func (l likeness) fits() bool { return l.share >= minShare || l.ngrams >= minNgrams }

func (l likeness) sum() float64 { return l.share + l.ngrams }

// alike compares a question with each text.
func alike(ctx context.Context, question string, texts []string) ([]likeness, error) {
	letters, err := llm.Ngrams{}.Embed(ctx, append([]string{question}, texts...))
	if err != nil {
		return nil, err
	}
	questionWords := text.Roots(question)
	list := make([]likeness, len(texts))
	for i, one := range texts {
		held := shared(questionWords, text.Roots(one))
		list[i] = likeness{float64(held) / float64(max(1, len(questionWords))), dot(letters[0], letters[i+1])}
	}
	return list, nil
}

// factTexts returns the texts of facts.
func factTexts(facts []agent.Fact) []string {
	texts := make([]string, len(facts))
	for i, f := range facts {
		texts[i] = f.Text
	}
	return texts
}

// minShare is the minimum share of the question's words, except stop words,
// that a fitting exchange contains.
const minShare = 0.4

// minNgrams is the minimum cosine of n-gram vectors, which also match parts
// of words.
const minNgrams = 0.2

// dot returns the dot product, which is the cosine of unit vectors.
func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func shared(a, b map[string]bool) (n int) {
	for word := range a {
		if b[word] {
			n++
		}
	}
	return n
}
