// Package offline plans without a model, by a few rules.
package offline

import (
	"context"
	"iter"
	"strings"

	"lifehub/llm"
)

// Provider works without a model: it plans by rules (plan.go). It cannot write
// answers and returns [llm.ErrNoModel] for them; the caller then lists the
// closest passages. It reads Request.Task. See docs/design/offline-provider.md.
type Provider struct{}

// New returns the built-in provider.
func New() *Provider { return &Provider{} }

// Stream implements [llm.Model]. It yields a plan, or ErrNoModel for any other task.
func (*Provider) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if req.Task == nil || req.Task.Kind != llm.PlanTask {
			yield(llm.Delta{}, llm.ErrNoModel)
			return
		}
		for piece := range strings.Lines(makePlan(req.Task)) {
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

// Window implements [llm.Provider]; it is unbounded.
func (*Provider) Window() int { return 0 }

// SetWindow implements [llm.Provider]; it does nothing.
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

// SetModel implements [llm.Provider]; it always fails.
func (*Provider) SetModel(_ context.Context, name string) error {
	return &llm.UnsupportedError{Model: "offline", Capability: "other models, such as " + name}
}

// Pull implements [llm.Provider].
func (*Provider) Pull(context.Context, string, func(llm.Progress)) error {
	return &llm.UnsupportedError{Model: "offline", Capability: "pulling models"}
}

// Embedder implements [llm.Provider]; it returns nil.
func (*Provider) Embedder(context.Context) (llm.Embedder, error) { return nil, nil }

// Close implements [llm.Provider].
func (*Provider) Close() error { return nil }
