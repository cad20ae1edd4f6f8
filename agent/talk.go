package agent

import (
	"context"

	"lifehub/internal/when"
)

type talkKey struct{}

// InTalk is a context whose tools know what the conversation said of times.
func InTalk(ctx context.Context, t when.Talk) context.Context {
	return context.WithValue(ctx, talkKey{}, t)
}

// TalkOf is what the conversation said of times; zero: nothing.
func TalkOf(ctx context.Context) when.Talk {
	t, _ := ctx.Value(talkKey{}).(when.Talk)
	return t
}
