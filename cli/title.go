package cli

import (
	"context"
	"time"

	"lifehub/agent"
)

// titlePatience is how long a title may take; it is of no use much later.
const titlePatience = time.Minute

// title makes a title from the first exchange of a conversation, if the user
// gave it none and a model is there to make one. What the first words made is
// kept else.
func (l *life) title(ctx context.Context, conversation string) (string, error) {
	c, err := l.store.Conversation(ctx, conversation)
	if err != nil || c.TitledBy != agent.ByWords {
		return c.Title, err
	}
	if state := l.provider.State(); state.Provider == "offline" || state.Provider == "" {
		return "", nil
	}
	path, err := l.store.Exchanges(ctx, c.ID)
	if err != nil || len(path) == 0 || path[0].Answer.Text == "" {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, titlePatience)
	defer cancel()
	title, err := agent.Title(ctx, l.provider, path[0].Question, path[0].Answer.Text)
	if err != nil {
		return "", err
	}
	if err := l.store.Entitle(ctx, c.ID, title); err != nil {
		return "", err
	}
	c, err = l.store.Conversation(ctx, c.ID) // the user may have named it meanwhile
	return c.Title, err
}
