package mcpclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/mark3labs/mcp-go/client"
)

const (
	// maxListed and maxListing (in bytes) bound the items of one kind that are
	// accepted from a server.
	maxListed  = 500
	maxListing = 8 << 20
)

// errMore reports that a list is valid but was truncated.
var errMore = errors.New("the server lists more than LifeHub accepts")

// Listed collects a server's items of one kind from all pages. With errMore it
// returns the items within the limits.
func Listed[T any](items iter.Seq2[T, error]) (list []T, err error) {
	size := 0
	for item, err := range items {
		if errors.Is(err, client.ErrRepeatedListCursor) { // some servers start again after the last page
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		raw, _ := json.Marshal(item) // always encodable, as it was decoded from JSON
		if size += len(raw); size > maxListing || len(list) == maxListed {
			return list, fmt.Errorf("%w: %d, or %d MiB", errMore, maxListed, maxListing>>20)
		}
		list = append(list, item)
	}
	return list, nil
}
