package store

import (
	"context"
	"database/sql"
	"regexp"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/internal/files"
)

// Search finds messages of a conversation, "" for all, that contain all words of
// the search, on any branch, newest first. Words match as prefixes; quoted phrases match whole adjacent
// words. Case and accents are ignored. A search without words finds nothing.
func (s *Store) Search(ctx context.Context, conversation, search string, limit int) (_ []agent.Hit, err error) {
	defer files.Wrap(&err, "search conversations")
	wanted := phrases(search)
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := s.indexWords(ctx); err != nil {
		return nil, err
	}
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (h agent.Hit, err error) {
		var text string
		err = scan(&h.Conversation, &h.Title, &h.Turn, &h.Role, &text, files.Milliseconds(&h.Time))
		h.Excerpt, h.From, h.To = excerpt(text, wanted[0])
		return h, err
	}, `SELECT m.conversation, c.title, m.turn, m.role, m.text, m.created
		FROM message_words w JOIN messages m ON m.id = w.rowid JOIN conversations c ON c.id = m.conversation
		WHERE message_words MATCH ? AND ? IN ('', m.conversation) ORDER BY w.rowid DESC
		LIMIT ?`, match(wanted), conversation, limit)
}

// indexBatch is the number of messages indexed per write transaction, so that
// other writers wait only for milliseconds.
const indexBatch = 500

// indexWords adds the messages written since the last search to the index.
func (s *Store) indexWords(ctx context.Context) error {
	for {
		var waiting int
		if err := s.file.Read.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM unindexed
			LIMIT 1)`).Scan(&waiting); err != nil || waiting == 0 {
			return err
		}
		if err := s.file.Update(ctx, func(tx *sql.Tx) error { return indexSome(ctx, tx) }); err != nil {
			return err
		}
	}
}

func indexSome(ctx context.Context, tx *sql.Tx) error {
	texts := map[int64]string{}
	for scan := range files.Rows(ctx, tx, `SELECT u.message, coalesce(m.text, '')
		FROM unindexed u LEFT JOIN messages m ON m.id = u.message LIMIT ?`, indexBatch) {
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

// excerptAround is the number of bytes shown on each side of a match.
const excerptAround = 70

// excerpt returns one line of text around a phrase, and the phrase's position in
// it.
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

var blanks = regexp.MustCompile(`[\s\p{Z}]+`)

// oneLine replaces each run of white space by a space.
func oneLine(text string) string { return blanks.ReplaceAllString(text, " ") }
