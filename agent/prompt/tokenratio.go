package prompt

import (
	"cmp"
	"context"
	"hash/maphash"
	"log/slog"
	"math/bits"
	"sync"

	"lifehub/agent"
	"lifehub/llm"
)

// Meters has the token ratios of models, loaded on first use.
type Meters struct {
	Saved    agent.TokenRatios // nil: measurements last for this run
	mu       sync.Mutex
	By       map[string]agent.TokenRatio
	notified bool                  // the user was notified that the server truncates prompts
	sent     map[string][][]uint64 // by model: message hashes of its last prompts
	rates    map[string]float64    // by model: tokens that it last read in a second
	warming  map[string]*warming   // by model: that reads the beginning of its prompts
}

// mostSent is how many prompts of a model a server is assumed to cache.
const mostSent = 8

var hashSeed = maphash.MakeSeed()

// cached records a prompt, and returns the estimated size of the prefix that it
// shares with an earlier one.
func (s *Meters) cached(model string, messages []llm.Message) int {
	hashes := make([]uint64, len(messages))
	for i, m := range messages {
		hashes[i] = maphash.String(hashSeed, string(m.Role)+"\x00"+m.Text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	same := 0
	for _, before := range s.sent[model] {
		n := 0
		for n < min(len(before), len(hashes)) && before[n] == hashes[n] {
			n++
		}
		same = max(same, n)
	}
	if s.sent == nil {
		s.sent = map[string][][]uint64{}
	}
	recent := append(s.sent[model], hashes)
	s.sent[model] = recent[max(0, len(recent)-mostSent):]
	tokens := 0
	for _, m := range messages[:same] {
		tokens += Tokens(m.Text)
	}
	return tokens
}

// readingRate returns how many tokens of a prompt a model last read in a second,
// after it has recorded measured, unless that is 0. 0 means unknown.
func (s *Meters) readingRate(model string, measured float64) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates == nil {
		s.rates = map[string]float64{}
	}
	if measured > 0 {
		s.rates[model] = measured
	}
	return s.rates[model]
}

// Of returns the token ratio of a model.
func (s *Meters) Of(ctx context.Context, model string) agent.TokenRatio {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, known := s.By[model]
	if !known && s.Saved != nil && model != "" {
		var err error
		if g, err = s.Saved.TokenRatio(ctx, model); err != nil {
			slog.Warn("read how a model counts tokens", "model", model, "error", err)
		}
		g.Scale = min(g.Scale, mostPlausible)
	}
	s.By[model] = g
	return g
}

// Learn changes the token ratio of a model, and saves it.
func (s *Meters) Learn(ctx context.Context, model string, change func(*agent.TokenRatio)) {
	g := s.Of(ctx, model)
	was := g
	change(&g)
	if g == was {
		return
	}
	s.mu.Lock()
	s.By[model] = g
	s.mu.Unlock()
	if s.Saved == nil || model == "" {
		return
	}
	if err := s.Saved.SaveTokenRatio(context.WithoutCancel(ctx), model, g); err != nil {
		slog.Warn("keep how a model counts tokens", "model", model, "error", err)
	}
}

const (
	// margin is a safety factor on the measured ratio, because another prompt
	// may have another mixture of prose, code and languages.
	margin = 1.1
	// leastMeasured is the minimum estimate of a prompt to learn from; shorter
	// ones are mostly the chat template.
	leastMeasured = 100
	// leastWritten is the shortest answer, in tokens, that tells how fast a model
	// writes.
	leastWritten = 16
	// Counts outside these multiples of the estimate are implausible: the
	// server left out what it had cached, or invented the count.
	leastPlausible, mostPlausible = 0.4, 8.0
	// usual is what common tokenizers need of the estimate, and leastPart the part
	// of what is expected below which a count is that of a truncated prompt.
	usual, leastPart = 0.67, 0.75
	// leastScale bounds the effect of low counts.
	leastScale = 0.7
	// mostUnmeasured is the factor assumed before any measurement. Common
	// tokenizers need a third less than the estimate; those that were not
	// trained on the language need about twice as much.
	mostUnmeasured = 2.0
	// leastWindow is the smallest window, in tokens, that a server is believed
	// to truncate prompts to: Ollama's smallest default.
	leastWindow = 2048
)

// Scale returns the factor for converting estimates to the server's tokens when
// fitting the next prompt, rather too high than too low. Before any measurement
// it is much too high, unless the server rejects prompts that are too long.
func Scale(g agent.TokenRatio, refuses bool) float64 {
	if g.Scale == 0 && !refuses {
		return mostUnmeasured
	}
	return max(cmp.Or(g.Scale, 1)*margin, leastScale)
}

// Counted learns from the server's count of a prompt, and reports whether the user
// has to be notified, once in a run, that the server truncated it. fresh is the part
// of the estimate that was not sent before: some servers count no more. It is 0 for a
// server that rejects what is too long.
func (s *Meters) Counted(ctx context.Context, model string, estimate, fresh, counted, window int) bool {
	ratio, last := float64(counted)/float64(max(estimate, 1)), cmp.Or(s.Of(ctx, model).Scale, usual)
	switch {
	case fills(counted, estimate, window):
		s.Learn(ctx, model, func(g *agent.TokenRatio) { g.Scale = min(max(g.Scale, 1)/Shorter, mostPlausible) })
	// what was left out tells no ratio
	case counted >= leastWindow/2 && float64(counted) < leastPart*last*float64(fresh):
	case estimate >= leastMeasured && leastPlausible <= ratio && ratio <= mostPlausible:
		s.Learn(ctx, model, func(g *agent.TokenRatio) { g.Scale = ratio })
		return false
	default:
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	first := !s.notified
	s.notified = true
	return first
}

// fills reports whether a count is that of a full window, although the prompt left
// room for the answer: of the window that is known, or, for a long prompt, a power of
// two, or one less, which one prompt in thousands has by chance.
func fills(counted, estimate, window int) bool {
	power := func(n int) bool { return bits.OnesCount(uint(n)) == 1 }
	return window > 0 && counted >= window-window/100 && counted <= window ||
		leastWindow <= counted && counted <= estimate && (power(counted) || power(counted+1))
}

// Shorter is the factor by which a prompt that was too long is reduced.
const Shorter = 0.6
