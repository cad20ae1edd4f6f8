package tools

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

type calculateArgs struct {
	Expression string `json:"expression" description:"such as (3 + 4) * 2, 15% of 80, sqrt(2)"`
}

func newCalculate() agent.Tool {
	return agent.NewTool(spec[calculateArgs]("calculate"), agent.Auto,
		func(_ context.Context, args calculateArgs) (agent.Result, error) {
			value, err := evaluate(args.Expression)
			if err != nil {
				return agent.Result{}, fmt.Errorf("calculate %q: %w", text.Cut(args.Expression, 100), err)
			}
			return agent.Result{Text: strings.TrimSpace(args.Expression) + " = " + formatNumber(value)}, nil
		}, agent.Computes)
}
