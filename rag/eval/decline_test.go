package eval

import (
	"cmp"
	"slices"
)

// Apart is how well a score tells questions that the notes answer from those
// that they don't: the chance that it is higher for one of the first than for
// one of the second (AUC). 0.5 is a coin.
func Apart(answerable, unanswerable []float64) float64 {
	if len(answerable) == 0 || len(unanswerable) == 0 {
		return 0.5
	}
	sorted := slices.Sorted(slices.Values(unanswerable))
	sum := 0.0
	for _, score := range answerable {
		below, _ := slices.BinarySearch(sorted, score)
		upTo, _ := slices.BinarySearchFunc(sorted, score, func(a, b float64) int {
			return cmp.Or(cmp.Compare(a, b), -1)
		})
		sum += float64(below+upTo) / 2
	}
	return sum / float64(len(answerable)*len(unanswerable))
}

// Declined is the share of scores below a threshold: of questions that would
// be declined there.
func Declined(scores []float64, threshold float64) float64 {
	below := 0
	for _, score := range scores {
		if score < threshold {
			below++
		}
	}
	return float64(below) / float64(max(1, len(scores)))
}

// ThresholdFor is the highest threshold at which the given share of the
// answerable questions is still answered.
func ThresholdFor(answerable []float64, share float64) float64 {
	sorted := slices.Sorted(slices.Values(answerable))
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int((1-share)*float64(len(sorted))+1e-9))]
}
