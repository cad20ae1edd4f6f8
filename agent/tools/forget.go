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
	return newWriter(desk{f.folders, c}, spec("forget", forgetSchema), func(_ context.Context, args forgetArgs) (change, error) {
		return f.removing(args.Text)
	})
}
