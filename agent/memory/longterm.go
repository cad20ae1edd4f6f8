package memory

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

// FactTokens is the budget for facts in a prompt, in estimated tokens: about
// forty facts. If there are more, those that fit the question are preferred.
const FactTokens = 800

// ChooseFacts marks the facts that fit the question. If there are more facts
// than FactTokens allows, it keeps those that fit best, and then the newest.
// The order is unchanged.
func ChooseFacts(ctx context.Context, question string, all []agent.Fact) ([]agent.Fact, error) {
	likeness, err := alike(ctx, question, factTexts(all))
	if err != nil {
		return nil, err
	}
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		if all[i].Fits = likeness[i].fits(); !all[i].Fits {
			likeness[i].share, likeness[i].ngrams = 0, 0 // so that the newest come first among them
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(likeness[b].sum(), likeness[a].sum()), b-a)
	})
	room := FactTokens
	fits := map[int]bool{}
	for _, i := range order {
		if cost := prompt.Tokens(FactLine(all[i], 0)); cost <= room {
			room -= cost
			fits[i] = true
		}
	}
	var chosen []agent.Fact
	for i, f := range all {
		if fits[i] {
			chosen = append(chosen, f)
		}
	}
	return chosen, nil
}

// FactLine formats a fact for a prompt; n is its citation number, 0 for none.
func FactLine(f agent.Fact, n int) string {
	line := text.OneLine(f.Text)
	if from := f.Provenance(); from != "" {
		line += " (" + from + ")"
	}
	if n > 0 {
		return fmt.Sprintf("[%d] %s", n, line)
	}
	return "- " + line
}

// LongTerm configures how an Agent uses its memory.
type LongTerm struct {
	Store      agent.Memory // nil: what leaves the window is forgotten
	Everywhere bool         // recall from all conversations, not just the current one
	K          int          // maximum number of recalled exchanges; 0: 1
	Embedding  Embedding    // nil: recall uses keywords only
}

// Embedding is what makes exchanges searchable by their meaning.
type Embedding interface {
	// MemoryEmbedder returns the current embedder; nil: recall uses keywords only.
	MemoryEmbedder(ctx context.Context) llm.Embedder
	// Prefixes returns the text that an embedding model expects before a question
	// and before a searched text.
	Prefixes(embedder string) (question, text string)
	// Archived is called when an exchange was archived, so that EmbedAll can be
	// run. It must not block.
	Archived()
}

// defaultK is the default number of recalled exchanges.
const defaultK = 1

// recallTimeout bounds embedding a question; after that, recall uses keywords
// only.
const recallTimeout = 2 * time.Second

// candidates is how many exchanges are ranked, from the keyword and from the
// semantic search each.
const candidates = 12

// embedBatch is how many exchanges are embedded at once.
const embedBatch = 32

// maxEmbedded bounds the embedded part of an exchange, in bytes: the models
// read 512 tokens and more.
const maxEmbedded = 2 << 10

// Recall finds past exchanges that fit a question. It does not search the last
// window messages of the conversation.
func (m LongTerm) Recall(ctx context.Context, conversation, question string, window,
	k int,
) ([]agent.Recollection, error) {
	q := agent.MemoryQuery{Conversation: conversation, Everywhere: m.Everywhere, Window: window, Question: question}
	return m.similar(ctx, q, k, maxEmbedded)
}

// Search finds exchanges of all conversations that fit a query. It archives them
// first, because many are still in the window of their conversation; a turn that
// is not over is not searched.
func (m LongTerm) Search(ctx context.Context, query string, k int) ([]agent.Recollection, error) {
	n, err := m.Store.Archive(ctx, "", 0, true)
	if err != nil {
		return nil, err
	}
	if n > 0 && m.Embedding != nil {
		m.Embedding.Archived()
	}
	return m.similar(ctx, agent.MemoryQuery{Everywhere: true, Question: query}, k, math.MaxInt)
}

// similar returns the k (0: 1) exchanges that fit a question best, judged by their
// first bytes, most at the most.
func (m LongTerm) similar(ctx context.Context, q agent.MemoryQuery, k, most int) ([]agent.Recollection, error) {
	if m.Store == nil || strings.TrimSpace(q.Question) == "" {
		return nil, nil
	}
	if k <= 0 {
		k = defaultK
	}
	q.Limit = max(candidates, k)
	q.Embedder, q.Vector = m.embedQuestion(ctx, q.Question)
	found, err := m.Store.Similar(ctx, q)
	if err != nil {
		return nil, err
	}
	return rankMemories(ctx, q.Question, found, k, most)
}

