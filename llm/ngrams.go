package llm

import (
	"context"
	"math"

	"lifehub/internal/text"
)

// Ngrams embeds texts without a model: each word and its character n-grams are
// hashed to a direction of the vector. Texts that share words, or parts of
// words (run, runs, running), are alike; meaning is beyond it.
type Ngrams struct{}

// ngramDim keeps a hundred thousand passages at 200 MB and collisions rare:
// a passage of 150 words has about 1,000 n-grams.
const ngramDim = 512

// Name implements [Embedder]. A change of anything below needs a new one.
func (Ngrams) Name() string { return "offline/ngram-512-v2" }

// Embed implements [Embedder]. A text without letters or digits gets a vector
// of its own, so that none is zero.
func (Ngrams) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		vectors[i] = ngramVector(text)
	}
	return vectors, nil
}

// The weights of a word's features. The word itself says most; n-grams of 3 to
// 5 letters carry its stem.
const (
	wordWeight  = 1.0
	ngramWeight = 0.35
	stopWeight  = 0.1 // words such as "the" say little about a passage
)

func ngramVector(passage string) []float32 {
	counts, in := make(map[string]float64, len(passage)/12), text.Language(passage)
	for word := range text.Words(passage) {
		counts[text.Fold(word.Text)]++
	}
	// Sums of floats depend on their order, and a map has none; sums of
	// fixed-point numbers do not.
	var sums [ngramDim]int64
	add := func(hash uint64, weight float64) {
		value := int64(weight * (1 << 20))
		if hash>>63 == 1 {
			value = -value
		}
		sums[hash>>20%ngramDim] += value
	}
	var bounded []rune
	for word, count := range counts {
		weight := math.Sqrt(count) // a word said often is not that much more
		if text.StopWord(word, in) {
			weight *= stopWeight
		}
		bounded = append(append(append(bounded[:0], '^'), []rune(word)...), '$')
		whole := uint64(hashSeed)
		for _, r := range bounded {
			whole = hashRune(whole, r)
		}
		add(mixed(whole), wordWeight*weight)
		if text.Unspaced(bounded[1]) {
			continue // a pair of characters is as short as an n-gram already
		}
		for i := range bounded {
			h := uint64(hashSeed)
			for n, r := range bounded[i:min(i+5, len(bounded))] {
				if h = hashRune(h, r); n >= 2 {
					add(mixed(h)*31, ngramWeight*weight)
				}
			}
		}
	}
	var norm float64
	for _, sum := range sums {
		norm += float64(sum) * float64(sum)
	}
	vector := make([]float32, ngramDim)
	if norm == 0 {
		vector[0] = 1
		return vector
	}
	norm = math.Sqrt(norm)
	for i, sum := range sums {
		vector[i] = float32(float64(sum) / norm)
	}
	return vector
}

// The hash of a word or n-gram is FNV-1a over its runes, its bits mixed once more
// so that all are good.
const hashSeed = 14695981039346656037

func hashRune(h uint64, r rune) uint64 { return (h ^ uint64(r)) * 1099511628211 }

func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}
