package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/files"
)

// Similar finds archived exchanges that share words with a question or have
// similar vectors: at most q.Limit of each kind, in unspecified order. It omits
// exchanges that are still in the window. See docs/design/memory.md.
func (s *Store) Similar(ctx context.Context, q agent.MemoryQuery) (_ []agent.Recollection, err error) {
	defer files.Wrap(&err, "search the memory")
	shown, err := files.Column[int64](ctx, s.file.Read, pathWhile(`p.messages < ?2`)+
		`SELECT id FROM path JOIN memories USING (turn) WHERE messages <= ?2`, q.Conversation, q.Window)
	if err != nil {
		return nil, err
	}
	words, err := s.byWords(ctx, q, q.Limit+len(shown))
	if err != nil {
		return nil, err
	}
	near, err := s.similarVectors(ctx, q)
	if err != nil {
		return nil, err
	}
	var found []int64
	for _, hits := range [][]scored{words, near} {
		rest := slices.DeleteFunc(slices.Clone(hits[:min(len(hits), q.Limit+len(shown))]),
			func(hit scored) bool { return slices.Contains(shown, hit.memory) })
		for _, hit := range rest[:min(len(rest), q.Limit)] {
			found = append(found, hit.memory)
		}
	}
	ids, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	list, err := s.recollections(ctx, `SELECT value FROM json_each(?)`, string(ids))
	mean, deviation := spread(near)
	for i := range list {
		r := &list[i]
		r.BM25, r.Cosine = scoreOf(words, r.Memory), scoreOf(near, r.Memory)
		if deviation > 0 && r.Cosine != 0 {
			r.ZScore = (r.Cosine - mean) / deviation
		}
	}
	return list, err
}

// scored is a hit of either search.
type scored struct {
	memory int64
	score  float64
}

func scoreOf(list []scored, memory int64) float64 {
	for _, hit := range list {
		if hit.memory == memory {
			return hit.score
		}
	}
	return 0
}

// fewest is the minimum number of cosines for a meaningful deviation.
const fewest = 12

// spread returns the mean and standard deviation of the scores; 0 if there are
// too few.
func spread(list []scored) (mean, deviation float64) {
	n := float64(len(list))
	if n < fewest {
		return 0, 0
	}
	for _, hit := range list {
		mean += hit.score / n
	}
	for _, hit := range list {
		deviation += (hit.score - mean) * (hit.score - mean) / n
	}
	return mean, math.Sqrt(deviation)
}

func (s *Store) byWords(ctx context.Context, q agent.MemoryQuery, limit int) ([]scored, error) {
	terms := strings.Fields(indexed(q.Question))
	for i, term := range terms {
		terms[i] = `"` + term + `"`
	}
	slices.Sort(terms)
	if terms = slices.Compact(terms); len(terms) == 0 {
		return nil, nil
	}
	const most = 200 // words of a question; a pasted text has more, which would only cost time
	match := strings.Join(terms[:min(len(terms), most)], " OR ")
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (hit scored, err error) {
		return hit, scan(&hit.memory, &hit.score)
	}, `SELECT m.id, -bm25(memory_terms) FROM memory_terms JOIN memories m ON m.id = memory_terms.rowid
		WHERE memory_terms MATCH ?2 AND (?3
		OR `+ofConversation+`) ORDER BY bm25(memory_terms) LIMIT ?4`, q.Conversation, match, q.Everywhere, limit)
}

// similarVectors compares the question with all vectors of its embedder: 10,000
// exchanges with 512 dimensions take 5 MB.
func (s *Store) similarVectors(ctx context.Context, q agent.MemoryQuery) ([]scored, error) {
	if len(q.Vector) == 0 {
		return nil, nil
	}
	var raw sql.RawBytes
	list, err := files.AllRows(ctx, s.file.Read, func(scan files.Scan) (hit scored, err error) {
		if err = scan(&hit.memory, &raw); err == nil {
			hit.score = cosine(q.Vector, raw)
		}
		return hit, err
	}, `SELECT m.id, v.vector FROM memory_vectors v JOIN memories m ON m.id = v.memory
		WHERE v.embedder = ?2 AND length(v.vector) = ?3 AND (?4
		OR `+ofConversation+`)`, q.Conversation, q.Embedder, len(q.Vector), q.Everywhere)
	slices.SortFunc(list, func(a, b scored) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.memory, b.memory))
	})
	return list, err
}

// packed encodes a vector for storage. It drops the scale, which does not affect
// cosines.
func packed(vector []float32) []byte {
	var largest float64
	for _, x := range vector {
		largest = max(largest, math.Abs(float64(x)))
	}
	raw := make([]byte, len(vector))
	for i, x := range vector {
		raw[i] = byte(int8(math.Round(127 * float64(x) / max(largest, math.SmallestNonzeroFloat32))))
	}
	return raw
}

