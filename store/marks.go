package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"modernc.org/sqlite"

	"lifehub/agent"
	"lifehub/internal/files"
	"lifehub/internal/text"
)

// origin is an agent.Origin in a column.
type origin struct{ Origin agent.Origin }

// Value encodes it as JSON.
func (o origin) Value() (driver.Value, error) {
	raw, err := json.Marshal(o.Origin)
	return string(raw), err
}

// Scan decodes what Value returned.
func (o *origin) Scan(value any) error {
	raw, ok := value.(string)
	if !ok {
		return fmt.Errorf("an origin is %T", value)
	}
	return json.Unmarshal([]byte(raw), &o.Origin)
}

// SaveMarks saves the keys of lines in the notes that came from a source outside
// (see [text.LineKey]). They are never removed.
func (s *Store) SaveMarks(ctx context.Context, source string, keys []int64) (err error) {
	defer files.Wrap(&err, "mark lines from %s", source)
	list, err := json.Marshal(keys)
	if err != nil || len(keys) == 0 {
		return err
	}
	_, err = s.file.Write.ExecContext(ctx, `INSERT OR IGNORE INTO marks (line, source) SELECT value, ?2
		FROM json_each(?1)`, string(list), source)
	return err
}

// MarkedBy returns the sources of the lines with any of these keys.
func (s *Store) MarkedBy(ctx context.Context, keys []int64) (_ []string, err error) {
	defer files.Wrap(&err, "find where lines came from")
	list, err := json.Marshal(keys)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return files.Column[string](ctx, s.file.Read, `SELECT DISTINCT m.source FROM json_each(?) wanted
		JOIN marks m ON m.line = wanted.value
		WHERE EXISTS (SELECT 1 FROM marks)
		ORDER BY m.source`, string(list)) // usually there are none, and the list is not read
}

// registerFunctions makes what migrations need available to SQL.
var registerFunctions = sync.OnceValue(func() error {
	return errors.Join(
		// one for each conversation is enough now
		register("fingerprints", func(string) (string, error) { return "[0]", nil }),
		register("line_keys", keysWritten),
		register("words_of", func(text string) (string, error) { return indexed(text), nil }))
})

func register(name string, function func(text string) (string, error)) error {
	return sqlite.RegisterDeterministicScalarFunction(name, 1,
		func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
			text, _ := args[0].(string)
			return function(text)
		})
}

// keysWritten returns, as JSON, the keys of the lines that a journalled call was to
// write: those in its arguments, except what it replaced and where.
func keysWritten(input string) (string, error) {
	var given map[string]any
	if json.Unmarshal([]byte(input), &given) != nil {
		return "[]", nil // it was not run
	}
	keys := []int64{}
	for name, value := range given {
		if written, ok := value.(string); ok && !slices.Contains([]string{"old_text", "path", "note", "name"}, name) {
			keys = append(keys, text.LineKeys(strings.Split(written, "\n"))...)
		}
	}
	raw, err := json.Marshal(keys)
	return string(raw), err
}
