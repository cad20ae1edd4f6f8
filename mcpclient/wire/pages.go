package wire

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxListed, maxPages and maxListing (in bytes) bound what is taken of
	// what a server lists of a kind.
	maxListed  = 500
	maxPages   = 100
	maxListing = 8 << 20
)

// ErrMore says that a list is good, but not whole.
var ErrMore = errors.New("it lists more than LifeHub takes")

// Pages asks for all pages of a list. With ErrMore it returns as much as it
// takes.
func Pages[T any](ask func(mcp.Cursor) ([]T, mcp.Cursor, error)) ([]T, error) {
	var list []T
	var cursor mcp.Cursor
	size := 0
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		page, next, err := ask(cursor)
		if err != nil {
			return nil, err
		}
		for _, item := range page {
			raw, _ := json.Marshal(item) // it came from JSON
			if size += len(raw); size > maxListing || len(list) == maxListed {
				return list, fmt.Errorf("%w: %d, or %d MiB", ErrMore, maxListed, maxListing>>20)
			}
			list = append(list, item)
		}
		if seen[next] {
			return list, nil
		}
		seen[next], cursor = true, next
	}
	return list, fmt.Errorf("%w: %d pages", ErrMore, maxPages)
}

// At is a request for the page at a cursor.
func At(cursor mcp.Cursor) (request mcp.PaginatedRequest) {
	request.Params.Cursor = cursor
	return request
}
