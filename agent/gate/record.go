package gate

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
)

// Record tracks what was read during a turn: where the text in its prompts comes
// from, and the results of tools. It is safe for concurrent use.
type Record struct {
	Stream       *agent.Stream
	Marks        agent.Marks // nil: no line of the notes came from outside
	Conversation string

	mu     sync.Mutex
	seen   Seen
	origin agent.Origin            // of the prompts
	typed  []string                // the messages that the user typed
	search []string                // addresses found by web searches
	plans  map[string]agent.Origin // by step: of the prompt in which it was planned
}

// Seen is what the calls of a turn returned and named.
type Seen struct {
	Sources []agent.Source
	Listed  []agent.Source
	Given   []string // arguments of calls other than those known to only read notes
}

// Seen returns what was seen so far.
func (r *Record) Seen() Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Seen{slices.Clip(r.seen.Sources), slices.Clip(r.seen.Listed), slices.Clip(r.seen.Given)}
}

// Called records the arguments of a call, whether it runs or not, if it opens a
// page or may change something. tool is nil if unknown.
func (r *Record) Called(tool agent.Tool, input agent.Args) {
	if _, opens := tool.(agent.Fetcher); opens || tool == nil || !agent.ReadOnly(tool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen.Given = append(r.seen.Given, input.String())
	}
}

// Origin returns the origin of the turn's prompts, and so of all that a model
// writes now.
func (r *Record) Origin() agent.Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.origin.And()
}

// Add records that text of this origin is in the prompts from now on.
func (r *Record) Add(from agent.Origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.origin = r.origin.And(from)
}

// Withdraw records that what was added since this origin is in no prompt after
// all.
func (r *Record) Withdraw(to agent.Origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.origin = to
}

// AddMessage records a message of the user that is in the prompts.
func (r *Record) AddMessage(sent string) {
	r.Add(agent.MessageOrigin(sent))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.typed = append(r.typed, agent.ParseMessage(sent).Text)
}

// Typed returns what the user typed in the messages that are in the prompts, the
// latest last.
func (r *Record) Typed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.typed)
}

// Found returns the addresses found by this turn's web searches.
func (r *Record) Found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.search)
}

// Planned records the origin of planned steps.
func (r *Record) Planned(steps []agent.Step, from agent.Origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plans == nil {
		r.plans = map[string]agent.Origin{}
	}
	for _, step := range steps {
		r.plans[step.ID] = from
	}
}

// OriginOf returns the origin of a step; nil if it was not planned.
func (r *Record) OriginOf(step string) *agent.Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	if from, planned := r.plans[step]; planned {
		return &from
	}
	return nil
}

// Read records the result of a tool.
func (r *Record) Read(tool string, result agent.Result) {
	r.Add(result.Origin)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Sources = append(r.seen.Sources, result.Sources...)
	r.seen.Listed = append(r.seen.Listed, result.Listed...)
	if tool == agent.WebSearch { // only the addresses of the results, not those in their text or in the query
		for _, s := range result.Sources {
			r.search = append(r.search, s.Path)
		}
	}
}

// Channel is what the text of a result comes through.
type Channel struct {
	Source string // who wrote it, if that is neither the user nor LifeHub
	Own    bool   // the user's notes, tasks or facts
	tool   string
	server bool // an MCP server, whatever it says its sources are
}

// ChannelOf returns the channel of a tool's results and errors; tool is nil if it
// no longer exists.
func ChannelOf(name string, tool agent.Tool) Channel {
	of := agent.PropertiesOf(tool)
	_, fetches := tool.(agent.Fetcher)
	switch {
	case of.Server != "":
		return Channel{Source: agent.ServerSource(of.Server), server: true}
	case tool == nil || fetches || of.Outward:
		return Channel{Source: "what " + name + " returned"}
	}
	return Channel{Own: !of.KnowsNoNotes() && !of.ArtifactsOnly, tool: name}
}

// Trace sets the origin of a result, or of its error: that of the arguments and of
// all that the call read. Everything that a tool or attachment returns passes
// through it.
func (r *Record) Trace(ctx context.Context, made agent.Origin, through Channel, result *agent.Result, reason string) {
	// the tool may have them still
	result.Sources, result.Listed = slices.Clone(result.Sources), slices.Clone(result.Listed)
	parts := [][]agent.Source{result.Sources, result.Listed, agent.Shown(ctx)}
	lines := append(strings.Split(result.Text, "\n"), strings.Split(reason, "\n")...)
	for _, s := range slices.Concat(parts...) {
		lines = append(lines, linesOf(s)...)
	}
	outside := r.marked(ctx, lines)
	marked, cited, listed := len(outside) > 0, false, false
	for part, list := range parts {
		for i := range list {
			s := &list[i]
			s.Untrusted = s.Untrusted || through.Source != "" || marked && len(r.marked(ctx, linesOf(*s))) > 0
			if s.Untrusted && !through.server && s.Call == "" {
				outside = append(outside, s.Path)
			}
			cited, listed = cited || s.Untrusted, listed || s.Untrusted && part > 0 // its text is in that of the result
		}
	}
	result.Untrusted = result.Untrusted || through.Source != "" || listed || marked && !cited
	if result.Untrusted && len(outside) == 0 && !result.Origin.IsOutside() {
		outside = []string{cmp.Or(through.Source, "what "+through.tool+" returned")}
	}
	result.Origin = made.And(result.Origin, agent.Origin{Private: through.Own}, agent.FromOutside(outside...))
}

// linesOf returns the whole lines of which a source shows some text, or its name
// if that is all.
func linesOf(s agent.Source) []string {
	switch {
	case s.Lines != "":
		return strings.Split(s.Lines, "\n")
	case s.Text != "":
		return strings.Split(s.Text, "\n")
	}
	return []string{strings.TrimSuffix(path.Base(s.Path), path.Ext(s.Path))}
}

// marked returns where lines came from that are marked. What cannot be looked up
// counts as marked.
func (r *Record) marked(ctx context.Context, lines []string) []string {
	if r.Marks == nil {
		return nil
	}
	from, err := r.Marks.Marked(ctx, lines)
	if err != nil {
		return []string{fmt.Sprintf("text whose origin is unknown (%v)", err)}
	}
	return from
}

// IsMarked reports whether a line of a source came from outside.
func (r *Record) IsMarked(ctx context.Context, s agent.Source) bool {
	return len(r.marked(ctx, linesOf(s))) > 0
}

// IsOutside reports whether a fact came from outside.
func (r *Record) IsOutside(ctx context.Context, f agent.Fact) bool {
	return f.Untrusted || len(r.marked(ctx, strings.Split(f.Written, "\n"))) > 0
}
