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
	Last     map[string]Count      // last suspicious count, by model
	notified bool                  // the user was notified that the server truncates prompts
	sent     map[string][][]uint64 // by model: message hashes of its last prompts
	rates    map[string]float64    // by model: tokens that it last read in a second
	warming  map[string]*warming   // by model: that reads the beginning of its prompts
}

// Count is the token count that a server reported for a prompt. Cached is the
// estimated size of its leading messages that were sent before, because some
// servers count only what is not cached.
type Count struct{ Estimate, Counted, Cached int }

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
		g.High = min(g.High, mostPlausible)
		if g.Window < leastWindow {
			g.Window = 0
		}
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
	// forget is the part of the distance by which an outlier decays with each
	// prompt.
	forget = 0.05
	// leastMeasured is the minimum estimate of a prompt to learn from; shorter
	// ones are mostly the chat template.
	leastMeasured = 100
	// leastWritten is the shortest answer, in tokens, that tells how fast a model
	// writes.
	leastWritten = 16
	// Counts outside these multiples of the estimate are implausible: the
	// server left out what it had cached, or invented the count.
	leastPlausible, mostPlausible = 0.4, 8.0
	// leastScale bounds the effect of low counts.
	leastScale = 0.7
	// mostUnmeasured is the factor assumed before any measurement. Common
	// tokenizers need a third less than the estimate; those that were not
	// trained on the language need about twice as much.
	mostUnmeasured = 2.0
	// leastWindow is the smallest window, in tokens, that a server is believed
	// to truncate prompts to: Ollama's smallest default.
	leastWindow = 2048
	// unlike is the minimum relative difference of two estimates that a server
	// cannot give the same count.
	unlike = 0.1
)

// Scale returns the factor for converting estimates to the server's tokens when
// fitting the next prompt, rather too high than too low. Before any measurement
// it is much too high, unless the server rejects prompts that are too long.
func Scale(g agent.TokenRatio, refuses bool) float64 {
	if g.High == 0 && !refuses {
		return mostUnmeasured
	}
	return max(cmp.Or(g.High, 1)*margin, leastScale)
}

// Longer raises the ratio after a prompt was too long.
func Longer(g *agent.TokenRatio) { g.High = min(max(g.High, 1)/Shorter, mostPlausible) }

// seen updates the ratio with a count.
func seen(g *agent.TokenRatio, c Count) {
	r := float64(c.Counted) / float64(c.Estimate)
	if c.Counted > g.Window { // the server has a larger window now
		g.Window = 0
	}
	if c.Estimate < leastMeasured || r < leastPlausible || r > mostPlausible {
		return
	}
	g.High = max(r, g.High-forget*(g.High-r))
}

// fills reports whether a count is that of a full window, although the prompt
// left room for the answer. A count above the window is not.
func (c Count) fills(window int) bool {
	return window > 0 && c.Counted >= window-window/100 && c.Counted <= window
}

// short reports whether a truncating server may have counted only a part of the
// prompt. It may instead have left out what it had cached; the count does not
// distinguish these.
func (c Count) short(g agent.TokenRatio) bool {
	return c.Counted >= leastWindow && float64(c.Counted) < margin*max(g.High, 1)*float64(c.Estimate)
}

// alike reports whether two prompts of different size have the same count, as
// when a server truncated both to its window.
func (c Count) alike(other Count) bool {
	small, large := min(c.Estimate, other.Estimate), max(c.Estimate, other.Estimate)
	return max(c.Counted-other.Counted, other.Counted-c.Counted) <= 1 && float64(small) < (1-unlike)*float64(large)
}

// farShort reports whether a count is too small a part of a long prompt to be
// explained by a tokenizer or a cache. Counts below half of the smallest window
// are assumed to be invented.
func (c Count) farShort() bool {
	const leastCounted, leastPart = leastWindow / 2, 0.25
	fresh := c.Estimate - c.Cached
	return c.Counted >= leastCounted && fresh >= leastWindow && float64(c.Counted) < leastPart*float64(fresh)
}

// fillsUsual reports whether a count is a power of two, or one less, like that
// of a full window. By chance, one prompt in thousands has such a count.
func (c Count) fillsUsual() bool {
	power := func(n int) bool { return bits.OnesCount(uint(n)) == 1 }
	return power(c.Counted) || power(c.Counted+1)
}

// Cut learns from a count, and reports whether the user has to be notified,
// once in a run, that the server truncates prompts. A count that fills the
// reported window is trusted. If the window is unknown and the server does not
// reject long prompts, two agreeing counts determine the window. A count that
// is far too small is reported in any case, but nothing is learned from it.
func (s *Meters) Cut(ctx context.Context, model string, c Count, window int, refuses bool) bool {
	g := s.Of(ctx, model)
	s.mu.Lock()
	before, notified := s.Last[model], s.notified
	doubtful := !refuses && c.short(g)
	if doubtful {
		s.Last[model] = c
	}
	s.mu.Unlock()
	switch {
	case c.fills(window):
		s.Learn(ctx, model, Longer)
	case doubtful && c.alike(before):
		s.Learn(ctx, model, func(g *agent.TokenRatio) { g.Window = c.Counted })
	case doubtful && c.fillsUsual(): // the next similar count decides
	case c.farShort():
	default:
		s.Learn(ctx, model, func(g *agent.TokenRatio) { seen(g, c) })
		return false
	}
	s.mu.Lock()
	s.notified = true
	s.mu.Unlock()
	return !notified
}

// Shorter is the factor by which a prompt that was too long is reduced.
const Shorter = 0.6
