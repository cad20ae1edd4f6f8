package search

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/rag/passage"
	"lifehub/rag/words"
)

// present turns ranked candidates into passages. A note whose name is the question
// comes first, duplicates are dropped, adjacent passages are joined.
func (s *search) present(ctx context.Context, ranked []candidate) ([]Passage, error) {
	shown := []Passage{}
	limit := s.query.AtMost()
	atOnce := 4*limit + 20
	if s.query.Room > 0 && s.time.bounded() {
		limit, atOnce = len(ranked), len(ranked)
	}
	ranked = ranked[:min(len(ranked), atOnce)]
	if s.linked != 0 && !slices.ContainsFunc(ranked, func(c candidate) bool { return c.id == s.linked }) {
		ranked = append(ranked, candidate{id: s.linked})
	}
	if len(ranked) == 0 {
		return shown, nil
	}
	all, err := s.load(ctx, ranked)
	if err != nil {
		return nil, err
	}
	s.demote(all)
	s.promote(all)
	var chosen []storedPassage
	for _, p := range all {
		if p.Text, err = s.texts.Of(ctx, p.note, p.start, p.stop); err != nil {
			return nil, err
		}
		if p.dated {
			p.cutToDays()
		}
		if slices.ContainsFunc(chosen, func(k storedPassage) bool { return k.Text == p.Text }) {
			continue
		}
		if i := neighbour(chosen, p); i >= 0 && passage.EstimateTokens(chosen[i].Text)+passage.EstimateTokens(p.Text) <= 2*s.in.Size {
			if chosen[i], err = join(ctx, &s.texts, chosen[i], p); err != nil {
				return nil, err
			}
			continue
		}
		if len(chosen) == limit {
			break
		}
		chosen = append(chosen, p)
	}
	index, hasContent := s.contentTerms()
	if err := s.nameNotes(ctx, chosen); err != nil {
		return nil, err
	}
	for _, p := range chosen {
		front, err := s.texts.Of(ctx, p.note, 0, p.start)
		if err != nil {
			return nil, err
		}
		if p.Lines, err = s.wholeLines(ctx, p); err != nil {
			return nil, err
		}
		p.Passage.Score = p.score
		if p.Blocks, err = s.blocksOf(ctx, &p, front, index, hasContent); err != nil {
			return nil, err
		}
		if !notes.IsPaged(p.Path) {
			p.Text, p.Heading, p.Above = passage.Whole(p.Text, p.Heading)
		}
		shown = append(shown, p.Passage)
	}
	return shown, nil
}

// maxNamed is the size in bytes up to which a note that the question names is shown whole.
const maxNamed = 64 << 10

// nameNotes marks the first passage of each note whose title, file name or alias is in the question.
func (s *search) nameNotes(ctx context.Context, passages []storedPassage) error {
	marked := map[int64]bool{}
	asked := " " + s.words.key + " "
	for i := range passages {
		p := &passages[i]
		if marked[p.note] || notes.IsPaged(p.Path) || p.dated {
			continue
		}
		marked[p.note] = true
		keys, err := files.Column[string](ctx, s.db, `SELECT title_key FROM notes WHERE id = ?1 UNION SELECT name_key
			FROM notes WHERE id = ?1
			UNION SELECT key FROM aliases WHERE note = ?1`, p.note)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(keys, func(key string) bool {
			return key != "" && strings.Contains(asked, " "+key+" ") && !isStopWord(key, s.words.vaultLanguages)
		}) {
			continue
		}
		whole, err := s.texts.Whole(ctx, p.note)
		if err != nil {
			return err
		}
		p.Named = len(whole) <= maxNamed
	}
	return nil
}

// wholeLines returns the lines of which a passage is a part, or "" if it is whole
// lines.
func (s *search) wholeLines(ctx context.Context, p storedPassage) (string, error) {
	all, err := s.texts.Whole(ctx, p.note)
	if err != nil || p.start > p.stop || p.stop > len(all) {
		return "", err
	}
	start, stop := 1+strings.LastIndexByte(all[:p.start], '\n'), len(all)
	if end := strings.IndexByte(all[p.stop:], '\n'); end >= 0 && (p.stop == 0 || all[p.stop-1] != '\n') {
		stop = p.stop + end
	} else if end >= 0 {
		stop = p.stop
	}
	if start == p.start && (stop == p.stop || strings.TrimSpace(all[p.stop:stop]) == "") {
		return "", nil
	}
	return strings.Clone(all[start:stop]), nil
}

