package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"sync"

	"modernc.org/sqlite"

	"lifehub/agent"
	"lifehub/agent/fingerprint"
	"lifehub/internal/database"
	"lifehub/internal/wrap"
)

// mostPrints bounds the number of fingerprints of untrusted text: about 500 long
// pages. Those of written text are dropped last, otherwise the oldest first.
const mostPrints = 200_000

// Remember saves fingerprints of untrusted text. Those of text that was read or
// said are removed with the conversation; those of text that was written to notes
// remain, as the text does.
func (s *Store) Remember(ctx context.Context, u agent.Untrusted) (err error) {
	defer wrap.Error(&err, "save fingerprints of untrusted text")
	prints, err := json.Marshal(u.Prints)
	if err != nil || len(u.Prints) == 0 {
		return err
	}
	_, err = s.file.Write.ExecContext(ctx, `INSERT INTO untrusted (print, source, conversation, kind) SELECT value, ?2, ?3, ?4 FROM json_each(?1)
			WHERE ?4 <> 1 OR value NOT IN (SELECT print FROM untrusted WHERE kind = 3)
			ON CONFLICT (print, conversation) DO UPDATE SET kind = excluded.kind, source = excluded.source 
				WHERE excluded.kind = 2 OR excluded.kind = 0 AND untrusted.kind IN (1, 3);
		DELETE FROM untrusted WHERE id IN (SELECT id FROM untrusted ORDER BY kind = 2, id
			LIMIT max(0, (SELECT count(*) FROM untrusted) - ?5))`, string(prints), u.Source, u.Conversation, u.Kind, mostPrints)
	return err
}

// Sources returns the origins of texts with any of these fingerprints.
func (s *Store) Sources(ctx context.Context, prints []int64) (_ []string, err error) {
	defer wrap.Error(&err, "find the origin of a text")
	list, err := json.Marshal(prints)
	if err != nil || len(prints) == 0 {
		return nil, err
	}
	return database.Column[string](ctx, s.file.Read, `SELECT DISTINCT u.source FROM json_each(?) wanted JOIN untrusted u ON u.print = wanted.value AND u.kind <> 3
		WHERE EXISTS (SELECT 1 FROM untrusted) ORDER BY u.source`, string(list)) // usually there are none, and the list is not read
}

// Forget discards fingerprints of text that the model only said: it says the same
// where it has read nothing untrusted.
func (s *Store) Forget(ctx context.Context, prints []int64) (err error) {
	defer wrap.Error(&err, "forget common fingerprints")
	list, err := json.Marshal(prints)
	if err != nil || len(prints) == 0 {
		return err
	}
	_, err = s.file.Write.ExecContext(ctx, `UPDATE untrusted SET kind = 3, source = '' WHERE kind = 1 AND print IN (SELECT value FROM json_each(?))`, string(list))
	return err
}

// Outlive keeps the fingerprints of an exported conversation when the
// conversation is removed.
func (s *Store) Outlive(ctx context.Context, conversation string) (err error) {
	defer wrap.Error(&err, "keep fingerprints of conversation %s", conversation)
	_, err = s.file.Write.ExecContext(ctx, `UPDATE untrusted SET kind = 2 WHERE conversation = ? AND kind < 2`, conversation)
	return err
}

// registerFunctions makes fingerprints and words available to SQL in migrations.
var registerFunctions = sync.OnceValue(func() error {
	return errors.Join(
		register("fingerprints", func(text string) (string, error) {
			prints, err := json.Marshal(fingerprint.Of(text))
			return string(prints), err
		}),
		register("words_of", func(text string) (string, error) { return indexed(text), nil }))
})

func register(name string, function func(text string) (string, error)) error {
	return sqlite.RegisterDeterministicScalarFunction(name, 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, _ := args[0].(string)
		return function(text)
	})
}
