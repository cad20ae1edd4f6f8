package agent

import "context"

// recall brings back what was said before: the window of recent messages.
func (t *turn) recall(ctx context.Context) error {
	recent, err := t.History.Recent(ctx, t.conversation, windowMessages)
	if err != nil {
		return err
	}
	t.history = recent
	return nil
}
