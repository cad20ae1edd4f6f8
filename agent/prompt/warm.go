package prompt

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"lifehub/agent"
	"lifehub/llm"
)

// warming is a request of [Asker.Warm] that is under way.
type warming struct {
	tokens int                         // that the model reads
	read   atomic.Pointer[llm.Reading] // how far it is; nil: unknown
	done   chan struct{}               // closed at its end
}

// Warm has the model read a prompt, so that its server holds it when the next one
// begins with the same messages. Requests to the model that are made meanwhile wait
// for it. Nothing is reported but the error.
func (a *Asker) Warm(ctx context.Context, p Prompt) error {
	window, scale := a.measured(ctx)
	fitted := p.Fit(window, scale)
	w := &warming{tokens: int(float64(fitted.Estimate) * scale), done: make(chan struct{})}
	if !a.Meters.begin(a.ModelName(), w) {
		return nil
	}
	defer a.Meters.end(a.ModelName(), w)
	req := p.Request
	req.Messages, req.MaxTokens, req.Think = fitted.Messages, 1, a.Think
	a.Meters.cached(a.ModelName(), req.Messages)
	sent, pieces := time.Now(), 0
	for delta, err := range a.Model.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if delta.Text != "" || delta.Thinking != "" {
			pieces++
		}
		if pieces > 1 { // a server that ignores the limit
			break
		}
		if delta.Reading != nil {
			w.read.Store(delta.Reading)
		}
		if u := delta.Usage; u != nil && u.Prompt-u.Cached >= leastMeasured {
			a.Meters.readingRate(a.ModelName(), float64(u.Prompt-u.Cached)/time.Since(sent).Seconds())
		}
	}
	return ctx.Err()
}

// afterWarm waits until the model has read what [Asker.Warm] asks of it, and reports
// how far it is.
func (a *Asker) afterWarm(ctx context.Context, p Prompt) error {
	w := a.Meters.warmingOf(a.ModelName())
	if w == nil {
		return ctx.Err()
	}
	reading := agent.Reading{
		Agent: p.Agent, Step: p.Step, Model: a.ModelName(), Tokens: w.tokens, Beginning: true,
		PerSecond: a.Meters.readingRate(a.ModelName(), 0),
	}
	for _, err := range a.listen(ctx, reading, w.deltas) {
		return err
	}
	return ctx.Err()
}

// deltas yields, each second, the progress of the request until it ends.
func (w *warming) deltas(ctx context.Context) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		look := time.NewTicker(time.Second)
		defer look.Stop()
		for {
			select {
			case <-look.C:
				if r := w.read.Load(); r != nil && !yield(llm.Delta{Reading: r}, nil) {
					return
				}
			case <-w.done:
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// begin records that a model reads the beginning of its prompts. It reports false if
// it does so already.
func (s *Meters) begin(model string, w *warming) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.warming[model] != nil {
		return false
	}
	if s.warming == nil {
		s.warming = map[string]*warming{}
	}
	s.warming[model] = w
	return true
}

func (s *Meters) end(model string, w *warming) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.warming, model)
	close(w.done)
}

func (s *Meters) warmingOf(model string) *warming {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.warming[model]
}
