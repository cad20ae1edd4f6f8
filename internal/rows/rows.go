// Package rows goes through what a database query finds.
package rows

import (
	"context"
	"database/sql"
	"iter"
)

// Querier is a database, a connection of one or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Of runs a query and yields what scans each row, which is to be called once
// for each. An error of the query is what the last scan returns.
func Of(ctx context.Context, db Querier, query string, args ...any) iter.Seq[func(into ...any) error] {
	return func(yield func(func(...any) error) bool) {
		found, err := db.QueryContext(ctx, query, args...)
		if err == nil {
			defer found.Close()
			scan := found.Scan
			for found.Next() {
				if !yield(scan) {
					return
				}
			}
			err = found.Err()
		}
		if err != nil {
			yield(func(...any) error { return err })
		}
	}
}
