package words

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"lifehub/internal/files"
	"lifehub/internal/text"
)

// AverageLength returns the mean number of terms in a passage.
func AverageLength(ctx context.Context, db files.Querier) float64 {
	average, err := strconv.ParseFloat(Meta(ctx, db, "average"), 64)
	if err != nil || average <= 0 {
		return 100
	}
	return average
}

// MeasureLength records the mean number of terms in a passage.
func MeasureLength(ctx context.Context, tx *sql.Tx) error {
	var average sql.NullFloat64
	if err := tx.QueryRowContext(ctx, `SELECT avg(terms) FROM passages`).Scan(&average); err != nil {
		return err
	}
	return SetMeta(ctx, tx, "average", strconv.FormatFloat(average.Float64, 'f', 2, 64))
}

// Frequency returns the number of passages with a term. Frequent terms are looked up in
// a list, because counting them takes long.
func Frequency(ctx context.Context, db files.Querier, text string) (passages int, err error) {
	err = db.QueryRowContext(ctx, `SELECT coalesce((SELECT passages FROM frequent WHERE term = ?1), (SELECT doc
		FROM vocabulary WHERE term = ?1), 0)`, text).Scan(&passages)
	return passages, err
}

// CountFrequent lists the terms that occur in many passages, again whenever the index
// has grown or shrunk by a fifth.
func CountFrequent(ctx context.Context, tx *sql.Tx) error {
	var passages, before int
	if err := tx.QueryRowContext(ctx, `SELECT count(*) FROM passages`).Scan(&passages); err != nil {
		return err
	}
	err := tx.QueryRowContext(ctx, `SELECT value FROM meta WHERE key = 'frequent'`).Scan(&before)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if passages < 1000 || (passages <= before*6/5 && passages >= before*4/5) {
		return nil
	}
	if _, err := tx.ExecContext(ctx, `DELETE FROM frequent`); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO frequent SELECT term, doc FROM vocabulary WHERE doc > ?`,
		passages/50); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO meta VALUES ('frequent', ?) ON CONFLICT (key) DO UPDATE
		SET value = excluded.value`, passages)
	return err
}

// Languages returns the languages of the vault's notes, except English.
func Languages(ctx context.Context, db files.Querier) (spoken []text.Lang, err error) {
	for scan := range files.Rows(ctx, db, `SELECT code FROM languages ORDER BY code`) {
		var code text.Lang
		if err := scan(&code); err != nil {
			return nil, err
		}
		spoken = append(spoken, code)
	}
	return spoken, nil
}
