package words

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
)

// Writer writes notes in a transaction.
type Writer struct {
	Tx       *sql.Tx
	prepared map[string]*sql.Stmt // by its text; Tx closes them
	cut      []Term               // buffer for terms
}

// exec runs a prepared statement. Preparing takes longer than running most of them. It
// uses no context, for which the driver would start a goroutine each time.
func (w *Writer) exec(query string, args ...any) (sql.Result, error) {
	statement := w.prepared[query]
	if statement == nil {
		var err error
		if statement, err = w.Tx.PrepareContext(context.Background(), query); err != nil {
			return nil, err
		}
		if w.prepared == nil {
			w.prepared = map[string]*sql.Stmt{}
		}
		w.prepared[query] = statement
	}
	return statement.ExecContext(context.Background(), args...)
}

// MovedFrom returns the note that was at another path, and the keys of its passages,
// which are the same under the new path.
func (w *Writer) MovedFrom(ctx context.Context, from string) (id int64, keys []vectors.Key, err error) {
	if err := w.Tx.QueryRowContext(ctx, `SELECT id FROM notes WHERE path = ?`, from).Scan(&id); err != nil {
		return 0, nil, err
	}
	for scan := range files.Rows(ctx, w.Tx, `SELECT key FROM passages WHERE note = ? ORDER BY id`, id) {
		var raw []byte
		if err := scan(&raw); err != nil {
			return 0, nil, err
		}
		keys = append(keys, vectors.KeyOf(raw))
	}
	return id, keys, nil
}

// WriteNote indexes a note, replacing its earlier version. keys are those of its
// passages at an earlier path; nil: computed from the text.
func (w *Writer) WriteNote(id int64, note notes.Note, hash []byte, problem string, pieces []passage.Piece,
	keys []vectors.Key,
) error {
	if id != 0 {
		if err := w.RemoveNote(id); err != nil {
			return err
		}
	}
	if _, err := w.exec(`DELETE FROM skipped WHERE path = ?`, note.Path); err != nil {
		return err
	}
	tags, err := json.Marshal(note.Tags)
	if err != nil {
		return err
	}
	name, in := SpacedName(note.Path), text.Language(note.Text[passage.BodyStart(note.Text, note.BodyLine):])
	result, err := w.exec(`INSERT INTO notes
		(path, path_key, size, mtime, hash, title, title_key, name_key, date, tags, outside, copy_of, problem, language,
		text)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`,
		note.Path, text.Key(note.Path), note.Size, note.ModTime.UnixNano(), hash, note.Title,
		NameKey(note.Title), NameKey(name),
		note.Date.String(), string(tags), note.Untrusted, note.CopyOf, problem, string(in), compress(note.Text))
	if err != nil {
		return err
	}
	if id, err = result.LastInsertId(); err != nil {
		return err
	}
	if in != "" {
		if _, err := w.exec(`INSERT OR IGNORE INTO languages VALUES (?)`, string(in)); err != nil {
			return err
		}
	}
	for _, tag := range note.Tags {
		if _, err := w.exec(`INSERT OR IGNORE INTO tags VALUES (?, ?)`, tag, id); err != nil {
			return err
		}
	}
	for i, alias := range slices.Concat(note.IDs, note.Aliases) {
		name := ""
		if i < len(note.IDs) {
			name = alias
		}
		if _, err := w.exec(`INSERT OR IGNORE INTO aliases VALUES (?, ?, ?)`, NameKey(alias), id, name); err != nil {
			return err
		}
	}
	if err := w.writeLinks(id, note); err != nil {
		return err
	}
	for _, d := range note.Dates {
		if _, err := w.exec(`INSERT OR IGNORE INTO dates (note, line, day, until, end_line) VALUES (?,?,?,?,?)`,
			id, d.First, d.Span.From.Number(), d.Span.To.Number(), d.Last); err != nil {
			return err
		}
	}
	if err := w.writeDue(id, note); err != nil {
		return err
	}
	title := w.termsOf(in, note.Title+"\n"+name)
	for i, p := range pieces {
		k := passageKey(note.Title, headingsOf(p), note.Text[p.Start:p.End])
		if len(keys) == len(pieces) {
			k = keys[i]
		}
		if err := w.writePassage(id, note, in, title, p, i == 0, k); err != nil {
			return err
		}
	}
	return nil
}

