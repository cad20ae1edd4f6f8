package store

import (
	"context"
	"database/sql"
	"errors"

	"lifehub/agent"
	"lifehub/internal/database"
	"lifehub/internal/wrap"
)

// Summary returns the newest summary on the conversation's current path; its Turn
// is empty if there is none.
func (s *Store) Summary(ctx context.Context, conversation string) (_ agent.Summary, err error) {
	defer wrap.Error(&err, "read the summary of the conversation")
	texts := map[string]string{}
	for scan := range database.Rows(ctx, s.file.Read, `SELECT y.turn, y.text FROM summaries y JOIN turns t ON t.id = y.turn WHERE t.conversation = ?`, conversation) {
		var turn, text string
		if err := scan(&turn, &text); err != nil {
			return agent.Summary{}, err
		}
		texts[turn] = text
	}
	if len(texts) == 0 {
		return agent.Summary{}, nil
	}
	tree, err := s.readTree(ctx, s.file.Read, conversation)
	if err != nil {
		return agent.Summary{}, err
	}
	after := 0
	for _, turn := range tree.beyond(0) {
		if text, ok := texts[turn.Exchange.Turn]; ok {
			return agent.Summary{Turn: turn.Exchange.Turn, Text: text, After: after}, nil
		}
		after += turn.messages()
	}
	return agent.Summary{}, nil // all summaries belong to other branches
}

// SaveSummary saves a summary of the path up to and including a turn.
func (s *Store) SaveSummary(ctx context.Context, turn, text string) (err error) {
	defer wrap.Error(&err, "save the summary of the conversation")
	_, err = s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO summaries (turn, text, created) VALUES (?, ?, ?)`, turn, text, s.now().UnixMilli())
	return err
}

// TokenRatio returns the learned ratio of a model's tokens to estimated ones.
func (s *Store) TokenRatio(ctx context.Context, model string) (g agent.TokenRatio, err error) {
	defer wrap.Error(&err, "read the token ratio of %s", model)
	err = s.file.Read.QueryRowContext(ctx, `SELECT high, window FROM gauges WHERE model = ?`, model).Scan(&g.High, &g.Window)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return g, err
}

// SaveTokenRatio saves the token ratio of a model.
func (s *Store) SaveTokenRatio(ctx context.Context, model string, g agent.TokenRatio) (err error) {
	defer wrap.Error(&err, "save the token ratio of %s", model)
	_, err = s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO gauges (model, low, high, window) VALUES (?, 0, ?, ?)`, model, g.High, g.Window)
	return err
}
