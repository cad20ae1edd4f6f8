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

// Meters are those of this process, read from what is kept at first use.
type Meters struct {
	Saved agent.TokenRatios // nil: what is learned holds for this run
	mu    sync.Mutex
	By    map[string]agent.TokenRatio
	Last  map[string]Count      // the last prompt that was counted as less than it should be
	told  bool                  // the user knows that the server cuts prompts
	sent  map[string][][]uint64 // by model: the hashes of the messages of its last prompts
}

// Count is what the server counted of a prompt. Cached is the estimate of the
// messages at its beginning that were sent before: some servers count only what
// they had not read yet.
type Count struct{ Estimate, Counted, Cached int }

// mostSent is how many prompts of a model a server may still have read.
const mostSent = 8

var hashSeed = maphash.MakeSeed()

// cached notes a prompt, and returns the estimate of its beginning that an
// earlier one had too.
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
	// margin is what a prompt may be above all that were measured: another
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
	// unlike is how far the estimates of two prompts are apart that no server
	// counts alike, a part of the larger.
	unlike = 0.1
)

// Scale is what estimates are multiplied with to fit the next prompt, rather
// too much than too little. Where nothing was measured yet, much too much, unless
// the server refuses what is too long.
func Scale(g agent.TokenRatio, refuses bool) float64 {
	if g.High == 0 && !refuses {
		return mostUnmeasured
	}
	return max(cmp.Or(g.High, 1)*margin, leastScale)
}

// Longer has the prompts counted as longer from now on: one was too long.
func Longer(g *agent.TokenRatio) { g.High = min(max(g.High, 1)/Shorter, mostPlausible) }

// seen learns from a prompt of which the server counted so many tokens.
func seen(g *agent.TokenRatio, c Count) {
	r := float64(c.Counted) / float64(c.Estimate)
	if c.Counted > g.Window { // the server was given a larger one since
		g.Window = 0
	}
	if c.Estimate < leastMeasured || r < leastPlausible || r > mostPlausible {
		return
	}
	g.High = max(r, g.High-forget*(g.High-r))
}

// fills reports whether a count is that of a full window, of which the prompt
// had left room for the answer when it was sent. Who counts more read more.
func (c Count) fills(window int) bool {
	return window > 0 && c.Counted >= window-window/100 && c.Counted <= window
}

// short reports whether a server that cuts what is too long may have counted a
// part of the prompt only, or left out what it had cached: its count alone does
// not say which.
func (c Count) short(g agent.TokenRatio) bool {
	return c.Counted >= leastWindow && float64(c.Counted) < margin*max(g.High, 1)*float64(c.Estimate)
}

// alike reports whether two prompts of different size have one count, as they
// have where the server cut both to its window.
func (c Count) alike(other Count) bool {
	small, large := min(c.Estimate, other.Estimate), max(c.Estimate, other.Estimate)
	return max(c.Counted-other.Counted, other.Counted-c.Counted) <= 1 && float64(small) < (1-unlike)*float64(large)
}

// farShort reports whether a count is so small a part of a long prompt that no
// tokenizer and no cache explain it. One below half of the smallest window is
// taken for invented.
func (c Count) farShort() bool {
	const leastCounted, leastPart = leastWindow / 2, 0.25
	fresh := c.Estimate - c.Cached
	return c.Counted >= leastCounted && fresh >= leastWindow && float64(c.Counted) < leastPart*float64(fresh)
}

// fillsUsual reports whether a count is that of a usual window, or one less: a
// prompt meets it by chance once in thousands.
func (c Count) fillsUsual() bool {
	power := func(n int) bool { return bits.OnesCount(uint(n)) == 1 }
	return power(c.Counted) || power(c.Counted+1)
}

// Cut learns from a count, and reports whether the user has to hear, once a
// run, that the server cuts prompts. A count that fills the window that the
// server tells is believed. Where the window is not known and the server does
// not refuse what is too long, a count is a witness, and two that agree teach
// the window. A count that is far too small is reported whatever the server
// tells of its window, and teaches nothing.
func (s *Meters) Cut(ctx context.Context, model string, c Count, window int, refuses bool) bool {
	g := s.Of(ctx, model)
	s.mu.Lock()
	before, told := s.Last[model], s.told
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
	case doubtful && c.fillsUsual(): // the next one like it will teach
	case c.farShort():
	default:
		s.Learn(ctx, model, func(g *agent.TokenRatio) { seen(g, c) })
		return false
	}
	s.mu.Lock()
	s.told = true
	s.mu.Unlock()
	return !told
}

// Shorter is the part of a prompt's room that the next try has: its
// tokenizer counts more than the estimate.
const Shorter = 0.6
