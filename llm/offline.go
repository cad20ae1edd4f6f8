package llm

import (
	"context"
	"iter"
	"strings"
)

// Offline answers without any model: plans come from four rules
// (offline_plan.go), answers are quoted passages (offline_answer.go), vectors
// are hashed character n-grams (ngrams.go). It reads Request.Task; a request
// without one needs a real model.
// Why: docs/design/offline-provider.md.
type Offline struct{}

// NewOffline returns the provider that is built in.
func NewOffline() *Offline { return &Offline{} }

// OfflineText is what the screen says of it.
const OfflineText = "offline: quoting your notes, no model"

// Stream implements [Model]. Its error is an UnsupportedError when the request
// holds no task.
func (*Offline) Stream(ctx context.Context, req Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var text string
		switch {
		case req.Task == nil:
			yield(Delta{}, &UnsupportedError{Model: "offline", Capability: "requests without a task"})
			return
		case req.Task.Kind == PlanTask:
			text = makePlan(req.Task)
		case req.Task.Kind == SummaryTask:
			text = makeSummary(req.Task)
		default:
			text = makeAnswer(req.Task)
		}
		for piece := range strings.Lines(text) {
			if err := ctx.Err(); err != nil {
				yield(Delta{}, err)
				return
			}
			if !yield(Delta{Text: piece}, nil) {
				return
			}
		}
		yield(Delta{Usage: &Usage{Stopped: StopEnd}}, nil)
	}
}

// State implements [Provider].
func (*Offline) State() State { return State{Provider: "offline", Text: OfflineText} }

// Window implements [Provider]: quoting has no bound.
func (*Offline) Window() int { return 0 }

// SetWindow implements [Provider]; there is none to set.
func (*Offline) SetWindow(int) {}

// Ready implements [Provider].
func (*Offline) Ready(context.Context) error { return nil }

// Info implements [Provider].
func (*Offline) Info(_ context.Context, name string) (Info, error) {
	if name != "" && name != "offline" {
		return Info{}, &NotFoundError{Model: name}
	}
	return Info{Name: "offline"}, nil
}

// Models implements [Provider].
func (*Offline) Models(context.Context) ([]Info, error) { return nil, nil }

// SetModel implements [Provider]; it has none to change to.
func (*Offline) SetModel(_ context.Context, name string) error {
	return &UnsupportedError{Model: "offline", Capability: "other models, such as " + name}
}

// Pull implements [Provider].
func (*Offline) Pull(context.Context, string, func(Progress)) error {
	return &UnsupportedError{Model: "offline", Capability: "pulling models"}
}

// Embedder implements [Provider].
func (*Offline) Embedder(context.Context) (Embedder, error) { return Ngrams{}, nil }

// Close implements [Provider].
func (*Offline) Close() error { return nil }
