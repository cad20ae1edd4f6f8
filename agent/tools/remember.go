package tools

import (
	"context"
	"time"

	"lifehub/agent"
)

type rememberArgs struct {
	Text string `json:"text" description:"one fact about the user, as a sentence that stands on its own"`
}

// newRemember writes a fact down with its day and the conversation it comes
// from. One made while text from outside stood in the prompts says so.
func newRemember(d noteWriter, f Facts, now func() time.Time) agent.Tool {
	return newWriter(d, spec[rememberArgs]("remember"), func(ctx context.Context, args rememberArgs) (change, error) {
		return f.adding(args.Text, agent.OriginOf(ctx), now())
	})
}
