package rag

import (
	"context"
	"fmt"
)

// Titles returns the title of each indexed note by its path.
func (x *Index) Titles(ctx context.Context) (map[string]string, error) {
	g, err := x.acquireSound()
	if err != nil {
		return nil, fmt.Errorf("read titles: %w", err)
	}
	defer g.release() //nolint:errcheck // it was only read
	rows, err := g.db.QueryContext(ctx, `SELECT path, title FROM notes`)
	if err != nil {
		return nil, fmt.Errorf("read titles: %w", err)
	}
	defer rows.Close() //nolint:errcheck // Err below tells
	titles := map[string]string{}
	for rows.Next() {
		var path, title string
		if err := rows.Scan(&path, &title); err != nil {
			return nil, fmt.Errorf("read titles: %w", err)
		}
		titles[path] = title
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read titles: %w", err)
	}
	return titles, nil
}
