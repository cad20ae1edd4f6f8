package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"lifehub/agent"
)

// Summary returns the newest summary on the conversation's current path; its
// Turn is "" when there is none.
func (s *Store) Summary(ctx context.Context, conversation string) (agent.Summary, error) {
	summary, err := s.summary(ctx, conversation)
	if err != nil {
		return agent.Summary{}, fmt.Errorf("read the summary of the conversation: %w", err)
	}
	return summary, nil
}

func (s *Store) summary(ctx context.Context, conversation string) (agent.Summary, error) {
	kept, err := texts(ctx, s.file.Read, `SELECT y.turn FROM summaries y JOIN turns t ON t.id = y.turn WHERE t.conversation = ?`, conversation)
	if err != nil || len(kept) == 0 {
		return agent.Summary{}, err
	}
	has := map[string]bool{}
	for _, turn := range kept {
		has[turn] = true
	}
	path, err := pathOf(ctx, s.file.Read, conversation)
	if err != nil {
		return agent.Summary{}, err
	}
	found := agent.Summary{}
	for i, turn := range path {
		if found.Turn == "" && has[turn.id] {
			found.Turn = turn.id
			if err := s.file.Read.QueryRowContext(ctx, `SELECT text FROM summaries WHERE turn = ?`, turn.id).Scan(&found.Text); err != nil {
				return agent.Summary{}, err
			}
		}
		if found.Turn == "" && !(turn.state == "open" && i == 0) {
			if found.After++; turn.answered {
				found.After++
			}
		}
	}
	if found.Turn == "" {
		return agent.Summary{}, nil // all summaries are of other branches
	}
	return found, nil
}

// KeepSummary keeps what the path up to and with a turn came down to.
func (s *Store) KeepSummary(ctx context.Context, turn, text string) error {
	if _, err := s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO summaries (turn, text, created) VALUES (?, ?, ?)`, turn, text, s.now().UnixMilli()); err != nil {
		return fmt.Errorf("keep the summary of the conversation: %w", err)
	}
	return nil
}

// TokenRatio is how a model's server counts tokens, as far as it was learned.
func (s *Store) TokenRatio(ctx context.Context, model string) (g agent.TokenRatio, err error) {
	err = s.file.Read.QueryRowContext(ctx, `SELECT high, window FROM gauges WHERE model = ?`, model).Scan(&g.High, &g.Window)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return agent.TokenRatio{}, fmt.Errorf("read how %s counts tokens: %w", model, err)
	}
	return g, nil
}

// SaveTokenRatio keeps what was learned of it.
func (s *Store) SaveTokenRatio(ctx context.Context, model string, g agent.TokenRatio) error {
	if _, err := s.file.Write.ExecContext(ctx, `INSERT OR REPLACE INTO gauges (model, low, high, window) VALUES (?, 0, ?, ?)`, model, g.High, g.Window); err != nil {
		return fmt.Errorf("keep how %s counts tokens: %w", model, err)
	}
	return nil
}
