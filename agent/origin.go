package agent

import (
	"context"
	"slices"
	"sync"

	"lifehub/agent/fingerprint"
)

type agentKey struct{}

// WithAgent returns a context that names the agent calling a tool.
func WithAgent(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, agentKey{}, name)
}

// agentOf returns the agent calling a tool; by default "worker", for a step of
// the turn's plan.
func agentOf(ctx context.Context) string {
	if name, _ := ctx.Value(agentKey{}).(string); name != "" {
		return name
	}
	return "worker"
}

type callKeyName struct{}

// WithIdempotencyKey returns the context of a call with the given key; see
// [IdempotencyKey].
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, callKeyName{}, key)
}

// IdempotencyKey returns a key that identifies the call, for a tool's Run and
// Preview. It is the same if the call is repeated after a crash, so that
// duplicates can be recognized.
func IdempotencyKey(ctx context.Context) string {
	key, _ := ctx.Value(callKeyName{}).(string)
	return key
}

type unseenKey struct{}

// WithUnseen returns the context of a call whose change the user did not see before it is made.
func WithUnseen(ctx context.Context) context.Context {
	return context.WithValue(ctx, unseenKey{}, true)
}

// IsUnseen reports whether the user did not see the change of the call, so that it may be computed
// for what the note holds when it is made.
func IsUnseen(ctx context.Context) bool { return ctx.Value(unseenKey{}) != nil }

// Origin is the conversation, turn and agent that a tool runs for. A tool that
// saves where something came from gets it from [OriginOf].
type Origin struct {
	Conversation string // "" if the user called the tool outside a conversation
	Turn         string // "" if the turn is not saved
	Agent        string // agent calling the tool, such as worker or notes
}

type originKey struct{}

// callOrigin is the Origin of a call and the untrusted notes that it opened.
type callOrigin struct {
	Origin
	opened *opened
}

// WithOrigin returns the context of a call that runs for o.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, callOrigin{o, &opened{prints: map[int64]string{}}})
}

// OriginOf returns the origin of the call that a tool is running or previewing.
func OriginOf(ctx context.Context) Origin {
	call, ok := ctx.Value(originKey{}).(callOrigin)
	if !ok {
		return Origin{}
	}
	call.Agent = agentOf(ctx)
	return call.Origin
}

// opened has the fingerprints of untrusted notes that a call opened.
type opened struct {
	mu     sync.Mutex
	prints map[int64]string // path of the note, by fingerprint
}

// Opened is called by a tool that opens a note which declares itself to come
// from elsewhere, such as a web clipping. Text of it in the result or error of
// the call is untrusted.
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

// OpenedIn returns the notes passed to [Opened] during the call whose text is
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

// Provenance stores fingerprints of untrusted text, so that the text is
// recognized when it is read again. *store.Store implements it.
type Provenance interface {
	// Remember saves fingerprints of an untrusted text.
	Remember(ctx context.Context, u Untrusted) error
	// Sources returns the sources of texts with any of these fingerprints; nil
	// if none is untrusted.
	Sources(ctx context.Context, prints []int64) ([]string, error)
	// Forget removes fingerprints of kind WasSaid, because a model said the
	// same without having read untrusted text.
	Forget(ctx context.Context, prints []int64) error
}

// Untrusted is text that does not come from the user's own words and notes, or
// that was derived from such text.
type Untrusted struct {
	Source       string // where it came from, as shown in dialogs
	Conversation string // conversation in which it was read, said or written
	Kind         Kind
	Prints       []int64 // fingerprints of the text
}

// Kind is how an untrusted text came into being.
type Kind int

const (
	CameIn     Kind = iota // read from outside
	WasSaid                // said by a model that had read such text
	WasWritten             // derived from such text and written to a note, a task or the memory
)
