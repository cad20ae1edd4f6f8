package ollama

import (
	"cmp"
	"context"
	"strings"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// DefaultEmbedding is small, good, and has a permissive licence.
const DefaultEmbedding = "nomic-embed-text"

// batchTexts is the number of texts per embedding request.
const batchTexts = 32

// embedder turns texts into vectors on an Ollama server.
type embedder struct {
	ollama *Provider
	model  string
	name   string
	window int // tokens of a text that the model reads; 0: unknown
}

// Embedder implements [llm.Provider]. The embedder's name includes the digest of
// the model, so that vectors of different versions are never mixed.
func (o *Provider) Embedder(ctx context.Context) (llm.Embedder, error) {
	if o.settings.Embedding == llm.NoEmbedding {
		return nil, nil
	}
	model := cmp.Or(o.settings.Embedding, DefaultEmbedding)
	listed, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range listed {
		if llm.SameModel(m.Name, model) {
			digest := strings.TrimPrefix(m.Digest, "sha256:")
			e := &embedder{ollama: o, model: m.Name, name: "ollama/" + m.Name + "@" + digest[:min(12, len(digest))]}
			if info, err := o.show(ctx, m.Name); err == nil {
				e.window = info.Context
				if info.Preferred > 0 {
					e.window = min(info.Context, info.Preferred)
				}
			}
			return e, nil
		}
	}
	return nil, &llm.NotFoundError{Model: model}
}

// Name implements [llm.Embedder].
func (e *embedder) Name() string { return e.name }

// Window returns how many tokens of a text the model reads; 0 means unknown.
func (e *embedder) Window() int { return e.window }

// Embed implements [llm.Embedder]. A text longer than the model's window is
// truncated.
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return llm.InBatches(ctx, texts, batchTexts, func(ctx context.Context, batch []string) ([][]float32, error) {
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
