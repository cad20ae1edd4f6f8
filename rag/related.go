package rag

import (
	"context"
	"fmt"

	"lifehub/llm"
	"lifehub/rag/search"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

// Related are the notes that belong to a note.
type Related struct {
	Path  string        `json:"note"`
	Notes []RelatedNote `json:"related"`       // never nil
	Why   string        `json:"why,omitempty"` // why nearness took no part; "": it did
}

// Related finds the notes that belong to the note at a path: by links, tags and
// mentions, and by nearness where there is an embedder.
func (x *Index) Related(ctx context.Context, path string, limit int) (Related, error) {
	g, err := x.acquireRepaired(ctx)
	if err != nil {
		return Related{}, fmt.Errorf("find related notes: %w", words.Explain(err))
	}
	defer g.release() //nolint:errcheck // it was only read
	r := Related{Path: path, Notes: []RelatedNote{}}
	found, why, err := findRelated(ctx, search.Vault{
		DB: g.db, Dir: x.options.Vault, Size: x.options.Size, Letters: &x.letters,
		Meaning: func() (vectors.Collection, llm.Embedder, error) { return x.loadMeaning() },
	}, path, limit)
	if err != nil {
		return r, fmt.Errorf("find related notes: %w", words.Explain(err))
	}
	r.Notes, r.Why = append(r.Notes, found...), why
	return r, nil
}