// Day formats the day with a number.
func Day(number int64) string { return time.Unix(number*24*60*60, 0).UTC().Format(time.DateOnly) }

func headingsOf(p passage.Piece) string { return strings.Join(p.Heading, passage.Separator) }

// terms are the terms of a column as SQLite takes them, and their number.
type terms struct {
	words string
	count int
}

func (w *Writer) termsOf(in text.Lang, texts ...string) terms {
	w.cut = w.cut[:0]
	for _, s := range texts {
		w.cut = appendTerms(w.cut, s, in)
	}
	return terms{Join(w.cut), len(w.cut)}
}

// writePassage indexes a passage with its terms. The terms of front matter belong to
// the first passage.
func (w *Writer) writePassage(id int64, note notes.Note, in text.Lang, title terms, p passage.Piece,
	first bool, k vectors.Key,
) error {
	front := ""
	if first {
		front = note.Text[:p.Start]
	}
	heading, body := w.termsOf(in, headingsOf(p), front), w.termsOf(in, note.Text[p.Start:p.End])
	result, err := w.exec(`INSERT INTO passages (note, start, stop, line, end_line, heading, parents, listing, terms,
		key)
		VALUES (?,?,?,?,?,?,?,?,?,?)`, id, p.Start, p.End, p.Line, p.EndLine, headingsOf(p), p.Parents, p.Listing, title.count+heading.count+body.count, k[:])
	if err != nil {
		return err
	}
	passage, err := result.LastInsertId()
	if err != nil {
		return err
	}
	_, err = w.exec(`INSERT INTO words (rowid, title, heading, body) VALUES (?,?,?,?)`, passage, title.words,
		heading.words, body.words)
	return err
}

func (w *Writer) RemoveNote(id int64) error {
	for _, statement := range []string{
		`DELETE FROM words WHERE rowid IN (SELECT id FROM passages WHERE note = ?)`,
		`DELETE FROM passages WHERE note = ?`,
		`DELETE FROM tags WHERE note = ?`,
		`DELETE FROM aliases WHERE note = ?`,
		`DELETE FROM links WHERE note = ?`,
		`DELETE FROM dates WHERE note = ?`,
		`DELETE FROM due WHERE note = ?`,
		`DELETE FROM notes WHERE id = ?`,
	} {
		if _, err := w.exec(statement, id); err != nil {
			return err
		}
	}
	return nil
}

// Skip records a file that cannot be read as a note, so that it is not read again until
// it changes. was is the row of its earlier version as a note; 0: none.
func (w *Writer) Skip(entry notes.Entry, was int64, reason string) error {
	if was != 0 {
		if err := w.RemoveNote(was); err != nil {
			return err
		}
	}
	_, err := w.exec(`INSERT OR REPLACE INTO skipped VALUES (?,?,?,?)`,
		entry.Path, entry.Size, entry.ModTime.UnixNano(), reason)
	return err
}

// SpacedName returns a note's file name with spaces between its words.
func SpacedName(notePath string) string {
	return wordsApart.Replace(notes.NameOf(notePath))
}

var wordsApart = strings.NewReplacer("-", " ", "_", " ")

// NameKey returns a title or file name in the form in which queries are compared with
// it.
func NameKey(name string) string { return Join(Terms(wordsApart.Replace(name), "")) }

// passageKey returns the key of a passage's embedded text.
func passageKey(title, heading, text string) vectors.Key {
	sum := sha256.Sum256([]byte(title + "\x00" + heading + "\x00" + text))
	sum[len(vectors.Key{})-1] = 0 // as in vectors that exist
	return vectors.KeyOf(sum[:])
}

// packers are reused, since creating one costs more than compressing a note.
var packers = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.BestSpeed)
	if err != nil {
		panic("compress to memory: " + err.Error()) // only an invalid level is an error
	}
	return w
}}

// compress compresses a note's text at the fastest level, since searches pay for
// decompression, which costs the same at any level.
func compress(text string) []byte {
	var b bytes.Buffer
	w := packers.Get().(*flate.Writer) //nolint:forcetypeassert // there is nothing else in it
	defer packers.Put(w)
	w.Reset(&b)
	_, err := w.Write([]byte(text))
	if err = errors.Join(err, w.Close()); err != nil {
		panic("compress to memory: " + err.Error()) // writing to memory cannot fail
	}
	return b.Bytes()
}
