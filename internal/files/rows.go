package files

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"
)

// Querier is a *sql.DB, *sql.Conn or *sql.Tx.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Scan reads the current row.
type Scan = func(into ...any) error

// Rows runs a query and yields a function that scans the current row, which must be
// called once per row. Errors of the query are returned by the last scan.
func Rows(ctx context.Context, db Querier, query string, args ...any) iter.Seq[Scan] {
	return func(yield func(Scan) bool) {
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

// AllRows runs a query and returns the results of read for each row.
func AllRows[T any](ctx context.Context, db Querier, read func(Scan) (T, error), query string,
	args ...any,
) ([]T, error) {
	var all []T
	for scan := range Rows(ctx, db, query, args...) {
		one, err := read(scan)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// Column runs a query for one column and returns its values.
func Column[T any](ctx context.Context, db Querier, query string, args ...any) ([]T, error) {
	return AllRows(ctx, db, func(scan Scan) (value T, err error) { return value, scan(&value) }, query, args...)
}

// Milliseconds returns a scanner that converts milliseconds since 1970 to a time.
func Milliseconds(into *time.Time) sql.Scanner { return milliseconds{into} }

type milliseconds struct{ into *time.Time }

func (m milliseconds) Scan(value any) error {
	since, ok := value.(int64)
	if !ok {
		return fmt.Errorf("read a time: %v is not a number", value)
	}
	*m.into = time.UnixMilli(since)
	return nil
}
