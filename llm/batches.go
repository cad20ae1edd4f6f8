package llm

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// batchBytes bounds the total size of the texts in one embedding request, so that
// it finishes well within batchTimeout even on a slow machine.
const (
	batchBytes   = 64 << 10
	batchTimeout = 120 * time.Second
)

// InBatches embeds texts in batches of at most `most` texts. Each batch has a
// timeout and is retried, and the returned vectors are validated.
func InBatches(ctx context.Context, texts []string, most int,
	embed func(context.Context, []string) ([][]float32, error),
) ([][]float32, error) {
	vectors := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < most && (n == 0 || size+len(texts[n]) <= batchBytes) {
			size += len(texts[n])
			n++
		}
		batch := make([]string, n)
		for i, text := range texts[:n] {
			batch[i] = text
			if strings.TrimSpace(text) == "" {
				batch[i] = "." // servers reject or skip texts without tokens
			}
		}
		got, err := Again(ctx, func() ([][]float32, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, batchTimeout,
				fmt.Errorf("embed %d texts: no answer for %v", n, batchTimeout))
			defer cancel()
			got, err := embed(ctx, batch)
			if err != nil && context.Cause(ctx) != nil {
				err = context.Cause(ctx)
			}
			return got, err
		})
		if err != nil {
			return nil, err
		}
		if err := checkVectors(got, n, vectors); err != nil {
			return nil, err
		}
		vectors = append(vectors, got...)
		texts = texts[n:]
	}
	return vectors, nil
}

// checkVectors rejects vectors that would corrupt an index: missing ones, and
// those that have a different length, are zero, or contain NaN or infinities.
func checkVectors(got [][]float32, want int, before [][]float32) error {
	if len(got) != want {
		return fmt.Errorf("embed %d texts: the server returned %d vectors", want, len(got))
	}
	dim := len(got[0])
	if len(before) > 0 {
		dim = len(before[0])
	}
	for _, v := range got {
		if len(v) != dim || dim == 0 {
			return fmt.Errorf("embed texts: one model returned vectors of %d and %d dimensions", dim, len(v))
		}
		var norm float64
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
			return fmt.Errorf("embed texts: the server returned a zero or invalid vector")
		}
	}
	return nil
}
