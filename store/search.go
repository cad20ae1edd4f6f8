package store

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/pattern"
	"lifehub/internal/rows"
	"lifehub/internal/wrap"
)

// Search finds the messages that hold every word of a search, of whatever
// branch, the newest first. A word is found by its beginning, words in quotes
// only side by side and whole; case and accents don't count. A search without
// a word finds nothing.
func (s *Store) Search(ctx context.Context, search string, limit int) (_ []agent.Hit, err error) {
	defer wrap.Error(&err, "search conversations")
	wanted := phrases(search)
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := s.indexWords(ctx); err != nil {
		return nil, err
	}
	return rows.All(ctx, s.file.Read, func(scan rows.Scan) (h agent.Hit, err error) {
		var text string
		err = scan(&h.Conversation, &h.Title, &h.Turn, &h.Role, &text, rows.Milliseconds(&h.Time))
		h.Excerpt, h.From, h.To = excerpt(text, wanted[0])
		return h, err
	}, `SELECT m.conversation, c.title, m.turn, m.role, m.text, m.created
		FROM message_words w JOIN messages m ON m.id = w.rowid JOIN conversations c ON c.id = m.conversation
		WHERE message_words MATCH ? ORDER BY w.rowid DESC LIMIT ?`, match(wanted), limit)
}

// indexBatch is how many messages one write adds to the word index, so that
// others who want to write wait for milliseconds.
const indexBatch = 500

// indexWords adds to the word index what was written since it was last used.
func (s *Store) indexWords(ctx context.Context) error {
	for {
		var waiting int
		if err := s.file.Read.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM unindexed LIMIT 1)`).Scan(&waiting); err != nil || waiting == 0 {
			return err
		}
		if err := s.file.Update(ctx, func(tx *sql.Tx) error { return indexSome(ctx, tx) }); err != nil {
			return err
		}
	}
}

func indexSome(ctx context.Context, tx *sql.Tx) error {
	texts := map[int64]string{}
	for scan := range rows.Of(ctx, tx, `SELECT u.message, coalesce(m.text, '') FROM unindexed u LEFT JOIN messages m ON m.id = u.message LIMIT ?`, indexBatch) {
		var id int64
		var text string
		if err := scan(&id, &text); err != nil {
			return err
		}
		texts[id] = text
	}
	for id, text := range texts {
		for _, change := range []struct {
			statement string
			args      []any
		}{
			{`DELETE FROM message_words WHERE rowid = ?`, []any{id}},
			{`INSERT INTO message_words (rowid, words) VALUES (?, ?)`, []any{id, indexed(text)}},
			{`DELETE FROM unindexed WHERE message = ?`, []any{id}},
		} {
			if _, err := tx.ExecContext(ctx, change.statement, change.args...); err != nil {
				return err
			}
		}
	}
	return nil
}

// excerptAround is how many bytes of a message stand on each side of what was found.
const excerptAround = 70

// excerpt is one line of a text around a phrase, and where in it the phrase is.
func excerpt(text string, p phrase) (line string, from, to int) {
	from, to = p.find(cut(text))
	begin, end := max(0, from-excerptAround), min(len(text), to+excerptAround)
	for begin > 0 && begin < from && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	before, found, after := oneLine(text[begin:from]), oneLine(text[from:to]), oneLine(text[to:end])
	if begin > 0 {
		before = "…" + before
	}
	if end < len(text) {
		after += "…"
	}
	before = strings.TrimLeft(before, " ")
	return before + found + after, len(before), len(before) + len(found)
}

var blanks = pattern.Lazy(`[\s\p{Z}]+`)

// oneLine makes a space of each run of white space.
func oneLine(text string) string { return blanks.ReplaceAllString(text, " ") }
