package agent

import (
	"context"
	"slices"
	"strings"

	"lifehub/llm"
)

// recall brings back what was said before: the window of recent messages. An
// answer that never came leaves no message.
func (t *turn) recall(ctx context.Context) error {
	recent, err := t.History.Recent(ctx, t.conversation, windowMessages)
	if err != nil {
		return err
	}
	t.history = slices.DeleteFunc(recent, func(m llm.Message) bool { return strings.TrimSpace(m.Text) == "" })
	return nil
}
