package rag

import (
	"context"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lifehub/internal/files"
	"lifehub/llm"
	"lifehub/rag/encoder"
	"lifehub/rag/passage"
	"lifehub/rag/vectors"
	"lifehub/rag/words"
)

const (
	// embedBatch is the number of passages in a request. A server that refuses them gets
	// them one by one. With two requests in flight, a question waits for 32 texts at most.
	embedBatch = 16
	// builtInBatch passages take about 10 ms.
	builtInBatch = 256
)

// embed updates the vectors. If they cannot be stored now, the next sync tries again.
func (s *syncRun) embed(ctx context.Context, embedder llm.Embedder) error {
	err := s.embedMissing(ctx, embedder)
	if unavailable := (*vectors.UnavailableError)(nil); errors.As(err, &unavailable) && ctx.Err() == nil {
		s.index.setEmbedFailure(err.Error())
		s.changes.Warnings = append(s.changes.Warnings, "keyword search finds the notes, their vectors cannot be "+
			"saved: "+err.Error())
		return nil
	}
	return err
}

// embedMissing embeds every passage that has no vector of this model.
func (s *syncRun) embedMissing(ctx context.Context, embedder llm.Embedder) error {
	x, name := s.index, embedder.Name()
	state, err := x.vectors.State(ctx, name)
	if err != nil {
		return err
	}
	if s.only == nil && !s.unsigned && words.Meta(ctx, s.db, "complete "+name) == state {
		x.setEmbedFailure("")
		return nil
	}
	m, of, err := x.Vectors()
	if err != nil {
		return err
	}
	if m == nil || of.Name() != name {
		return nil // the embedder was changed meanwhile
	}
	e := embedding{syncRun: s, collection: m, embedder: embedder}
	if err := e.prepare(ctx); err != nil {
		return err
	}
	if unavailable, err := e.batches(ctx); unavailable || err != nil {
		return err
	}
	return e.finishEmbedding(ctx)
}

// modelFile is the file of an index folder with the name of the model that embedded it last. It outlives
// the words, which are rebuilt when their format changes.
const modelFile = "model"

// recordModel records a model of a server. The encoder, which stands in while there is none, is not.
func (x *Index) recordModel(model string) error {
	if encoder.IsBuiltIn(model) || model == MadeWith(x.dir) {
		return nil
	}
	return files.Write(filepath.Join(x.dir, modelFile), []byte(model))
}

// MadeWith returns the name of the embedder of a model server that last embedded the notes of an index,
// by its folder; "" if there was none.
func MadeWith(dir string) string {
	name, err := os.ReadFile(filepath.Join(dir, modelFile))
	if err != nil {
		return "" // never written, and at worst the notes are embedded by another model
	}
	return string(name)
}

// complete records that no vector is missing, so that the next sync need not check.
func (s *syncRun) complete(ctx context.Context, model string) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	state, err := s.index.vectors.State(ctx, model)
	if err != nil {
		return err
	}
	return words.SetMeta(ctx, s.db, "complete "+model, state)
}

// missing returns the keys of the passages to sync, and in order those without a vector.
func (s *syncRun) missing(ctx context.Context, m vectors.Collection) (used map[vectors.Key]bool, missing []vectors.Key, err error) {
	query, args := `SELECT key FROM passages ORDER BY id`, []any(nil)
	if s.only != nil {
		list, err := json.Marshal(s.only)
		if err != nil {
			return nil, nil, err
		}
		query = `SELECT key FROM passages WHERE note IN (SELECT id FROM notes WHERE path IN (SELECT value
			FROM json_each(?)))`
		args = []any{string(list)}
	}
	used = map[vectors.Key]bool{}
	var all []vectors.Key
	for scan := range files.Rows(ctx, s.db, query, args...) {
		var raw sql.RawBytes
		if err := scan(&raw); err != nil {
			return nil, nil, err
		}
		k := vectors.KeyOf(raw)
		if used[k] {
			continue
		}
		used[k] = true
		all = append(all, k)
	}
	missing, err = m.Missing(ctx, all)
	return used, missing, err
}

// texts returns the texts to embed for some passages. They are read in one query, since
// each locks the file. For the built-in encoder they begin with the path, which has words
// such as "recipes" and "running".
func (s *syncRun) texts(ctx context.Context, passages []vectors.Key) (texts []string, err error) {
	type place struct {
		note                  int64
		path, title, headings string
		start, stop           int
	}
	window, builtIn := encoder.WindowOf(s.embedder), encoder.IsBuiltIn(s.embedder.Name())
	keys := make([]string, len(passages))
	for i, k := range passages {
		keys[i] = hex.EncodeToString(k[:])
	}
	list, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	places, err := files.AllRows(ctx, s.db, func(scan files.Scan) (p place, err error) {
		return p, scan(&p.note, &p.path, &p.title, &p.headings, &p.start, &p.stop)
	}, `SELECT n.id, n.path, n.title, p.heading, p.start, p.stop FROM json_each(?) k
		JOIN passages p ON p.id = (SELECT min(id) FROM passages WHERE key = unhex(k.value))
		JOIN notes n ON n.id = p.note ORDER BY k.key`, string(list))
	if err == nil && len(places) != len(passages) {
		err = fmt.Errorf("of %d passages to embed, %d are in the index", len(passages), len(places))
	}
	if err != nil {
		return nil, err
	}
	loaded := words.Texts{DB: s.db}
	notes := make([]int64, len(places))
	for i, p := range places {
		notes[i] = p.note
	}
	if err := loaded.Load(ctx, notes...); err != nil {
		return nil, err
	}
	for _, p := range places {
		text, err := loaded.Of(ctx, p.note, p.start, p.stop)
		if err != nil {
			return nil, err
		}
		text = passage.Embedded(p.title, p.headings, text, window)
		if builtIn {
			text = strings.TrimSuffix(p.path, path.Ext(p.path)) + "\n" + text
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// lastEmbedFailure returns why the last embedding failed; "" if it did not.
func (x *Index) lastEmbedFailure() string {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return x.embedFailure
}

func (x *Index) setEmbedFailure(why string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.embedFailure = why
}
