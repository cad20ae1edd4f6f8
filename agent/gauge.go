package agent

import (
	"context"
	"log/slog"
	"math/bits"
	"sync"
)

// Gauge is what was learned about how a model's server counts tokens.
type Gauge struct {
	Low, High float64 // tokens of the server for one of the estimate, over the prompts so far; 0: none yet
	Window    int     // the server once cut a prompt to so many tokens; 0: never
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
}

func (s *gauges) of(ctx context.Context, model string) Gauge {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, known := s.by[model]
	if !known && s.kept != nil && model != "" {
		var err error
		if g, err = s.kept.Gauge(ctx, model); err != nil {
			slog.Warn("read how a model counts tokens", "model", model, "error", err)
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
	// A count outside of these is not that of the prompt: a server that leaves
	// out what it had in its cache, or one that invents it.
	leastPlausible, mostPlausible = 0.2, 8.0
	// leastScale bounds what a low count may teach; the estimate is at most
	// half too high.
	leastScale = 0.7
	// mostBytes is what one token of the estimate stands for at most, in tokens
	// of a server that makes one of each byte.
	mostBytes = 4.0
)

// scale is what estimates are multiplied with, rather too much than too little.
type scale struct {
	question float64 // for the user's message, which is cut last
	rest     float64
}

// scale is that of the next prompt. Where nothing was measured yet the worst is
// assumed, but not of the user's message: a model that is new as a rule meets a new
// conversation, in which nothing is lost by that.
func (g Gauge) scale() scale {
	if g.High == 0 {
		return scale{question: 1, rest: mostBytes}
	}
	s := max(g.High*margin, leastScale)
	return scale{question: s, rest: s}
}

// seen learns from a prompt of which the server counted so many tokens.
func (g *Gauge) seen(estimate, counted int) {
	r := float64(counted) / float64(estimate)
	if estimate < leastMeasured || r < leastPlausible || r > mostPlausible {
		return
	}
	if g.Low == 0 {
		g.Low = r
	}
	g.High = max(r, g.High-forget*(g.High-r))
	g.Low = min(r, g.Low+forget*(r-g.Low))
	if counted > g.Window { // the server was given a larger one since
		g.Window = 0
	}
}

// Below these parts of what was expected a prompt counts as cut: of the
// lowest measure of the model, or, without any, of the estimate, which common
// tokenizers undercut by a third.
const (
	cutOfMeasured = 0.6
	cutOfEstimate = 0.4
	leastCut      = 1000 // tokens of the estimate: of less, nothing is said
	leastWindow   = 256  // tokens: a server that counts fewer does not count the prompt
)

// wasCut tells whether the server dropped a part of the prompt: it counted
// exactly what fills the window; or, where it does not refuse what is too
// long, far less than was sent.
func (g Gauge) wasCut(estimate, counted, window int, refuses bool) bool {
	if window > 0 && counted >= window-window/100 {
		return true // the prompt left room for the answer when it was sent
	}
	if refuses || counted < leastWindow {
		return false
	}
	expected := cutOfEstimate * float64(estimate)
	if g.Low > 0 {
		expected = cutOfMeasured * g.Low * float64(estimate)
	}
	if estimate >= leastCut && float64(counted) < expected {
		return true
	}
	return fillsWindow(counted) && float64(counted) < margin*max(g.High, 1)*float64(estimate)
}

// fillsWindow tells whether a count is that of a usual window, or one less: a
// prompt meets it by chance once in thousands.
func fillsWindow(counted int) bool {
	const smallest = 2048
	power := func(n int) bool { return n >= smallest && bits.OnesCount(uint(n)) == 1 }
	return power(counted) || power(counted+1)
}
