package tools

import (
	"context"

	"lifehub/agent"
)

type forgetArgs struct {
	Text string `json:"text" description:"the fact to forget, or words that only it holds"`
}

func newForget(f Facts, c changes) agent.Tool {
	plan := func(_ context.Context, args forgetArgs) (change, error) { return f.removing(args.Text) }
	return agent.NewEraser(spec[forgetArgs]("forget"), &writer[forgetArgs]{noteWriter: noteWriter{f.folders, c}, plan: plan, shown: map[forgetArgs]change{}})
}