// embedQuestion returns no vector if none is available in time.
func (m LongTerm) embedQuestion(ctx context.Context, question string) (name string, vector []float32) {
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	e := m.embedder(ctx)
	if e == nil {
		return "", nil
	}
	prefix, _ := m.Embedding.Prefixes(e.Name())
	vectors, err := agent.Guarded(ctx, func(ctx context.Context) ([][]float32, error) {
		return e.Embed(ctx, []string{prefix + text.Clip(question, maxEmbedded)})
	})
	if err != nil || len(vectors) != 1 {
		return "", nil
	}
	return e.Name(), vectors[0]
}

func (m LongTerm) embedder(ctx context.Context) llm.Embedder {
	if m.Embedding == nil {
		return nil
	}
	return m.Embedding.MemoryEmbedder(ctx)
}

// EmbedAll embeds every archived exchange that has no vector of the current
// embedder. It is meant to run in the background; meanwhile keywords find the
// exchanges. It returns when ctx ends.
func (m LongTerm) EmbedAll(ctx context.Context) error {
	e := m.embedder(ctx)
	if m.Store == nil || e == nil {
		return nil
	}
	_, prefix := m.Embedding.Prefixes(e.Name())
	for last := int64(0); ; {
		batch, err := m.Store.Unembedded(ctx, e.Name(), last, embedBatch)
		if err != nil || len(batch) == 0 {
			return err
		}
		texts := make([]string, len(batch))
		for i, r := range batch {
			texts[i] = prefix + text.Clip(r.Question+"\n"+r.Answer, maxEmbedded)
		}
		vectors, err := e.Embed(ctx, texts)
		if err != nil {
			return fmt.Errorf("embed the memory: %w", err)
		}
		if len(vectors) != len(batch) {
			return fmt.Errorf("embed the memory: %d vectors for %d texts", len(vectors), len(batch))
		}
		byTurn := make(map[string][]float32, len(batch))
		for i, r := range batch {
			byTurn[r.Turn], last = vectors[i], r.Memory
		}
		if err := m.Store.SaveVectors(ctx, e.Name(), byTurn); err != nil {
			return err
		}
	}
}

// rankMemories ranks candidates by keywords and vectors, and returns the k best
// of those that fit, clipped to most bytes.
func rankMemories(ctx context.Context, question string, found []agent.Recollection, k,
	most int,
) ([]agent.Recollection, error) {
	texts := make([]string, 0, len(found))
	best := 0.0
	for _, r := range found {
		best = max(best, r.BM25)
		texts = append(texts, text.Clip(r.Question+"\n"+r.Answer, most))
	}
	likeness, err := alike(ctx, question, texts)
	if err != nil {
		return nil, err
	}
	var fit []agent.Recollection
	for i, r := range found {
		if !likeness[i].fits() && !meansTheSame(r) {
			continue
		}
		if best > 0 {
			r.Score = keywordWeight * r.BM25 / best
		}
		r.Score += (1 - keywordWeight) * min(1, max(0, r.ZScore)/fullDeviations)
		fit = append(fit, r)
	}
	slices.SortStableFunc(fit, func(a, b agent.Recollection) int { return cmp.Compare(b.Score, a.Score) })
	return fit[:min(k, len(fit))], nil
}

// These were measured on facts from several conversations that were asked about
// later (docs/figures/memory.md). An exchange that does not fit costs a hundred
// tokens, but a missed one costs the answer, so the thresholds are low.
const (
	// keywordWeight is the weight of the keyword score.
	keywordWeight = 0.7
	// minDeviations is the minimum of the z-score of a fitting exchange. Unlike
	// cosines, deviations are comparable between models.
	minDeviations = 3.0
	// minCosine is the minimum cosine, used if there are too few exchanges
	// for a z-score.
	minCosine = 0.6
	// fullDeviations is the z-score that gets the full semantic score.
	fullDeviations = 6.0
)

func meansTheSame(r agent.Recollection) bool {
	if r.ZScore == 0 {
		return r.Cosine >= minCosine
	}
	return r.ZScore >= minDeviations
}
