package rag

import (
	"context"
	"fmt"

	"lifehub/internal/files"
)

// Titles returns the title of each indexed note by its path.
func (x *Index) Titles(ctx context.Context) (map[string]string, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return nil, fmt.Errorf("read titles: %w", err)
	}
	defer g.release() //nolint:errcheck // it was only read
	titles := map[string]string{}
	for scan := range files.Rows(ctx, g.db, `SELECT path, title FROM notes`) {
		var path, title string
		if err := scan(&path, &title); err != nil {
			return nil, fmt.Errorf("read titles: %w", err)
		}
		titles[path] = title
	}
	return titles, nil
}
