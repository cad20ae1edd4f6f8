package agent

import (
	"context"

	"lifehub/internal/when"
)

type talkKey struct{}

// InTalk returns a context that gives tools the times mentioned in the
// conversation.
func InTalk(ctx context.Context, t when.Talk) context.Context {
	return context.WithValue(ctx, talkKey{}, t)
}

// TalkOf returns the times mentioned in the conversation; zero if none.
func TalkOf(ctx context.Context) when.Talk {
	t, _ := ctx.Value(talkKey{}).(when.Talk)
	return t
}
