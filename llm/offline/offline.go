// Package offline plans without a model, by a few rules.
package offline

import (
	"context"
	"iter"
	"strings"

	"lifehub/llm"
)

// Provider works without any model: plans come from rules (plan.go). An answer
// needs words of its own: it is [llm.ErrNoModel], and the caller lists the
// closest passages. It reads Request.Task; a request without one needs a real
// model.
// Why: docs/design/offline-provider.md.
type Provider struct{}

// New returns the provider that is built in.
func New() *Provider { return &Provider{} }

// Stream implements [llm.Model]. Its error is an UnsupportedError when the request
// holds no task.
func (*Provider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		var text string
		switch {
		case req.Task == nil:
			yield(llm.Delta{}, &llm.UnsupportedError{Model: "offline", Capability: "requests without a task"})
			return
		case req.Task.Kind == llm.PlanTask:
			text = makePlan(req.Task)
		case req.Task.Kind == llm.SummaryTask:
			text = makeSummary(req.Task)
		default:
			yield(llm.Delta{}, llm.ErrNoModel)
			return
		}
		for piece := range strings.Lines(text) {
			if err := ctx.Err(); err != nil {
				yield(llm.Delta{}, err)
				return
			}
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
		}
		yield(llm.Delta{Usage: &llm.Usage{Stopped: llm.StopEnd}}, nil)
	}
}

// State implements [llm.Provider].
func (*Provider) State() llm.State { return llm.State{Provider: "offline", Text: llm.OfflineNotice} }

// Window implements [llm.Provider]: rules have no bound.
func (*Provider) Window() int { return 0 }

// SetWindow implements [llm.Provider]; there is none to set.
func (*Provider) SetWindow(int) {}

// Ready implements [llm.Provider].
func (*Provider) Ready(context.Context) error { return nil }

// Info implements [llm.Provider].
func (*Provider) Info(_ context.Context, name string) (llm.Info, error) {
	if name != "" && name != "offline" {
		return llm.Info{}, &llm.NotFoundError{Model: name}
	}
	return llm.Info{Name: "offline"}, nil
}

// Models implements [llm.Provider].
func (*Provider) Models(context.Context) ([]llm.Info, error) { return nil, nil }

// SetModel implements [llm.Provider]; it has none to change to.
func (*Provider) SetModel(_ context.Context, name string) error {
	return &llm.UnsupportedError{Model: "offline", Capability: "other models, such as " + name}
}

// Pull implements [llm.Provider].
func (*Provider) Pull(context.Context, string, func(llm.Progress)) error {
	return &llm.UnsupportedError{Model: "offline", Capability: "pulling models"}
}

// Embedder implements [llm.Provider]; there is none.
func (*Provider) Embedder(context.Context) (llm.Embedder, error) { return nil, nil }

// Close implements [llm.Provider].
func (*Provider) Close() error { return nil }
