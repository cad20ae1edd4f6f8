package agent

import (
	"context"
	"slices"
	"sync"
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

// Caller is what a tool runs for: the conversation, turn and agent, and the origin
// of the arguments. A tool that saves where something came from gets it from
// [CallerOf].
type Caller struct {
	Conversation string // "" if the user called the tool outside a conversation
	Turn         string // "" if the turn is not saved
	Agent        string // agent calling the tool, such as worker or notes
	Origin       Origin // of the arguments
}

type callerKey struct{}

// calling is the Caller of a call, and what the call shows.
type calling struct {
	Caller Caller
	shown  *shown
}

type shown struct {
	mu      sync.Mutex
	sources []Source
}

// WithCaller returns the context of a call that runs for c.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, calling{c, &shown{}})
}

// CallerOf returns the caller of the call that a tool is running or previewing.
func CallerOf(ctx context.Context) Caller {
	call, ok := ctx.Value(callerKey{}).(calling)
	if !ok {
		return Caller{}
	}
	call.Caller.Agent = agentOf(ctx)
	return call.Caller
}

// Shows is called by a tool whose error, or text of its result, names or quotes a
// place that is not among the sources of its result.
func Shows(ctx context.Context, s Source) {
	if call, ok := ctx.Value(callerKey{}).(calling); ok {
		call.shown.mu.Lock()
		defer call.shown.mu.Unlock()
		call.shown.sources = append(call.shown.sources, s)
	}
}

// Shown returns the places passed to [Shows] during the call.
func Shown(ctx context.Context) []Source {
	call, ok := ctx.Value(callerKey{}).(calling)
	if !ok {
		return nil
	}
	call.shown.mu.Lock()
	defer call.shown.mu.Unlock()
	return slices.Clone(call.shown.sources)
}
