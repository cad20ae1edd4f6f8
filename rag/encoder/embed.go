package encoder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lifehub/llm"
	"lifehub/rag/vectors"
)

// questionTime limits the embedding of a question, since a keyword answer now is better
// than a hybrid one after a minute.
const questionTime = 15 * time.Second

// Question returns the normalised vector of a question.
func Question(ctx context.Context, embedder llm.Embedder, question string) ([]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, questionTime)
	defer cancel()
	embeddings, err := embedder.Embed(ctx, []string{modelByName(embedder.Name()).query + question})
	if err != nil {
		return nil, err
	}
	if len(embeddings) != 1 {
		return nil, fmt.Errorf("the embedder returned %d vectors for one question", len(embeddings))
	}
	return vectors.Normalise(embeddings[0])
}

// Texts embeds the texts of keys. Those without a usable vector, all if the batch is
// rejected, are tried again one by one, and then left out. The error means that the
// embedder does not work at all.
func Texts(ctx context.Context, embedder llm.Embedder, dimension int, keys []vectors.Key,
	texts []string,
) ([]vectors.Key, [][]float32, error) {
	prefixed := make([]string, len(texts))
	prefix := modelByName(embedder.Name()).document
	for i, text := range texts {
		prefixed[i] = prefix + text
	}
	embeddings, err := embedder.Embed(ctx, prefixed)
	if err == nil && len(embeddings) != len(texts) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(embeddings), len(texts))
	}
	if err != nil {
		if ctx.Err() != nil || errors.Is(err, llm.ErrUnreachable) || isNotFound(err) {
			return nil, nil, err
		}
		embeddings = make([][]float32, len(texts))
	}
	var good []vectors.Key
	var units [][]float32
	for i, vector := range embeddings {
		unit, err := vectors.Normalise(vector)
		if dimension == 0 && err == nil {
			dimension = len(unit)
		}
		if err != nil || len(unit) != dimension {
			if len(texts) == 1 {
				return nil, nil, nil
			}
			k, v, err := Texts(ctx, embedder, dimension, keys[i:i+1], texts[i:i+1])
			if err != nil {
				return nil, nil, err
			}
			if good, units = append(good, k...), append(units, v...); dimension == 0 && len(v) > 0 {
				dimension = len(v[0])
			}
			continue
		}
		good, units = append(good, keys[i]), append(units, unit)
	}
	return good, units, nil
}

func isNotFound(err error) bool {
	var notFound *llm.NotFoundError
	var unsupported *llm.UnsupportedError
	return errors.As(err, &notFound) || errors.As(err, &unsupported)
}
