package ollama

import (
	"context"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"lifehub/llm"
)

// Embeddings are the embedding models that are used without being set, the best first.
var Embeddings = []string{"embeddinggemma", "qwen3-embedding", "bge-m3", "nomic-embed-text-v2-moe", "nomic-embed-text"}

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
	listed, err := o.list(ctx)
	if err != nil {
		return nil, err
	}
	wanted, same := []string{o.settings.Embedding}, llm.SameModel
	if o.settings.Embedding == "" {
		wanted, same = Embeddings, ofAnySize
		o.mu.Lock()
		kept := modelOf(o.embedded)
		o.mu.Unlock()
		if slices.ContainsFunc(listed, func(m api.ListModelResponse) bool { return m.Name == kept }) {
			wanted, same = []string{kept}, llm.SameModel
		}
	}
	for _, model := range wanted {
		for _, m := range listed {
			if !same(m.Name, model) {
				continue
			}
			digest := strings.TrimPrefix(m.Digest, "sha256:")
			e := &embedder{ollama: o, model: m.Name, name: prefix + m.Name + "@" + digest[:min(12, len(digest))]}
			if info, err := o.show(ctx, m.Name); err == nil {
				e.window = info.Context
				if info.Preferred > 0 {
					e.window = min(info.Context, info.Preferred)
				}
			}
			o.mu.Lock()
			o.embedded = e.name // the notes are indexed with it from now on
			o.mu.Unlock()
			return e, nil
		}
	}
	return nil, &llm.NotFoundError{Model: wanted[0]}
}

// prefix begins the names of embedders.
const prefix = "ollama/"

// modelOf returns the model of an embedder, by its name; "" if it is none of Ollama.
func modelOf(embedder string) string {
	model, ok := strings.CutPrefix(embedder, prefix)
	if !ok {
		return ""
	}
	model, _, _ = strings.Cut(model, "@")
	return model
}

func ofAnySize(name, model string) bool { return strings.HasPrefix(name, model+":") }

// Better returns the best of [Embeddings] that is installed; "" if the embedder is that one, or none
// of Ollama.
func Better(embedder string, installed []llm.Info) string {
	now := modelOf(embedder)
	if now == "" {
		return ""
	}
	for _, model := range Embeddings {
		if ofAnySize(now, model) {
			return ""
		}
		if slices.ContainsFunc(installed, func(m llm.Info) bool { return ofAnySize(m.Name, model) }) {
			return model
		}
	}
	return ""
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
