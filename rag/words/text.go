package words

import (
	"bytes"
	"compress/flate"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"lifehub/internal/files"
)

// Texts loads the texts of notes, each once.
type Texts struct {
	DB   files.Querier
	seen map[int64]string
}

// Load loads several notes at once, which is faster than one by one.
func (n *Texts) Load(ctx context.Context, notes ...int64) error {
	notes = slices.DeleteFunc(notes, func(note int64) bool { _, ok := n.seen[note]; return ok })
	if len(notes) == 0 {
		return nil
	}
	list, err := json.Marshal(notes)
	if err != nil {
		return err
	}
	for scan := range files.Rows(ctx, n.DB, `SELECT id, text FROM notes WHERE id IN (SELECT value FROM json_each(?))`,
		string(list)) {
		var note int64
		var packed sql.RawBytes
		if err := scan(&note, &packed); err != nil {
			return err
		}
		text, err := Unpack(packed)
		if err != nil {
			return err
		}
		if n.seen == nil {
			n.seen = map[int64]string{}
		}
		n.seen[note] = text
	}
	return nil
}

// Whole returns a note's text.
func (n *Texts) Whole(ctx context.Context, note int64) (string, error) {
	err := n.Load(ctx, note)
	return n.seen[note], err
}

// Of returns a range of a note's text.
func (n *Texts) Of(ctx context.Context, note int64, start, stop int) (string, error) {
	text, err := n.Whole(ctx, note)
	if err != nil {
		return "", err
	}
	if start < 0 || stop > len(text) || start > stop {
		return "", fmt.Errorf("unpack note: no bytes %d to %d in a text of %d", start, stop, len(text))
	}
	return strings.Clone(text[start:stop]), nil // copied, so that a shown passage does not keep its note in memory
}

// unpackers are reused, since creating one costs more than unpacking a note.
var unpackers = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// Unpack returns the text of a note from the column text.
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
