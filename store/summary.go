package store

import (
	"context"
	"database/sql"
	"errors"

	"lifehub/agent"
	"lifehub/internal/files"
)

// SaveSummary saves a summary of the path up to and including its turn.
func (s *Store) SaveSummary(ctx context.Context, summary agent.Summary) (err error) {
	defer files.Wrap(&err, "save the summary of the conversation")
	_, err = s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO summaries (turn, text, created, origin) VALUES (?, ?,
		?, ?)`,
		summary.Turn, summary.Text, s.now().UnixMilli(), origin{summary.Origin})
	return err
}

// TokenRatio returns the learned ratio of a model's tokens to estimated ones.
func (s *Store) TokenRatio(ctx context.Context, model string) (g agent.TokenRatio, err error) {
	defer files.Wrap(&err, "read the token ratio of %s", model)
	err = s.file.Read.QueryRowContext(ctx, `SELECT high, writes FROM gauges WHERE model = ?`,
		model).Scan(&g.Scale, &g.Writes)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return g, err
}

// SaveTokenRatio saves the token ratio of a model.
func (s *Store) SaveTokenRatio(ctx context.Context, model string, g agent.TokenRatio) (err error) {
	defer files.Wrap(&err, "save the token ratio of %s", model)
	_, err = s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO gauges (model, high, window, writes) VALUES (?, ?, 0,
		?)`, model, g.Scale, g.Writes)
	return err
}
