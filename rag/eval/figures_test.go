package eval

import (
	"slices"

	"lifehub/rag"
)

// Figures measure how well one question found its documents, computed like trec_eval.
type Figures struct {
	NDCG         float64 // nDCG@10, gain = grade
	Recall       float64 // recall@10
	MRR          float64 // 1 / rank of the first relevant document among ten
	Verdict      rag.Verdict
	SemanticOnly bool // no note has a content word of it
}

// compared compares the nDCG@10 of two lists.
func compared(a, b []Figures) Difference {
	ndcg := func(all []Figures) (list []float64) {
		for _, f := range all {
			list = append(list, f.NDCG)
		}
		return list
	}
	return Compare(ndcg(a), ndcg(b))
}

// Mean is the mean over all questions.
func Mean(all []Figures) Figures {
	var m Figures
	for _, f := range all {
		m.NDCG += f.NDCG / float64(len(all))
		m.Recall += f.Recall / float64(len(all))
		m.MRR += f.MRR / float64(len(all))
	}
	return m
}

// Holm reports which of several differences are significant at 5 %, corrected for
// multiple comparisons.
func Holm(all []Difference) []bool {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case all[i].P < all[j].P:
			return -1
		case all[i].P > all[j].P:
			return 1
		}
		return 0
	})
	significant := make([]bool, len(all))
	for rank, i := range order {
		if all[i].P > 0.05/float64(len(all)-rank) {
			break
		}
		significant[i] = true
	}
	return significant
}
