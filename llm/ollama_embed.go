package llm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/ollama/ollama/api"
)

// DefaultEmbedding is small, good and of a licence that lets everybody use it.
const DefaultEmbedding = "nomic-embed-text"

// A batch of texts is bounded by both: a request should end well within the
// time that is waited for it, on a slow machine too.
const (
	batchTexts = 32
	batchBytes = 64 << 10
)

// ollamaEmbedder turns texts into vectors on an Ollama server.
type ollamaEmbedder struct {
	ollama *Ollama
	model  string
	name   string
	window int // tokens of a text that the model reads; 0: not known
}

// Embedder implements [Provider]. The name of the embedder holds the digest of
// the model, so that vectors of another version do not mix with them.
func (o *Ollama) Embedder(ctx context.Context) (Embedder, error) {
	model := cmp.Or(o.settings.Embedding, DefaultEmbedding)
	listed, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range listed {
		if sameModel(m.Name, model) {
			digest := strings.TrimPrefix(m.Digest, "sha256:")
			e := &ollamaEmbedder{ollama: o, model: m.Name, name: "ollama/" + m.Name + "@" + digest[:min(12, len(digest))]}
			if info, err := o.show(ctx, m.Name); err == nil {
				e.window = info.Context
				if info.Preferred > 0 {
					e.window = min(info.Context, info.Preferred)
				}
			}
			return e, nil
		}
	}
	return nil, &NotFoundError{Model: model}
}

// Name implements [Embedder].
func (e *ollamaEmbedder) Name() string { return e.name }

// Window is how many tokens of a text the model reads; 0: not known.
func (e *ollamaEmbedder) Window() int { return e.window }

// Embed implements [Embedder]. A text longer than the model's window is
// embedded by its beginning.
func (e *ollamaEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return inBatches(ctx, texts, batchTexts, func(ctx context.Context, batch []string) ([][]float32, error) {
		req := &api.EmbedRequest{Model: e.model, Input: batch}
		if keep := e.ollama.settings.KeepAlive; keep > 0 {
			req.KeepAlive = &api.Duration{Duration: keep}
		}
		res, err := e.ollama.client.Embed(ctx, req)
		if err != nil {
			return nil, e.ollama.explain(err, e.model)
		}
		return res.Embeddings, nil
	})
}

// inBatches embeds texts a batch at a time, each with a bound on time and with
// retries, and checks what comes back.
func inBatches(ctx context.Context, texts []string, most int, embed func(context.Context, []string) ([][]float32, error)) ([][]float32, error) {
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
				batch[i] = "." // servers refuse a text without tokens, or skip it
			}
		}
		got, err := again(ctx, func() ([][]float32, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, firstTokenTimeout, fmt.Errorf("embed %d texts: no answer for %v", n, firstTokenTimeout))
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

// checkVectors refuses what would spoil an index: a missing vector, one of
// another length, one that is zero or no number.
func checkVectors(got [][]float32, want int, before [][]float32) error {
	if len(got) != want {
		return fmt.Errorf("embed %d texts: the server gave %d vectors", want, len(got))
	}
	dim := len(got[0])
	if len(before) > 0 {
		dim = len(before[0])
	}
	for _, v := range got {
		if len(v) != dim || dim == 0 {
			return fmt.Errorf("embed texts: vectors of %d and of %d numbers from one model", dim, len(v))
		}
		var norm float64
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		if norm == 0 || math.IsNaN(norm) || math.IsInf(norm, 0) {
			return fmt.Errorf("embed texts: the server gave a vector without direction")
		}
	}
	return nil
}
