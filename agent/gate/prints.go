package gate

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/fingerprint"
)

// InMemory returns a Provenance that lasts only for this run.
func InMemory() agent.Provenance { return &inMemory{prints: map[int64]agent.Untrusted{}} }

type inMemory struct {
	mu     sync.Mutex
	prints map[int64]agent.Untrusted
}

func (m *inMemory) Remember(_ context.Context, u agent.Untrusted) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range u.Prints {
		if _, known := m.prints[p]; !known || u.Kind != agent.WasSaid {
			m.prints[p] = u
		}
	}
	return nil
}

func (m *inMemory) Sources(_ context.Context, prints []int64) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := map[string]bool{}
	for _, p := range prints {
		if u, ok := m.prints[p]; ok {
			found[u.Source] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (m *inMemory) Forget(_ context.Context, prints []int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range prints {
		if m.prints[p].Kind == agent.WasSaid {
			delete(m.prints, p)
		}
	}
	return nil
}

// Sources returns the names of the sources of untrusted text in texts. Text
// whose origin cannot be determined counts as untrusted.
func Sources(ctx context.Context, store agent.Provenance, texts ...string) []string {
	var prints []int64
	for _, text := range texts {
		prints = append(prints, fingerprint.In(text)...)
	}
	slices.Sort(prints)
	from, err := store.Sources(ctx, slices.Compact(prints))
	if err != nil {
		return []string{"text whose origin is unknown (" + err.Error() + ")"}
	}
	return from
}

// Mark tags the untrusted text of a result, or of its error, and fingerprints
// it. Everything that a tool or attachment returns passes through it. If
// outside is set, all of the result is untrusted.
func (r *Record) Mark(ctx context.Context, from string, outside bool, result *agent.Result, reason string) {
	untrusted := func(texts ...string) bool {
		return len(agent.OpenedIn(ctx, texts)) > 0 || len(Sources(ctx, r.Store, texts...)) > 0
	}
	all := []string{result.Text, reason}
	for _, s := range append(slices.Clip(result.Sources), result.Listed...) {
		if all = append(all, s.Path, s.Heading); !fingerprint.Within(s.Text, result.Text) {
			all = append(all, s.Text)
		}
	}
	if !outside && !result.IsUntrusted() && !untrusted(all...) { // usually one lookup shows that nothing is untrusted
		untrusted = func(...string) bool { return false }
	}
	var own []string
	if outside {
		result.Untrusted = true
		r.remember(ctx, agent.CameIn, from, append(r.Prints(result.Text, false), r.Prints(reason, false)...))
	}
	for _, s := range result.Listed {
		if !untrusted(s.Text) {
			own = append(own, s.Text)
		}
	}
	for i := range result.Sources {
		switch s := &result.Sources[i]; {
		case outside || s.Untrusted:
			s.Untrusted = true
			r.remember(ctx, agent.CameIn, s.Path, r.Prints(s.Text, false))
		case untrusted(s.Path, s.Heading, s.Text):
			s.Untrusted = true
			own = append(own, linesWithout(untrusted, s.Text)...)
		case s.Call != "" && r.HasUntrusted(): // treated like the result's own text below
		default:
			own = append(own, s.Text)
		}
	}
	if !result.IsUntrusted() {
		result.Untrusted = untrusted(result.Text, reason)
		switch {
		case r.HasUntrusted(): // the text may repeat arguments derived from untrusted text
		case result.Untrusted:
			own = append(own, linesWithout(untrusted, result.Text)...)
		default:
			own = append(own, result.Text)
		}
	}
	r.AddOwn(own...)
}

// linesWithout returns the lines of text without untrusted content.
func linesWithout(untrusted func(...string) bool, text string) (own []string) {
	for line := range strings.Lines(text) {
		if !untrusted(line) {
			own = append(own, line)
		}
	}
	return own
}

// OwnLines returns the lines of text that are the user's own.
func (r *Record) OwnLines(ctx context.Context, text string) []string {
	untrusted := func(texts ...string) bool { return len(Sources(ctx, r.Store, texts...)) > 0 }
	if !untrusted(text) {
		return []string{text}
	}
	return linesWithout(untrusted, text)
}

// remember saves fingerprints of this turn's untrusted text, and reports a
// failure as a notice.
func (r *Record) remember(ctx context.Context, kind agent.Kind, from string, prints []int64) {
	if len(prints) == 0 {
		return
	}
	if err := r.Save(ctx, kind, from, prints); err != nil {
		r.Stream.Notice("Text from %s could not be recorded as untrusted: %v.", from, err)
	}
}

// Save saves fingerprints of this turn's untrusted text, even after ctx was
// cancelled.
func (r *Record) Save(ctx context.Context, kind agent.Kind, from string, prints []int64) error {
	return r.Store.Remember(context.WithoutCancel(ctx), agent.Untrusted{Source: from, Conversation: r.Conversation, Kind: kind, Prints: prints})
}

// Prints returns the fingerprints of text derived from untrusted text, except
// those of the user's own words and notes. If written is set, even short lines
// are fingerprinted.
func (r *Record) Prints(text string, written bool) []int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fingerprint.Except(text, written, &r.own)
}

// RememberSaid records an answer derived from untrusted text. An answer given
// without any is removed from the record.
func (r *Record) RememberSaid(ctx context.Context, text string) {
	if from := r.ReadSoFar().Untrusted; len(from) > 0 {
		r.remember(ctx, agent.WasSaid, from[0], r.Prints(text, false))
	} else if err := r.Store.Forget(context.WithoutCancel(ctx), fingerprint.Of(text)); err != nil {
		r.Stream.Notice("This answer may be treated as untrusted later: %v.", err)
	}
}
