package words

import (
	"context"
	"strings"

	"lifehub/internal/files"
	"lifehub/internal/text"
)

const (
	// maxHolding is how many notes with all words of a line Holds compares.
	maxHolding = 50
	// maxLineTerms bounds the words of a line that it searches for.
	maxLineTerms = 40
)

// Holds reports whether one of the user's own notes has a line, as [text.LineKey]
// compares lines.
func Holds(ctx context.Context, db files.Querier, line string) (bool, error) {
	want, ok := text.LineKey(line)
	if !ok {
		return false, nil
	}
	languages, err := files.Column[string](ctx, db, `SELECT code FROM languages UNION SELECT ''`)
	if err != nil {
		return false, err
	}
	var forms []string
	for _, in := range languages {
		var terms []string
		for _, t := range Terms(text.LineText(line), text.Lang(in)) {
			if len(terms) < maxLineTerms {
				terms = append(terms, `"`+strings.ReplaceAll(t.Text, `"`, "")+`"`)
			}
		}
		if len(terms) > 0 {
			forms = append(forms, "("+strings.Join(terms, " ")+")")
		}
	}
	if len(forms) == 0 {
		return false, nil
	}
	found, err := files.Column[int64](ctx, db, `SELECT DISTINCT p.note FROM words w JOIN passages p ON p.id = w.rowid
		JOIN notes n ON n.id = p.note
		WHERE words MATCH ? AND n.outside = 0 LIMIT ?`, "{body heading}: ("+strings.Join(forms, " OR ")+")", maxHolding)
	if err != nil {
		return false, err
	}
	texts := Texts{DB: db}
	for _, note := range found {
		whole, err := texts.Whole(ctx, note)
		if err != nil {
			return false, err
		}
		for own := range strings.Lines(whole) {
			if key, ok := text.LineKey(own); ok && key == want {
				return true, nil
			}
		}
	}
	return false, nil
}
