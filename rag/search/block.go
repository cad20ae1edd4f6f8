package search

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/passage"
	"lifehub/rag/words"
)

const (
	aboveShare   = 0.6  // weight of words in the headings above a block
	blockShare   = 0.6  // least score, as a share of the best block's
	maxBlocks    = 8    // of one passage
	averageBlock = 20   // terms, for [wordQuery.score]
	anyFits      = 1e-9 // score of all blocks of a passage that fits as a whole
)

// blocksOf returns the blocks of a passage that fit the question, best first, scored
// like passages by their words and those of the headings above. If no word of the
// question is in them, or it asks only for a time, they are in the order of the note.
// front is the text before the note's first passage; index and hasContent are those of
// [search.contentTerms].
func (s *search) blocksOf(p *storedPassage, front string, index map[string]int, hasContent bool) []passage.Block {
	blocks := passage.Blocks(p.Path, p.Text, p.Heading, p.Line)
	if len(index) > 0 {
		blocks = append(blocks, passage.FrontBlocks(front)...)
	}
	best := 0.0
	for i := range blocks {
		s.scoreBlock(&blocks[i], p, index)
		best = max(best, blocks[i].Score)
	}
	if best > 0 {
		blocks = slices.DeleteFunc(blocks, func(b passage.Block) bool { return b.Score < blockShare*best })
		slices.SortStableFunc(blocks, func(a, b passage.Block) int { return cmp.Compare(b.Score, a.Score) })
	} else {
		blocks = slices.DeleteFunc(blocks, func(b passage.Block) bool { return b.Line < p.Line })
	}
	// The question has no content words, or they are in the name of the note.
	inName := func(t words.Term) bool { _, asked := index[t.Text]; return asked }
	if best == 0 && (!hasContent || slices.ContainsFunc(words.Terms(notes.Key(path.Base(p.Path)), p.language), inName)) {
		for i := range blocks {
			blocks[i].Score = anyFits
		}
	}
	return blocks[:min(len(blocks), maxBlocks)]
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
