package rag

import (
	"context"
	"errors"
	"slices"

	"lifehub/rag/words"
)

// Without returns those of lines that are in no note of the user's own, as far as
// the index knows them. Lines are compared by [text.LineKey].
func (x *Index) Without(ctx context.Context, lines []string) ([]string, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return lines, err
	}
	var failed error
	rest := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		held, err := words.Holds(ctx, g.db, line)
		failed = errors.Join(failed, err)
		return held && err == nil
	})
	return rest, errors.Join(failed, g.release())
}
