// Package eval measures how well questions made from a user's own notes find these notes,
// with a paired bootstrap to distinguish differences from chance. Its tests measure the
// search on public benches. Start with [AskOwn].
package eval

import (
	"math/rand/v2"
	"slices"
)

// Difference is the change of nDCG@10 from a to b over the same questions.
type Difference struct {
	Mean      float64
	Low, High float64 // 95 % interval of the resamples
	P         float64 // two-sided
}

// Compare compares nDCG@10 of the same questions. It resamples them 10,000 times,
// with a fixed seed.
func Compare(a, b []float64) Difference {
	deltas := make([]float64, len(a))
	var d Difference
	for i := range a {
		deltas[i] = b[i] - a[i]
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
