package llm

import (
	"context"
	"math"

	"lifehub/internal/text"
)

// Ngrams embeds texts without a model: each word and its character n-grams are
// hashed to dimensions of the vector. Texts that share words or parts of words
// (run, runs, running) are similar; it does not capture meaning.
type Ngrams struct{}

// ngramDim balances memory (200 MB for 100,000 passages) and hash collisions: a
// passage of 150 words has about 1,000 n-grams.
const ngramDim = 512

// Name implements [Embedder]. Any change to the vectors needs a new name.
func (Ngrams) Name() string { return "offline/ngram-512-v2" }

// Embed implements [Embedder]. Texts without letters or digits share a fixed
// nonzero vector.
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

// Weights of a word's features. The whole word counts most; n-grams of 3 to 5
// characters represent its stem.
const (
	wordWeight  = 1.0
	ngramWeight = 0.35
	stopWeight  = 0.1 // weight of stop words such as "the"
)

func ngramVector(passage string) []float32 {
	counts, in := make(map[string]float64, len(passage)/12), text.Language(passage)
	for word := range text.Words(passage) {
		counts[text.Fold(word.Text)]++
	}
	// Float sums depend on the order, and map iteration is random. Fixed-point
	// sums are deterministic.
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
		weight := math.Sqrt(count) // dampen repeated words
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
			continue // a word of two characters is no longer than its n-grams
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

// Words and n-grams are hashed with FNV-1a over their runes and a final mixing
// step that distributes the bits.
const hashSeed = 14695981039346656037

func hashRune(h uint64, r rune) uint64 { return (h ^ uint64(r)) * 1099511628211 }

func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}
