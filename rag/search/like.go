package search

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/rag/vectors"
)

// maxSimilar is the number of nearest notes that are returned.
const maxSimilar = 5

// Similar finds the notes nearest to a note by the mean of its passages' vectors, except
// those at the paths in without, and returns how near each is, from 0 to 1 for the note
// itself. It uses stored vectors only; why is the reason if there are none.
func Similar(ctx context.Context, in Vault, path string, without []string) (near map[string]float64, why string,
	err error,
) {
	s := newSearch(in, Query{Without: map[string][]string{in.Dir: without}})
	if err := s.narrow(ctx); err != nil {
		return nil, "", err
	}
	m, _ := s.collection()
	if m == nil {
		return nil, s.why, nil
	}
	keys, err := s.keys(ctx, `note = (SELECT id FROM notes WHERE path = ?)`, path)
	if err != nil {
		return nil, "", err
	}
	var own []vectors.Key
	for key := range keys {
		own = append(own, key)
	}
	// the last bits of a sum depend on its order
	slices.SortFunc(own, func(a, b vectors.Key) int { return bytes.Compare(a[:], b[:]) })
	parts, err := m.Get(ctx, own)
	if err != nil {
		return nil, err.Error(), ctx.Err()
	}
	mean := vectors.Mean(parts)
	if mean == nil {
		return nil, "it is not embedded yet", nil
	}
	hits, err := s.nearestTo(ctx, m, mean, nearCandidates+len(own))
	if err != nil {
		return nil, err.Error(), ctx.Err()
	}
	args := make([]any, 0, len(hits))
	for id := range hits {
		args = append(args, id)
	}
	near, scale, average := map[string]float64{}, scaled(hits), 0.0
	for _, n := range scale {
		average += n / float64(len(scale))
	}
	for scan := range files.Rows(ctx, s.db, `SELECT p.id, n.path FROM passages p JOIN notes n ON n.id = p.note
		WHERE p.id IN (`+marks(len(args))+`)`, args...) {
		var id int64
		var other string
		if err := scan(&id, &other); err != nil {
			return nil, "", err
		}
		if n := scale[id]; n > average && other != path {
			near[other] = max(near[other], n)
		}
	}
	order := slices.SortedFunc(maps.Keys(near), func(a, b string) int {
		return cmp.Or(cmp.Compare(near[b], near[a]), strings.Compare(a, b))
	})
	for _, other := range order[min(maxSimilar, len(order)):] {
		delete(near, other)
	}
	return near, "", nil
}

// NotesContaining returns the paths of notes with a passage that contains a phrase, as stemmed
// by any language of the vault.
func NotesContaining(ctx context.Context, in Vault, phrase string, limit int) ([]string, error) {
	w, err := readWords(ctx, in.DB, `"`+strings.ReplaceAll(phrase, `"`, " ")+`"`)
	if err != nil || len(w.required) == 0 {
		return nil, err
	}
	return files.Column[string](ctx, in.DB, `SELECT DISTINCT n.path FROM passages p JOIN notes n ON n.id = p.note
		WHERE p.id IN (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?) ORDER BY n.path`, w.match, limit)
}
