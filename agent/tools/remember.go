package tools

import (
	"context"
	"time"

	"lifehub/agent"
)

type rememberArgs struct {
	Text string `json:"text" description:"one whole sentence"`
}

// newRemember returns the tool that saves a fact with its date and
// conversation.
func newRemember(d noteWriter, f Facts, now func() time.Time) agent.Tool {
	return newWriter(d, spec[rememberArgs]("remember"), func(ctx context.Context, args rememberArgs) (change, error) {
		return f.adding(args.Text, agent.CallerOf(ctx), now())
	})
}
