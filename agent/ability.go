package agent

import (
	"context"
	"encoding/json"
)

// Fetcher is a Tool that opens a web address. A call runs without asking if the
// user typed the address or this turn's web search returned it; otherwise the
// user sees it first. A Fetcher that is also Outward continues to other
// addresses, so it always asks.
type Fetcher interface {
	Address(args json.RawMessage) string
}

// Checker is a Tool that can determine after a crash whether a call happened.
// mark is the one returned by the call's [Change] or, for a Tool that is not a
// [Preparer], the call's idempotency key as JSON.
type Checker interface {
	// Check reports whether the call happened, and what it did.
	Check(ctx context.Context, mark json.RawMessage) (Happened, []Effect, error)
}

// Preparer is a Tool that computes what a call will change before the call is
// allowed. Prepare itself changes nothing.
type Preparer interface {
	Prepare(ctx context.Context, args json.RawMessage) (Change, error)
}

// Change is what one call of a [Preparer] will do. It is immutable: Apply does
// what Preview shows, or fails and does nothing.
type Change interface {
	Preview() Preview
	// Mark returns what [Checker] needs to determine whether Apply happened.
	Mark(ctx context.Context) (json.RawMessage, error)
	Apply(ctx context.Context) (Result, error)
}

// Resolver is a Tool that finds the notes that a call refers to, such as by
// title or by default. Permission rules apply to these notes rather than to
// their names.
type Resolver interface {
	// Places returns the path that each argument naming a note resolves to,
	// including arguments that the call omits. Arguments that cannot be
	// resolved are missing from the map.
	Places(ctx context.Context, args json.RawMessage) map[string]string
}

// Previewer is a Tool that can show what a call would do before it runs.
type Previewer interface {
	Preview(ctx context.Context, args json.RawMessage) (Preview, error)
}

// Restorer is a Change that writes only what the notes held before.
type Restorer interface{ Restores() }

// Carrier is a Tool that works on what earlier turns of the conversation left.
// Carried describes it, in one line each, for a model that has to know in
// advance, and returns where it comes from. [OriginOf] returns the conversation.
type Carrier interface {
	Carried(ctx context.Context) (lines []string, from Origin, err error)
}
