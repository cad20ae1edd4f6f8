package tools

import (
	"context"

	"lifehub/agent"
)

type forgetArgs struct {
	Text string `json:"text"`
}

func newForget(d noteWriter, f Facts) agent.Tool {
	plan := func(ctx context.Context, args forgetArgs) (change, error) { return f.removing(ctx, args.Text) }
	return agent.NewEraser(spec[forgetArgs]("forget"), writer[forgetArgs]{d, plan})
}
