package main

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lifehub/rag"
)

// figures measure how well one question found its documents, computed like trec_eval.
type figures struct {
	NDCG         float64 // nDCG@10, gain = grade
	Recall       float64 // recall@10
	MRR          float64 // 1 / rank of the first relevant document among ten
	Verdict      rag.Verdict
	SemanticOnly bool // no note has a content word of it
	Lacking      bool // the first line names a word or a time that no note has
}

// measureRanked returns the figures of a list of documents, the best first.
func measureRanked(ranked []string, relevant map[string]int) figures {
	var f figures
	dcg := 0.0
	for i, id := range ranked[:min(10, len(ranked))] {
		grade, right := relevant[id]
		dcg += float64(grade) / math.Log2(float64(i+2))
		if right {
			f.Recall += 1 / float64(len(relevant))
			if f.MRR == 0 {
				f.MRR = 1 / float64(i+1)
			}
		}
	}
	ideal, grades := 0.0, make([]int, 0, len(relevant))
	for _, grade := range relevant {
		grades = append(grades, grade)
	}
	slices.SortFunc(grades, func(a, b int) int { return b - a })
	for i, grade := range grades[:min(10, len(grades))] {
		ideal += float64(grade) / math.Log2(float64(i+2))
	}
	if ideal > 0 {
		f.NDCG = dcg / ideal
	}
	return f
}

// mean is the mean over all questions.
func mean(all []figures) figures {
	var m figures
	for _, f := range all {
		m.NDCG += f.NDCG / float64(len(all))
		m.Recall += f.Recall / float64(len(all))
		m.MRR += f.MRR / float64(len(all))
	}
	return m
}

func standardError(all []figures) float64 {
	middle, squares := mean(all).NDCG, 0.0
	for _, f := range all {
		squares += (f.NDCG - middle) * (f.NDCG - middle)
	}
	n := float64(len(all))
	return math.Sqrt(squares/(n-1)) / math.Sqrt(n)
}

// difference is the change of nDCG@10 from a to b over the same questions.
type difference struct {
	Mean      float64
	Low, High float64 // 95 % interval of the resamples
	P         float64 // two-sided
}

// compare compares nDCG@10 of the same questions. It resamples them 10,000 times,
// with a fixed seed.
func compare(a, b []figures) difference {
	deltas := make([]float64, len(a))
	var d difference
	for i := range a {
		deltas[i] = b[i].NDCG - a[i].NDCG
		d.Mean += deltas[i] / float64(len(a))
	}
	const resamples = 10_000
	random := rand.New(rand.NewPCG(1, uint64(len(a))))
	means := make([]float64, resamples)
	below, above := 0, 0
	for i := range means {
		for range deltas {
			means[i] += deltas[random.IntN(len(deltas))] / float64(len(deltas))
		}
		if means[i] <= 0 {
			below++
		}
		if means[i] >= 0 {
			above++
		}
	}
	slices.Sort(means)
	d.Low, d.High = means[resamples*25/1000], means[resamples*975/1000]
	d.P = min(1, 2*float64(min(below, above)+1)/float64(resamples+1))
	return d
}

func (d difference) String() string {
	return fmt.Sprintf("%+.4f (%+.4f to %+.4f, p %.4f)", d.Mean, d.Low, d.High, d.P)
}

// holm reports which of several differences are significant at 5 %, corrected for
// multiple comparisons.
func holm(all []difference) []bool {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(all[i].P, all[j].P) })
	significant := make([]bool, len(all))
	for rank, i := range order {
		if all[i].P > 0.05/float64(len(all)-rank) {
			break
		}
		significant[i] = true
	}
	return significant
}
