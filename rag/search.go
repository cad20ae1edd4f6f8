package rag

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lifehub/internal/files"
	"lifehub/notes"
	"lifehub/rag/search"
	"lifehub/rag/words"
)

// keywordsOnly is the prefix of Coverage.Embedder if no vectors were used.
const keywordsOnly = "keyword search only"

// Search returns the passages that fit a question best, by keywords and vectors, or by
// keywords alone if the embedder does not answer, which Coverage reports. A damaged index
// is rebuilt from the notes first.
func (x *Index) Search(ctx context.Context, q Query) (Found, error) {
	const tries = 3
	var found Found
	var err error
	for try := 1; try <= tries; try++ {
		var again bool
		found, again, err = x.searchNewest(ctx, q)
		if err == nil {
			return found, nil
		}
		if !again || ctx.Err() != nil {
			break
		}
	}
	return Found{Passages: []Passage{}}, fmt.Errorf("search notes: %w", words.Explain(err))
}

// searchNewest searches the newest generation. again reports that there is a newer one,
// or that it has to be rebuilt.
func (x *Index) searchNewest(ctx context.Context, q Query) (found Found, again bool, err error) {
	g, err := x.acquireRepaired(ctx)
	if err != nil {
		return Found{}, false, err
	}
	defer g.release() //nolint:errcheck // it was only read
	found, err = x.search(ctx, g.db, q)
	if words.IsDamage(err) {
		x.lose(g, err)
		return Found{}, true, err
	}
	return found, err != nil && x.stale(g), err
}

func (x *Index) search(ctx context.Context, db *sql.DB, q Query) (Found, error) {
	coverage, err := x.coverageOf(ctx, db) // before, so that what is added meanwhile is not taken for searched
	if err == nil {
		err = coverage.exclude(ctx, db, q.Without[x.options.Vault])
	}
	if err != nil {
		return Found{}, err
	}
	out, err := search.Run(ctx, db, search.Vault{Dir: x.options.Vault, Size: x.options.Size, Meaning: x}, q)
	if out.Unavailable {
		x.setEmbedFailure(out.Why)
	}
	if err != nil {
		return Found{}, err
	}
	if out.Why != "" && !strings.HasPrefix(coverage.Embedder, keywordsOnly) {
		coverage.Embedder = keywordsOnly + ": " + out.Why
	} else if out.Embedder != "" {
		coverage.Embedder = out.Embedder
	}
	found := Found{
		Passages: out.Passages, Coverage: coverage, Time: out.Time, Missing: out.Missing,
		Answerable: out.Signals.Answerable(), Signals: out.Signals, Verdict: out.Verdict,
	}
	found.SemanticOnly = out.Signals.SemanticOnly
	found.Close, found.OtherLanguage = found.Verdict == Close, found.Verdict == OtherLanguage
	return found, nil
}

// exclude excludes notes from the counts, so that a search without them does not
// reveal that they exist.
func (c *Coverage) exclude(ctx context.Context, db files.Querier, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	known, err := knownFiles(ctx, db, paths)
	if err != nil {
		return err
	}
	left := notes.LeftOut{}
	for _, file := range known {
		if file.id != 0 {
			c.Indexed, c.Total = max(0, c.Indexed-1), max(0, c.Total-1)
		} else {
			left.AddUnread(file.reason)
		}
	}
	for kind, n := range left {
		if c.LeftOut[kind] -= n; c.LeftOut[kind] <= 0 {
			delete(c.LeftOut, kind)
		}
	}
	return nil
}

// Coverage returns the coverage of the index.
func (x *Index) Coverage(ctx context.Context) (Coverage, error) {
	c, err := x.coverage(ctx)
	if err != nil {
		return c, fmt.Errorf("read index: %w", words.Explain(err))
	}
	return c, nil
}

func (x *Index) coverage(ctx context.Context) (Coverage, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return Coverage{}, err
	}
	defer g.release() //nolint:errcheck // it was only read
	return x.coverageOf(ctx, g.db)
}

func (x *Index) coverageOf(ctx context.Context, db files.Querier) (Coverage, error) {
	x.mu.RLock()
	embedder, why := x.embedder, x.embedFailure
	x.mu.RUnlock()
	var c Coverage
	var unreadable int // which no further sync would read
	if err := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM notes), (SELECT count(*)
		FROM skipped)`).Scan(&c.Indexed, &unreadable); err != nil {
		return c, err
	}
	c.Total, _ = strconv.Atoi(words.Meta(ctx, db, "total")) //nolint:errcheck // 0: never synced
	c.Total = max(c.Total-unreadable, c.Indexed)
	_ = json.Unmarshal([]byte(words.Meta(ctx, db, "left out")), &c.LeftOut) // not counted yet: nothing is reported
	c.Unread, _ = strconv.Atoi(words.Meta(ctx, db, "unread"))               //nolint:errcheck // 0: no sync is reading
	c.Indexed = max(0, min(c.Indexed, c.Total-c.Unread))
	c.Unreadable = readUnreadable(ctx, db).count()
	if status, err := os.Stat(x.lockPath()); err == nil {
		c.Age = max(0, time.Since(status.ModTime()).Seconds())
	}
	switch {
	case embedder == nil:
		c.Embedder = keywordsOnly + ": no embedding model"
	case why != "":
		c.Embedder = keywordsOnly + ": " + why
	default:
		c.Embedder = embedder.Name()
	}
	return c, nil
}
