package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/mark3labs/mcp-go/client"
)

const (
	// maxListed and maxListing (in bytes) bound what is taken of what a server
	// lists of a kind.
	maxListed  = 500
	maxListing = 8 << 20
)

// ErrMore says that a list is good, but not whole.
var ErrMore = errors.New("it lists more than LifeHub takes")

// Listed is what a server lists of a kind, on all its pages. With ErrMore it
// returns as much as it takes.
func Listed[T any](items iter.Seq2[T, error]) (list []T, err error) {
	size := 0
	for item, err := range items {
		if errors.Is(err, client.ErrRepeatedListCursor) { // some begin again after the last page
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		raw, _ := json.Marshal(item) // it came from JSON
		if size += len(raw); size > maxListing || len(list) == maxListed {
			return list, fmt.Errorf("%w: %d, or %d MiB", ErrMore, maxListed, maxListing>>20)
		}
		list = append(list, item)
	}
	return list, nil
}