// listingShare multiplies the score of a list of links, which contains the words of
// many titles and answers nothing.
const listingShare = 0.5

// demote lowers the scores of lists of links and, if a filter asks for a time, of
// passages without a date.
func (s *search) demote(all []storedPassage) {
	for i, p := range all {
		if p.listing && !s.named[p.note] {
			all[i].score *= listingShare
		}
		if s.time.filter && !p.days.of {
			all[i].score *= undatedShare
		}
	}
	slices.SortStableFunc(all, func(a, b storedPassage) int { return cmp.Compare(b.score, a.score) })
}

// promote puts the best passage of each note that the question names first.
func (s *search) promote(all []storedPassage) {
	done := map[int64]bool{}
	for i, p := range all {
		if s.named[p.note] && !done[p.note] {
			done[p.note] = true
			all[i].score = 1
		}
	}
	slices.SortStableFunc(all, func(a, b storedPassage) int { return cmp.Compare(b.score, a.score) })
}

// cutToDays cuts a passage to the lines of the time that is asked for.
func (p *storedPassage) cutToDays() {
	lines := strings.SplitAfter(p.Text, "\n")
	first, last := p.days.line-p.Line, min(p.days.endLine-p.Line, len(lines)-1)
	if first <= 0 && last == len(lines)-1 {
		return
	}
	p.cut = true
	p.Text = strings.TrimRight(strings.Join(lines[first:last+1], ""), "\n")
	p.Line, p.EndLine = p.Line+first, p.Line+last
}

// neighbour returns the index of the chosen passage that is adjacent to p, or -1.
func neighbour(chosen []storedPassage, p storedPassage) int {
	for i, k := range chosen {
		first, second := k, p
		if p.id < k.id {
			first, second = p, k
		}
		if k.note == p.note && !k.cut && !p.cut && second.id == first.last+1 &&
			(first.parents == 0 || passage.Continues(splitPath(second.Heading), splitPath(first.Heading))) {
			return i
		}
	}
	return -1
}

// join joins two adjacent passages.
func join(ctx context.Context, texts *words.Texts, a, b storedPassage) (storedPassage, error) {
	if b.start < a.start {
		a.start, a.Line, a.id, a.parents = b.start, b.Line, b.id, b.parents
	} else {
		a.stop, a.EndLine, a.last = b.stop, b.EndLine, b.last
	}
	a.Heading = strings.Join(passage.CommonPath(splitPath(a.Heading), splitPath(b.Heading)), passage.Separator)
	var err error
	a.Text, err = texts.Of(ctx, a.note, a.start, a.stop)
	return a, err
}

func splitPath(path string) []string { return strings.Split(path, passage.Separator) }

// storedPassage is a passage in the index.
type storedPassage struct {
	Passage
	candidate
	note        int64
	last        int64 // id of the last passage that was joined to it
	start, stop int
	language    text.Lang
	parents     int // as [passage.Piece]
	listing     bool
	cut         bool // by cutToDays
}

// load reads the passages of candidates, in their order.
func (s *search) load(ctx context.Context, candidates []candidate) ([]storedPassage, error) {
	args := make([]any, len(candidates))
	place := make(map[int64]int, len(candidates))
	for i, c := range candidates {
		args[i], place[c.id] = c.id, i
	}
	all := make([]storedPassage, len(candidates))
	for scan := range files.Rows(ctx, s.db, `SELECT p.id, p.note, p.start, p.stop, p.line, p.end_line, p.heading,
		p.parents, p.listing, n.language,
		n.path, n.tags, n.date, n.outside FROM passages p JOIN notes n ON n.id = p.note
		WHERE p.id IN (`+marks(len(args))+`)`, args...) {
		var p storedPassage
		var id int64
		var tags string
		if err := scan(&id, &p.note, &p.start, &p.stop, &p.Line, &p.EndLine, &p.Heading, &p.parents, &p.listing,
			&p.language,
			&p.Path, &tags, &p.Date, &p.Untrusted); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(tags), &p.Tags); err != nil {
			return nil, fmt.Errorf("read tags of %s: %w", p.Path, err)
		}
		if p.Tags == nil {
			p.Tags = []string{}
		}
		p.candidate, p.last = candidates[place[id]], id
		p.Dated, p.Date = p.dated, p.days.day(p.Date)
		p.Vault = s.in.Dir
		all[place[id]] = p
	}
	// A note may have been indexed again between the two queries.
	return slices.DeleteFunc(all, func(p storedPassage) bool { return p.Path == "" }), nil
}
