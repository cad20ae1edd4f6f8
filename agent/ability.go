package agent

import (
	"context"
	"encoding/json"
	"time"
)

// Fetcher is a Tool that opens a web address. A call runs without asking if the
// user typed the address or this turn's web search returned it; otherwise the
// user sees it first. A Fetcher that is also Outward continues to other
// addresses, so it always asks.
type Fetcher interface {
	Address(args json.RawMessage) string
}

// WritesOnlyArtifacts reports whether a tool writes only artifacts, whose
// provenance LifeHub tracks. Such a tool needs no permission, because untrusted
// text cannot make it change the user's own notes.
func WritesOnlyArtifacts(tool Tool) bool {
	keeper, ok := tool.(interface{ Contained() bool })
	return ok && keeper.Contained()
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

// ReadOnly reports whether calls of a tool change nothing, so that they may be
// repeated.
func ReadOnly(tool Tool) bool {
	reader, ok := tool.(interface{ ReadOnly() bool })
	return ok && reader.ReadOnly()
}

// HasNoEffect reports whether a tool neither writes anything nor sends anything
// to another machine. For a tool of an MCP server, it returns the server's own
// claim, which the user has reviewed.
func HasNoEffect(tool Tool) bool {
	if hinted, ok := tool.(interface{ ReadOnlyHint() *bool }); ok {
		hint := hinted.ReadOnlyHint()
		return hint != nil && *hint
	}
	_, fetches := tool.(Fetcher)
	return ReadOnly(tool) && !IsOutward(tool) && !fetches && !WritesOnlyArtifacts(tool)
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

// Outward is a Tool whose arguments leave this machine or reach another program
// on it. Its results and errors are untrusted.
type Outward interface {
	Outward() bool
}

// IsOutward reports whether the tool is [Outward].
func IsOutward(tool Tool) bool {
	o, ok := tool.(Outward)
	return ok && o.Outward()
}

// ServiceOf returns the name of the service that an [Outward] tool sends its arguments
// to, by default that of the tool.
func ServiceOf(tool Tool) string {
	if s, ok := tool.(interface{ Service() string }); ok {
		return s.Service()
	}
	return tool.Spec().Name
}

// Bounded is a Tool that names the arguments that determine where its calls
// take effect. The first of these that a call has is decisive. An "always" then
// applies to calls with the same value, whatever their other arguments. If
// Bounds is empty, the user is asked about every call. For a tool that is not
// Bounded, an "always" applies only to identical calls.
type Bounded interface {
	Bounds() []string
}

// Previewer is a Tool that can show what a call would do before it runs.
type Previewer interface {
	Preview(ctx context.Context, args json.RawMessage) (Preview, error)
}

// Timed is a Tool with its own timeout for a call. The default is one minute.
type Timed interface {
	Timeout() time.Duration
}

// Renamed is a Tool that formerly had other names. Rules that tighten, and
// plans in the journal, may use a former name; a rule that loosens must use the
// current one.
type Renamed interface{ FormerNames() []string }

// FormerNames returns the former names of a tool.
func FormerNames(tool Tool) []string {
	if renamed, ok := tool.(Renamed); ok {
		return renamed.FormerNames()
	}
	return nil
}

// MayWrite reports whether calls of a tool may change something. A hint by
// another program is believed here, because nothing is permitted on the basis
// of the result.
func MayWrite(tool Tool) bool {
	if hinted, ok := tool.(Hinted); ok && hinted.ReadOnlyHint() != nil {
		return !*hinted.ReadOnlyHint()
	}
	return !ReadOnly(tool)
}

// Hinted is a Tool of another program, which may declare whether it only reads;
// nil if it does not.
type Hinted interface{ ReadOnlyHint() *bool }

// Served is a Tool of a server. reads reports that the tool only reads, as the
// user has reviewed, and that the user lets it run without asking unless somebody
// else outside had a part in the call ("trust": "read").
type Served interface {
	Server() (name string, reads bool)
}

// ServerOf returns the server of a tool, as in [Served]; "" if there is none.
func ServerOf(tool Tool) (name string, reads bool) {
	if served, ok := tool.(Served); ok {
		return served.Server()
	}
	return "", false
}

// LoopOnly is a Tool for work over several rounds. It is not offered for a
// plan, which is made before any result is known.
type LoopOnly interface{ LoopOnly() }

// Restorer is a Change that writes only what the notes held before.
type Restorer interface{ Restores() }

// Carrier is a Tool that works on what earlier turns of the conversation left.
// Carried describes it, in one line each, for a model that has to know in
// advance, and returns where it comes from. [OriginOf] returns the conversation.
type Carrier interface {
	Carried(ctx context.Context) (lines []string, from Origin, err error)
}
