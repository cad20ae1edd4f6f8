package openai

import (
	"context"
	"fmt"
	"net/http"

	"lifehub/llm"
)

// batchTexts is the largest batch that all servers of this kind accept.
const batchTexts = 64

type embedder struct {
	openai *Provider
	model  string
}

// Embedder implements [llm.Provider]. It returns nil if the settings name no
// model, since there is no default.
func (o *Provider) Embedder(context.Context) (llm.Embedder, error) {
	if o.settings.Embedding == "" || o.settings.Embedding == llm.NoEmbedding {
		return nil, nil
	}
	return &embedder{o, o.settings.Embedding}, nil
}

// Name implements [llm.Embedder]. The protocol reports no version.
func (e *embedder) Name() string { return "openai/" + e.model }

// Embed implements [llm.Embedder].
func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return llm.InBatches(ctx, texts, batchTexts, func(ctx context.Context, batch []string) ([][]float32, error) {
		body := map[string]any{"model": e.model, "input": batch, "encoding_format": "float"}
		var answer struct {
			Data []struct {
				Index     int       `json:"index"`
				Embedding []float32 `json:"embedding"`
			} `json:"data"`
		}
		if err := e.openai.roundTrip(ctx, http.MethodPost, "embeddings", body, &answer); err != nil {
			return nil, missing(err, e.model)
		}
		vectors := make([][]float32, len(batch))
		for _, d := range answer.Data {
			if d.Index < 0 || d.Index >= len(vectors) || vectors[d.Index] != nil {
				return nil, fmt.Errorf("embed texts: the server returned a vector with index %d for %d texts", d.Index,
					len(vectors))
			}
			vectors[d.Index] = d.Embedding
		}
		return vectors, nil
	})
}
