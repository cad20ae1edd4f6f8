package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Fetcher is a Tool that opens an address on the web. A call passes without
// asking when the user typed the address, or when this turn's web search
// returned it; else the user sees it first. One that is Outward goes on from
// there on its own, so it asks all the same.
type Fetcher interface {
	Address(args json.RawMessage) string
}

// WritesOnlyArtifacts reports whether what a tool writes stays with LifeHub, where it is
// known for untrusted if it is: then nothing of the user's can
// be changed by what some page says, and there is nothing to ask about.
func WritesOnlyArtifacts(tool Tool) bool {
	keeper, ok := tool.(interface{ Contained() bool })
	return ok && keeper.Contained()
}

// Checker is a Tool that can tell after a crash whether a call happened. mark is
// that of the call's [Change], or for a Tool that is not a [Preparer] the call's
// idempotency key as JSON.
type Checker interface {
	// Check reports whether the call happened, and what it then did.
	Check(ctx context.Context, mark json.RawMessage) (Happened, []Effect, error)
}

// Preparer is a Tool that computes what a call changes before the call is
// allowed. Prepare itself changes nothing.
type Preparer interface {
	Prepare(ctx context.Context, args json.RawMessage) (Change, error)
}

// Change is what one call of a [Preparer] will do. It never changes: what was
// shown of it is what Apply does, or Apply fails and does nothing.
type Change interface {
	Preview() Preview
	// Mark returns what [Checker] needs to find out whether Apply happened.
	Mark(ctx context.Context) (json.RawMessage, error)
	Apply(ctx context.Context) (Result, error)
}

// ReadOnly reports whether a call changes nothing, so that it may be repeated.
func ReadOnly(tool Tool) bool {
	reader, ok := tool.(interface{ ReadOnly() bool })
	return ok && reader.ReadOnly()
}

// HasNoEffect reports whether a tool neither writes anything nor sends anything
// to another machine. Of an MCP server's tool this is its word, as the user has
// seen it.
func HasNoEffect(tool Tool) bool {
	if hinted, ok := tool.(interface{ ReadOnlyHint() *bool }); ok {
		hint := hinted.ReadOnlyHint()
		return hint != nil && *hint
	}
	_, fetches := tool.(Fetcher)
	return ReadOnly(tool) && !IsOutward(tool) && !fetches && !WritesOnlyArtifacts(tool)
}

// Resolver is a Tool that finds out on its own which notes a call means: by a
// title, or where none is named. Rules go by the notes, not by their names.
type Resolver interface {
	// Places returns the arguments that say where, each with the path that it
	// comes to, also those that the call leaves out. What cannot be told is
	// not among them.
	Places(ctx context.Context, args json.RawMessage) map[string]string
}

// Outward is a Tool whose arguments leave this machine, or reach somebody
// else's program on it. What it brings, its errors too, is untrusted.
type Outward interface {
	Outward() bool
}

func IsOutward(tool Tool) bool {
	o, ok := tool.(Outward)
	return ok && o.Outward()
}

// Bounded is a Tool that names the arguments that say where its calls have
// their effect: the first of them that a call gives says so alone. An "always"
// holds for the same place, whatever the other arguments are; of a tool without
// such an argument each call is asked about. Of tools that are not Bounded it
// holds for the same call only.
type Bounded interface {
	Bounds() []string
}

// Previewer is a Tool that can show what a call would do before it does.
type Previewer interface {
	Preview(ctx context.Context, args json.RawMessage) (Preview, error)
}

// Timed is a Tool that sets its own bound on how long a call may take; the
// others have a minute.
type Timed interface {
	Timeout() time.Duration
}

// Renamed is a Tool that had other names before. Rules that tighten, and plans
// in the journal, may still know it by one of those; a rule that loosens must
// name it as it is called now.
type Renamed interface{ FormerNames() []string }

func FormerNames(tool Tool) []string {
	if renamed, ok := tool.(Renamed); ok {
		return renamed.FormerNames()
	}
	return nil
}

// MayWrite reports whether a call of a tool may change something. A tool of another
// program is believed that it only reads: nothing is allowed by that.
func MayWrite(tool Tool) bool {
	if hinted, ok := tool.(Hinted); ok && hinted.ReadOnlyHint() != nil {
		return !*hinted.ReadOnlyHint()
	}
	return !ReadOnly(tool)
}

// Hinted is a Tool of another program, which may say of itself whether it only
// reads; nil: it does not say.
type Hinted interface{ ReadOnlyHint() *bool }

// Served is a Tool of a server. reads: it only reads, as the user has seen, and the user
// lets it be called without asking with what the user said and what the same server
// brought in the same turn ("trust": "read").
type Served interface {
	Server() (name string, reads bool)
}

// ServerOf is the server of a tool, "" for none, as in [Served].
func ServerOf(tool Tool) (name string, reads bool) {
	if served, ok := tool.(Served); ok {
		return served.Server()
	}
	return "", false
}

// LoopOnly is a Tool for work of several rounds. It is not offered to a plan,
// which is made before anything is known.
type LoopOnly interface{ LoopOnly() }

// Carrier is a Tool that works on what earlier turns of the conversation left.
// Kept names it, a line each, for a model that has to know of it beforehand.
// [OriginOf] holds for whom it is asked.
type Carrier interface {
	Carried(ctx context.Context) (lines []string, err error)
}
