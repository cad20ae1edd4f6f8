package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lifehub/internal/when"
	"lifehub/rag/encoder"
	"lifehub/rag/passage"
	"lifehub/rag/words"
)

const (
	aboveShare   = 0.6 // weight of words in the headings above a block
	blockShare   = 0.6 // least score, as a share of the best block's
	maxBlocks    = 8   // of one passage
	averageBlock = 20  // terms, for [wordQuery.score]
)

// blocksOf returns the blocks of a passage that fit the question, best first, scored like passages
// by their words and those of the headings above, or by the built-in encoder if no block has a word of
// the question. If it asks only for a time, they are in the order of the note.
// Of a note that is named, all blocks are returned. front is the text before the note's first passage;
// index is that of [search.contentTerms].
func (s *search) blocksOf(ctx context.Context, p *storedPassage, front string, index map[string]int,
	hasContent bool,
) ([]passage.Block, error) {
	text, heading, line := p.Text, p.Heading, p.Line
	if p.Named {
		var err error
		if text, line, err = s.body(ctx, p.note); err != nil {
			return nil, err
		}
		heading = ""
	}
	blocks := passage.Blocks(p.Path, text, heading, line)
	if !hasContent {
		return blocks[:min(len(blocks), maxBlocks)], nil
	}
	blocks = append(blocks, passage.FrontBlocks(front)...)
	best := 0.0
	for i := range blocks {
		s.scoreBlock(&blocks[i], p, index)
		best = max(best, blocks[i].Score)
	}
	blocks = slices.DeleteFunc(blocks, func(b passage.Block) bool { return b.Line < line && len(b.Words) == 0 })
	if best == 0 {
		if err := s.scoreByMeaning(ctx, blocks); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(blocks, func(a, b passage.Block) int { return cmp.Compare(b.Score, a.Score) })
	if p.Named || len(blocks) == 0 {
		return blocks, nil
	}
	least := blockShare * blocks[0].Score
	blocks = slices.DeleteFunc(blocks, func(b passage.Block) bool { return b.Score < least })
	return blocks[:min(len(blocks), maxBlocks)], nil
}

// scoreByMeaning scores blocks by the built-in encoder.
func (s *search) scoreByMeaning(ctx context.Context, blocks []passage.Block) error {
	texts := []string{s.query.Text}
	for _, b := range blocks {
		texts = append(texts, strings.Join([]string{b.Heading, b.Lead, b.Text}, "\n"))
	}
	vectors, err := encoder.Encoder{}.Embed(ctx, texts)
	if err != nil {
		return err
	}
	for i := range blocks {
		blocks[i].Score = max(0, cosine(vectors[0], vectors[1+i]))
	}
	return nil
}

// cosine returns the cosine of two vectors of length 1.
func cosine(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// body returns the text of a note from its first passage on, and the line at which it begins.
func (s *search) body(ctx context.Context, note int64) (text string, line int, err error) {
	var start int
	if err := s.db.QueryRowContext(ctx, `SELECT start, line FROM passages WHERE note = ? ORDER BY id LIMIT 1`,
		note).Scan(&start, &line); err != nil {
		return "", 0, err
	}
	whole, err := s.texts.Whole(ctx, note)
	return whole[min(start, len(whole)):], line, err
}

// contentTerms returns the indexes of the question's content words by their forms,
// without words of a time, and whether the question has any, in the notes or not.
func (s *search) contentTerms() (index map[string]int, hasContent bool) {
	index = map[string]int{}
	if s.time.only && !s.time.Span.IsZero() {
		return index, false
	}
	_, rest := when.In(s.query.Text, s.query.today())
	asked := queryTerms(rest, s.words.vaultLanguages)
	hasContent = slices.ContainsFunc(asked, func(t queryTerm) bool { return !t.stop })
	for _, t := range asked {
		i := slices.IndexFunc(s.words.terms, func(w queryTerm) bool { return w.forms[0] == t.forms[0] })
		if i < 0 || t.stop && hasContent {
			continue
		}
		for _, form := range s.words.terms[i].forms {
			index[form] = i
		}
	}
	for i, t := range s.words.terms {
		if t.guessFor != "" {
			index[t.forms[0]] = i
		}
	}
	return index, hasContent
}

func (s *search) scoreBlock(b *passage.Block, p *storedPassage, index map[string]int) {
	own, above, length := make([]int, len(s.words.terms)), make([]int, len(s.words.terms)), 0
	body := b.Lead + "\n" + b.Text
	for _, t := range words.Terms(body, p.language) {
		length++
		i, asked := index[t.Text]
		if !asked {
			continue
		}
		if t.Start < len(b.Lead) && strings.HasPrefix(b.Lead, "|") { // a header is above every row
			above[i] = 1
		} else {
			own[i]++
		}
		if word := body[t.Start:t.End]; !slices.Contains(b.Words, word) {
			b.Words = append(b.Words, word)
		}
	}
	for _, t := range words.Terms(b.Heading, p.language) {
		if i, asked := index[t.Text]; asked {
			above[i] = 1
		}
	}
	inBlock, _ := s.words.score(own, float64(length)/averageBlock)
	inHeadings, _ := s.words.score(above, 1)
	b.Score = inBlock + aboveShare*inHeadings
}
