package search

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/internal/text"
	"lifehub/rag/words"
)

// newest matches a word that asks for the newest of the next word, in English or German.
var newest = regexp.MustCompile(`(?i)(?:^|[^\pL])(newest|latest|last|most recent|neueste[mnrs]?|` +
	`letzte[mnrs]?)[^\pL]+\pL`)

// asksForNewest reports whether a question asks for the newest of something, and marks
// that word as a stop word.
func (s *search) asksForNewest() bool {
	match := newest.FindStringSubmatch(s.query.Text)
	if match == nil || !s.time.Span.IsZero() {
		return false
	}
	for i, t := range s.words.terms {
		if strings.Contains(strings.ToLower(match[1]), strings.ToLower(t.word)) {
			s.words.terms[i].stop = true
		}
	}
	return true
}

// preferNewest puts the newest first among the candidates with as many words of the
// question as the best, and cuts them to the lines of that day.
func (s *search) preferNewest(ctx context.Context, ranked []candidate) error {
	best, top := 0.0, 0.0
	for _, c := range ranked {
		best, top = max(best, c.share), max(top, c.score)
	}
	var dated []*candidate
	for i := range ranked {
		c := &ranked[i]
		if c.share < best || c.share == 0 {
			continue
		}
		if err := s.newestDay(ctx, c); err != nil {
			return err
		}
		if c.days.of {
			c.dated, dated = true, append(dated, c)
		}
	}
	slices.SortStableFunc(dated, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(b.days.first, a.days.first), cmp.Compare(b.score, a.score))
	})
	const step = 1e-6 // too small to be seen in a score
	for i, c := range dated {
		c.score = top * (1 + step*float64(len(dated)-i))
	}
	return nil
}

// newestDay finds the newest dated lines of a candidate, not after today, that contain
// a content word of the question; if only a heading contains one, the newest of all.
func (s *search) newestDay(ctx context.Context, c *candidate) error {
	loaded, err := s.load(ctx, []candidate{*c})
	if err != nil || len(loaded) == 0 {
		return err
	}
	p := loaded[0]
	body, err := s.texts.Of(ctx, p.note, p.start, p.stop)
	if err != nil {
		return err
	}
	lines := strings.Split(body, "\n")
	for scan := range files.Rows(ctx, s.db, `SELECT d.day, max(d.line, p.line), min(d.end_line, p.end_line)
		FROM `+passages+`
		WHERE p.id = ? AND d.day <= ? ORDER BY d.day DESC, d.line`, c.id, s.query.today().Number()) {
		d := passageDays{of: true}
		if err := scan(&d.first, &d.line, &d.endLine); err != nil {
			return err
		}
		from, to := min(max(0, d.line-p.Line), len(lines)), min(max(0, d.endLine-p.Line+1), len(lines))
		has := from < to && s.hasContentTerm(strings.Join(lines[from:to], "\n"), p.language)
		if has || !c.days.of {
			c.days = d
		}
		if has {
			break
		}
	}
	return nil
}

// hasContentTerm reports whether a text has a content word of the question.
func (s *search) hasContentTerm(body string, in text.Lang) bool {
	return slices.ContainsFunc(words.Terms(body, in), func(term words.Term) bool {
		return slices.ContainsFunc(s.words.terms, func(t queryTerm) bool {
			return !t.stop &&
				slices.Contains(t.forms, term.Text)
		})
	})
}
