package words

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync"
)

// Texts unpacks the texts of notes, each once.
type Texts struct {
	DB   *sql.DB
	seen map[int64]string
}

// Of returns a range of a note's text.
func (n *Texts) Of(ctx context.Context, note int64, start, stop int) (string, error) {
	text, ok := n.seen[note]
	if !ok {
		var packed []byte
		err := n.DB.QueryRowContext(ctx, `SELECT text FROM notes WHERE id = ?`, note).Scan(&packed)
		if err == nil {
			text, err = Unpack(packed)
		}
		if err != nil {
			return "", err
		}
		if n.seen == nil {
			n.seen = map[int64]string{}
		}
		n.seen[note] = text
	}
	if start < 0 || stop > len(text) || start > stop {
		return "", fmt.Errorf("unpack note: no bytes %d to %d in a text of %d", start, stop, len(text))
	}
	return strings.Clone(text[start:stop]), nil // a passage that is shown does not hold on to its note
}

// unpackers are reused: making one costs more than unpacking a note.
var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// Unpack returns the text of a note as the column text holds it.
func Unpack(packed []byte) (string, error) {
	r := unpackers.Get().(io.Reader) //nolint:forcetypeassert // there is nothing else in it
	defer unpackers.Put(r)
	var text bytes.Buffer
	text.Grow(3 * len(packed))
	err := r.(flate.Resetter).Reset(bytes.NewReader(packed), nil) //nolint:forcetypeassert // flate says that it is one
	if err == nil {
		_, err = text.ReadFrom(r)
	}
	if err != nil {
		return "", fmt.Errorf("unpack note: %w", err)
	}
	return text.String(), nil
}
