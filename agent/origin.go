package agent

import (
	"context"
	"slices"
	"sync"

	"lifehub/agent/fingerprint"
)

type agentKey struct{}

// WithAgent makes known to tools who calls them.
func WithAgent(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, agentKey{}, name)
}

// agentOf is who calls a tool; "worker": a step of the turn's plan.
func agentOf(ctx context.Context) string {
	if name, _ := ctx.Value(agentKey{}).(string); name != "" {
		return name
	}
	return "worker"
}

type callKeyName struct{}

func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, callKeyName{}, key)
}

// IdempotencyKey names the call that ctx is of, for a tool's Run and Preview. It is
// the same when a call is made again after LifeHub was stopped, so that what
// was sent twice can be known by it.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(callKeyName{}).(string)
	return key
}

// Origin says for whom a tool runs. A tool that keeps where something came
// from asks for it with [OriginOf].
type Origin struct {
	Conversation string // "": the user called the tool without one
	Turn         string // its id; "": it is not kept
	Agent        string // who calls the tool, such as worker or notes
}

type originKey struct{}

// callOrigin is what tools may know of the call that they run.
type callOrigin struct {
	Origin
	opened *opened
}

// WithOrigin makes known to the tool of a call for whom it runs.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, callOrigin{o, &opened{prints: map[int64]string{}}})
}

// OriginOf is the origin of the call that a tool is running or previewing.
func OriginOf(ctx context.Context) Origin {
	call, ok := ctx.Value(originKey{}).(callOrigin)
	if !ok {
		return Origin{}
	}
	call.Agent = agentOf(ctx)
	return call.Origin
}

// opened is what a call has opened of notes that name a source elsewhere.
type opened struct {
	mu     sync.Mutex
	prints map[int64]string // their paths
}

// Opened is told by a tool that it opens a note which says itself that it is
// from elsewhere, such as a clipping. What the call brings or says of it is
// untrusted.
func Opened(ctx context.Context, path string, texts ...string) {
	call, ok := ctx.Value(originKey{}).(callOrigin)
	if !ok {
		return
	}
	call.opened.mu.Lock()
	defer call.opened.mu.Unlock()
	for _, text := range append(texts, path) {
		for _, print := range fingerprint.Except(text, true, &fingerprint.Own{}) {
			call.opened.prints[print] = path
		}
	}
}

// OpenedIn names the notes that the call told of with [Opened] and that stand
// in any of the texts.
func OpenedIn(ctx context.Context, texts []string) (paths []string) {
	call, ok := ctx.Value(originKey{}).(callOrigin)
	if !ok {
		return nil
	}
	o := call.opened
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.prints) == 0 {
		return nil
	}
	for _, text := range texts {
		for _, print := range fingerprint.In(text) {
			if path := o.prints[print]; path != "" && !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Provenance remembers untrusted texts by their fingerprints, so that they are
// known wherever they are read again. *store.Store is the real one.
type Provenance interface {
	// Remember saves fingerprints of an untrusted text.
	Remember(ctx context.Context, u Untrusted) error
	// Sources names where texts with any of these fingerprints came from; nil:
	// none is untrusted.
	Sources(ctx context.Context, prints []int64) ([]string, error)
	// Forget takes back what was only said, because it is said without anything
	// untrusted as well.
	Forget(ctx context.Context, prints []int64) error
}

// Untrusted is a text from outside the user's own words and notes, or made of such.
type Untrusted struct {
	Source       string // where it came from, as dialogs name it
	Conversation string // in which it was read, said or written
	Kind         Kind
	Prints       []int64 // of the text
}

// Kind is how an untrusted text got here.
type Kind int

// The kinds.
const (
	CameIn     Kind = iota // it came in
	WasSaid                // a model made it of such
	WasWritten             // and it stands in a note, a task or the memory
)