// cosine compares a vector with a packed one.
func cosine(a []float32, saved []byte) float64 {
	var dot, aa, bb float64
	for i, x := range a {
		y := float64(int8(saved[i]))
		dot += float64(x) * y
		aa += float64(x) * float64(x)
		bb += y * y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// recollections reads the exchanges whose memories a query selects, in the order in
// which they were archived.
func (s *Store) recollections(ctx context.Context, memories string, args ...any) ([]agent.Recollection, error) {
	return files.AllRows(ctx, s.file.Read, func(scan files.Scan) (r agent.Recollection, err error) {
		var asked, answered, first origin
		err = scan(&r.Memory, &r.Turn, &r.Conversation, &r.Title, files.Milliseconds(&r.Asked), &r.Question, &r.Answer,
			&asked, &answered, &first)
		r.Answer, r.Origin = agent.WithoutRecords(r.Answer), asked.Origin.And(answered.Origin)
		r.Untrusted = r.Origin.And(first.Origin).IsOutside()
		return r, err
	}, `SELECT m.id, t.id, t.conversation, c.title, t.started, q.text, a.text, q.origin, a.origin,
		(SELECT origin FROM messages WHERE conversation = c.id AND role = 'assistant' ORDER BY id
		LIMIT 1) -- the title is made from it
		FROM memories m JOIN turns t ON t.id = m.turn JOIN conversations c ON c.id = t.conversation
		JOIN messages q ON q.turn = t.id AND q.role = 'user'
		JOIN messages a ON a.turn = t.id AND a.role = 'assistant' WHERE m.id IN (`+memories+`) ORDER BY m.id`, args...)
}

// Unembedded lists the archived exchanges after a memory (0: from the first)
// without a vector of this embedder.
func (s *Store) Unembedded(ctx context.Context, embedder string, after int64,
	limit int,
) (_ []agent.Recollection, err error) {
	defer files.Wrap(&err, "list memories to embed")
	return s.recollections(ctx, `SELECT id FROM memories m WHERE id > ?1
		AND NOT EXISTS (SELECT 1 FROM memory_vectors WHERE memory = m.id AND embedder = ?2) ORDER BY id
		LIMIT ?3`, after, embedder, limit)
}

// SaveVectors saves vectors of archived exchanges by turn, replacing those of
// other embedders. It ignores exchanges that were deleted meanwhile.
func (s *Store) SaveVectors(ctx context.Context, embedder string, vectors map[string][]float32) (err error) {
	defer files.Wrap(&err, "save the vectors of the memory")
	return s.file.Update(ctx, func(tx *sql.Tx) error {
		for turn, vector := range vectors {
			if _, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO memory_vectors (memory, embedder, vector)
				SELECT id, ?, ? FROM memories WHERE turn = ?`, embedder, packed(vector), turn); err != nil {
				return err
			}
		}
		return nil
	})
}

// Archive adds the exchanges of the conversation's current path that precede its
// last window messages to long-term memory. With everywhere it also adds the
// complete current paths of all other conversations. It returns the number of
// added exchanges.
func (s *Store) Archive(ctx context.Context, conversation string, window int,
	everywhere bool,
) (archived int, err error) {
	defer files.Wrap(&err, "archive messages")
	err = s.file.Update(ctx, func(tx *sql.Tx) error {
		beyond := map[string]int{conversation: window}
		if everywhere {
			others, err := files.Column[string](ctx, tx, `SELECT id FROM conversations WHERE id <> ?
				AND archived <> head`, conversation)
			if err != nil {
				return err
			}
			for _, id := range others {
				beyond[id] = 0
			}
		}
		for id, window := range beyond {
			n, err := s.archivePath(ctx, tx, id, window)
			if err != nil {
				return err
			}
			archived += n
		}
		return nil
	})
	return archived, err
}

// archivePath archives the exchanges between the window and the first one that is
// already archived, which those before it are, too.
func (s *Store) archivePath(ctx context.Context, tx *sql.Tx, conversation string,
	window int,
) (archived int, err error) {
	type exchange struct {
		turn   string
		open   bool
		leaves bool // the window, with an answer
	}
	list, err := files.AllRows(ctx, tx, func(scan files.Scan) (e exchange, err error) {
		return e, scan(&e.turn, &e.open, &e.leaves)
	}, pathWhile(`NOT EXISTS (SELECT 1 FROM memories
		WHERE turn = p.turn)`)+`SELECT p.turn, t.state = 'open', p.messages > ?2 AND octet_length(a.text) > 0
		FROM path p JOIN turns t ON t.id = p.turn JOIN messages a ON a.turn = p.turn AND a.role = 'assistant'
		WHERE NOT EXISTS (SELECT 1 FROM memories WHERE turn = p.turn)`, conversation, window)
	if err != nil {
		return 0, err
	}
	for _, e := range list {
		if e.open || !e.leaves {
			continue
		}
		var question, answer string
		if err := tx.QueryRowContext(ctx, `SELECT q.text, a.text FROM messages q JOIN messages a ON a.turn = q.turn
			WHERE q.turn = ? AND q.role = 'user'
			AND a.role = 'assistant'`, e.turn).Scan(&question, &answer); err != nil {
			return archived, err
		}
		result, err := tx.ExecContext(ctx, `INSERT INTO memories (turn, archived) VALUES (?, ?)`,
			e.turn, s.now().UnixMilli())
		if err != nil {
			return archived, err
		}
		row, err := result.LastInsertId()
		if err != nil {
			return archived, err
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO memory_terms (rowid, text) VALUES (?, ?)`, row,
			indexed(question+"\n"+answer)); err != nil {
			return archived, err
		}
		archived++
	}
	// here or in another process
	if window == 0 && !slices.ContainsFunc(list, func(e exchange) bool { return e.open }) {
		_, err = tx.ExecContext(ctx, `UPDATE conversations SET archived = head WHERE id = ?`, conversation)
	}
	return archived, err
}

// forgetBranches removes the exchanges from long-term memory that are no longer on
// the conversation's current path. A branch that becomes current again is archived
// again.
func forgetBranches(ctx context.Context, tx *sql.Tx, conversation string) error {
	_, err := tx.ExecContext(ctx, pathWhile(`true`)+`DELETE FROM memories WHERE `+ofConversation+
		` AND turn NOT IN (SELECT turn FROM path)`, conversation)
	return err
}

// Archived returns the number of exchanges in long-term memory.
func (s *Store) Archived(ctx context.Context) (n int, err error) {
	defer files.Wrap(&err, "count archived exchanges")
	return n, s.file.Read.QueryRowContext(ctx, `SELECT count(*) FROM memories`).Scan(&n)
}
