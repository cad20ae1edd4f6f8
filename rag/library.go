package rag

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"lifehub/internal/when"
	"lifehub/rag/search"
	"lifehub/rag/words"
)

// Library searches several vaults together.
type Library struct{ Indexes []*Index }

// Search returns the best passages of all vaults.
func (l Library) Search(ctx context.Context, q Query) (Found, error) {
	all := Found{Passages: []Passage{}}
	for i, x := range l.Indexes {
		found, err := x.Search(ctx, q)
		if err != nil {
			return all, err
		}
		all.Passages = append(all.Passages, found.Passages...)
		all.Time = joinTimes(all.Time, found.Time)
		if i == 0 {
			all.Missing = found.Missing
		}
		all.Missing = all.Missing.In(found.Missing)
		all.Coverage = joinCoverage(all.Coverage, found.Coverage, i == 0)
		if found.Verdict > all.Verdict || found.Verdict == all.Verdict && found.Answerable > all.Answerable {
			all.Answerable, all.Verdict = found.Answerable, found.Verdict
			all.SemanticOnly, all.Close, all.OtherLanguage = found.SemanticOnly, found.Close, found.OtherLanguage
		}
	}
	if all.Time != nil && all.Time.Notes == 0 && len(all.Passages) > 0 {
		all.Time = nil // another vault has the words of the time
	}
	all.Passages = search.Arrange(all.Passages, q, all.Time)
	return all, nil
}

// Coverage returns the coverage of all indexes.
func (l Library) Coverage(ctx context.Context) (Coverage, error) {
	var all Coverage
	for i, x := range l.Indexes {
		c, err := x.Coverage(ctx)
		if err != nil {
			return all, err
		}
		all = joinCoverage(all, c, i == 0)
	}
	return all, nil
}

// About describes the notes of each vault in a line. A vault that cannot be read is
// left out.
func (l Library) About(ctx context.Context) (lines []string) {
	for _, x := range l.Indexes {
		g, err := x.acquireUndamaged()
		if err != nil {
			continue
		}
		if line, err := words.About(ctx, g.db); err == nil && line != "" {
			lines = append(lines, line)
		}
		g.release() //nolint:errcheck // it was only read
	}
	return lines
}

// Close closes all indexes.
func (l Library) Close() error {
	var err error
	for _, x := range l.Indexes {
		err = errors.Join(err, x.Close())
	}
	return err
}

// joinTimes adds the notes of a time in two vaults.
func joinTimes(a, b *when.Found) *when.Found {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	joined := *a
	joined.Notes += b.Notes
	joined.List = slices.SortedStableFunc(slices.Values(slices.Concat(a.List, b.List)),
		func(x, y when.Entry) int { return cmp.Compare(x.Date, y.Date) })
	joined.List = joined.List[max(0, len(joined.List)-search.MaxListed):]
	return &joined
}

// joinCoverage adds the coverage of two vaults. The age is that of the older sync, and
// a vault without vectors determines the embedder.
func joinCoverage(a, b Coverage, first bool) Coverage {
	if first {
		return b
	}
	joined := Coverage{
		Indexed: a.Indexed + b.Indexed, Total: a.Total + b.Total,
		Unread: a.Unread + b.Unread, Unreadable: a.Unreadable + b.Unreadable,
		Age: max(a.Age, b.Age), Embedder: a.Embedder,
	}
	if strings.HasPrefix(b.Embedder, keywordsOnly) {
		joined.Embedder = b.Embedder
	}
	joined.LeftOut = a.LeftOut.Plus(b.LeftOut)
	return joined
}
