package prompt

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// mostFound bounds the number of tools that one search returns.
const mostFound = 5

// Find returns the tools of the rest that match a query, best first.
func (b Block) Find(query string) (found []agent.Tool) {
	specs := Specs(b.Rest)
	scores := relevance(specs, query)
	best := make([]int, 0, len(specs))
	for i, spec := range specs {
		if strings.Contains(strings.ToLower(query), strings.ToLower(spec.Name)) {
			scores[i] = math.Inf(1)
		}
		if scores[i] > 0 {
			best = append(best, i)
		}
	}
	slices.SortStableFunc(best, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for _, i := range best[:min(len(best), mostFound)] {
		found = append(found, b.Rest[i])
	}
	return found
}

const (
	// saturation and lengthShare are k1 and b of BM25, as in the search of
	// notes.
	saturation  = 1.2
	lengthShare = 0.75
	// nameWeight is how much more a word in a tool's name counts than one in
	// its description.
	nameWeight = 3
)

// relevance scores each tool by BM25 over its name, description and arguments.
func relevance(tools []llm.ToolSpec, question string) []float64 {
	counts := make([]map[string]float64, len(tools))
	lengths, total := make([]float64, len(tools)), 0.0
	known := map[string]float64{} // number of tools that contain a word
	for i, tool := range tools {
		counts[i] = toolWords(tool)
		for word, n := range counts[i] {
			known[word]++
			lengths[i] += n
		}
		total += lengths[i]
	}
	mean := max(1, total/float64(len(tools)))
	scores := make([]float64, len(tools))
	for word := range text.Roots(question) {
		rare := math.Log(1 + (float64(len(tools))-known[word]+0.5)/(known[word]+0.5))
		for i := range tools {
			if n := counts[i][word]; n > 0 {
				scores[i] += rare * n * (saturation + 1) / (n + saturation*(1-lengthShare+lengthShare*lengths[i]/mean))
			}
		}
	}
	return scores
}

// toolWords counts the words that a tool is found by.
func toolWords(spec llm.ToolSpec) map[string]float64 {
	counts := map[string]float64{}
	for word := range text.Roots(strings.Join(words(spec.Name), " ")) {
		counts[word] += nameWeight
	}
	described := spec.Description
	for _, name := range agent.PropertyOrder(spec.Schema) {
		described += " " + strings.Join(words(name), " ")
	}
	for _, tok := range text.Tokens(text.Clip(described, 4000)) {
		if !tok.Stop {
			counts[text.Root(tok.Text)]++
		}
	}
	return counts
}
