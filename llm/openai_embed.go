package llm

import (
	"context"
	"fmt"
	"net/http"
)

// openAIBatch is the most texts of one request that all such servers take.
const openAIBatch = 64

type openAIEmbedder struct {
	openai *OpenAI
	model  string
}

// Embedder implements [Provider]. Without a setting for the model notes are
// embedded here, since no name can be guessed.
func (o *OpenAI) Embedder(context.Context) (Embedder, error) {
	if o.settings.Embedding == "" {
		return Ngrams{}, nil
	}
	return &openAIEmbedder{o, o.settings.Embedding}, nil
}

// Name implements [Embedder]. The protocol tells no version.
func (e *openAIEmbedder) Name() string { return "openai/" + e.model }

// Embed implements [Embedder].
func (e *openAIEmbedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	return inBatches(ctx, texts, openAIBatch, func(ctx context.Context, batch []string) ([][]float32, error) {
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
				return nil, fmt.Errorf("embed texts: the server gave vector number %d of %d", d.Index, len(vectors))
			}
			vectors[d.Index] = d.Embedding
		}
		return vectors, nil
	})
}
