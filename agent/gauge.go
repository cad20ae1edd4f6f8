package agent

import (
	"cmp"
	"context"
	"log/slog"
	"math/bits"
	"sync"
)

// Gauge is what was learned about how a model's server counts tokens.
// Why: docs/design/models-and-windows.md.
type Gauge struct {
	High   float64 // most tokens of the server for one of the estimate, over the prompts so far; 0: none yet
	Window int     // the server cut prompts to so many tokens and does not tell so itself; 0: never
}

// Gauges keeps what was learned. *store.Store is the real one.
type Gauges interface {
	// Gauge is the zero value for a model that was never measured.
	Gauge(ctx context.Context, model string) (Gauge, error)
	KeepGauge(ctx context.Context, model string, g Gauge) error
}

// gauges are those of this process, read from what is kept at first use.
type gauges struct {
	kept Gauges // nil: what is learned holds for this run
	mu   sync.Mutex
	by   map[string]Gauge
	last map[string]count // the last prompt that was counted as less than it should be
	told bool             // the user knows that the server cuts prompts
}

// count is what the server counted of a prompt.
type count struct{ estimate, counted int }

func (s *gauges) of(ctx context.Context, model string) Gauge {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, known := s.by[model]
	if !known && s.kept != nil && model != "" {
		var err error
		if g, err = s.kept.Gauge(ctx, model); err != nil {
			slog.Warn("read how a model counts tokens", "model", model, "error", err)
		}
		g.High = min(g.High, mostPlausible)
		if g.Window < leastWindow {
			g.Window = 0
		}
	}
	s.by[model] = g
	return g
}

func (s *gauges) learn(ctx context.Context, model string, change func(*Gauge)) {
	g := s.of(ctx, model)
	was := g
	change(&g)
	if g == was {
		return
	}
	s.mu.Lock()
	s.by[model] = g
	s.mu.Unlock()
	if s.kept == nil || model == "" {
		return
	}
	if err := s.kept.KeepGauge(context.WithoutCancel(ctx), model, g); err != nil {
		slog.Warn("keep how a model counts tokens", "model", model, "error", err)
	}
}

const (
	// margin is what a prompt may lie above all that were measured: another
	// mixture of prose, code and languages.
	margin = 1.1
	// forget is how fast an outlier is forgotten, a part of the distance at
	// each prompt.
	forget = 0.05
	// leastMeasured is the estimate from which on a prompt teaches something;
	// shorter ones are mostly the chat template.
	leastMeasured = 100
	// A count outside of these parts of the estimate is not that of the prompt:
	// a server that leaves out what it had in its cache, or one that invents it.
	leastPlausible, mostPlausible = 0.4, 8.0
	// leastScale bounds what a low count may teach; the estimate is at most
	// half too high.
	leastScale = 0.7
	// mostUnmeasured is what one token of the estimate stands for at most, as
	// far as is known: common tokenizers undercut it by a third, those that do not
	// know the language take about twice as many.
	mostUnmeasured = 2.0
	// leastWindow is the smallest window, in tokens, that a server is believed
	// to cut prompts to: Ollama's smallest default.
	leastWindow = 2048
	// unlike is how far the estimates of two prompts lie apart that no server
	// counts alike, a part of the larger.
	unlike = 0.1
)

// scale is what estimates are multiplied with to fit the next prompt, rather
// too much than too little. Where nothing was measured yet, much too much, unless
// the server refuses what is too long.
func (g Gauge) scale(refuses bool) float64 {
	if g.High == 0 && !refuses {
		return mostUnmeasured
	}
	return max(cmp.Or(g.High, 1)*margin, leastScale)
}

// longer has the prompts counted as longer from now on: one was too long.
func (g *Gauge) longer() { g.High = min(max(g.High, 1)/shorter, mostPlausible) }

// seen learns from a prompt of which the server counted so many tokens.
func (g *Gauge) seen(c count) {
	r := float64(c.counted) / float64(c.estimate)
	if c.counted > g.Window { // the server was given a larger one since
		g.Window = 0
	}
	if c.estimate < leastMeasured || r < leastPlausible || r > mostPlausible {
		return
	}
	g.High = max(r, g.High-forget*(g.High-r))
}

// fills reports whether a count is that of a full window, of which the prompt
// had left room for the answer when it was sent. Who counts more read more.
func (c count) fills(window int) bool {
	return window > 0 && c.counted >= window-window/100 && c.counted <= window
}

// short reports whether a server that cuts what is too long may have counted a
// part of the prompt only, or left out what it had cached: its count alone does
// not say which.
func (c count) short(g Gauge) bool {
	return c.counted >= leastWindow && float64(c.counted) < margin*max(g.High, 1)*float64(c.estimate)
}

// alike reports whether two prompts of different size have one count, as they
// have where the server cut both to its window.
func (c count) alike(other count) bool {
	small, large := min(c.estimate, other.estimate), max(c.estimate, other.estimate)
	return max(c.counted-other.counted, other.counted-c.counted) <= 1 && float64(small) < (1-unlike)*float64(large)
}

// fillsUsual reports whether a count is that of a usual window, or one less: a
// prompt meets it by chance once in thousands.
func (c count) fillsUsual() bool {
	power := func(n int) bool { return bits.OnesCount(uint(n)) == 1 }
	return power(c.counted) || power(c.counted+1)
}

// cut learns from a count, and reports whether the user has to hear, once a
// run, that the server cuts prompts. A count that fills the window that the
// server tells is believed. Where the window is not known and the server does
// not refuse what is too long, a count is a witness, and two that agree teach
// the window.
func (s *gauges) cut(ctx context.Context, model string, c count, window int, refuses bool) bool {
	g := s.of(ctx, model)
	s.mu.Lock()
	before, told := s.last[model], s.told
	doubtful := !refuses && c.short(g)
	if doubtful {
		s.last[model] = c
	}
	s.mu.Unlock()
	switch {
	case c.fills(window):
		s.learn(ctx, model, (*Gauge).longer)
	case doubtful && c.alike(before):
		s.learn(ctx, model, func(g *Gauge) { g.Window = c.counted })
	case doubtful && c.fillsUsual(): // the next one like it will teach
	default:
		s.learn(ctx, model, func(g *Gauge) { g.seen(c) })
		return false
	}
	s.mu.Lock()
	s.told = true
	s.mu.Unlock()
	return !told
}

// shorter is the part of a prompt's room that the next try has: its
// tokenizer counts more than the estimate.
const shorter = 0.6
