package tools

import (
	"context"

	"lifehub/agent"
)

type forgetArgs struct {
	Text string `json:"text"`
}

const forgetSchema = `{
	"type": "object",
	"properties": {
		"text": {"type": "string", "description": "the fact to forget, or words that only it holds"}
	},
	"required": ["text"],
	"additionalProperties": false
}`

func newForget(f Facts, c changes) agent.Tool {
	plan := func(_ context.Context, args forgetArgs) (change, error) { return f.removing(args.Text) }
	return agent.NewEraser(spec("forget", forgetSchema), &writer[forgetArgs]{desk: desk{f.folders, c}, plan: plan, shown: map[string]change{}})
}
