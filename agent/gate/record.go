package gate

import (
	"context"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/events"
	"lifehub/agent/fingerprint"
)

// Record tracks what was read during a turn: the sources of untrusted text, and
// the results of tools. It is safe for concurrent use.
type Record struct {
	Stream       *events.Stream
	Store        agent.Provenance
	Conversation string

	mu        sync.Mutex
	seen      Seen
	untrusted []string
	toolText  []string
	search    []string            // addresses found by web searches
	servers   map[string][]string // results of each server's tools
	own       fingerprint.Own     // the user's own text among what was read
	quoted    map[string][]string // by the user's message: sources of untrusted text in it
	plans     map[string]Origin   // by step: what had been read when it was planned
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
func (r *Record) Called(tool agent.Tool, input args.Input) {
	if _, opens := tool.(agent.Fetcher); opens || tool == nil || !agent.ReadOnly(tool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen.Given = append(r.seen.Given, input.String())
	}
}

// Origin is what influenced the arguments of a call.
type Origin struct {
	Untrusted []string // sources of untrusted text
	Private   []string // results returned by earlier calls
}

// Add adds the result of a tool, which may be an error. tool is nil if it no
// longer exists.
func (o *Origin) Add(name string, tool agent.Tool, r agent.Result) {
	o.Private = append(o.Private, textsOf(r)...)
	o.Untrusted = append(o.Untrusted, untrustedFrom(r, name)...)
	if ErrorsUntrusted(tool) && len(o.Untrusted) == 0 {
		o.Untrusted = append(o.Untrusted, "what "+name+" brought")
	}
}

// ReadSoFar returns the origin of a call made now: everything read so far.
func (r *Record) ReadSoFar() Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Origin{Untrusted: slices.Clone(r.untrusted), Private: slices.Clone(r.toolText)}
}

// HasUntrusted reports whether untrusted text is in the prompt of the turn.
func (r *Record) HasUntrusted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.untrusted) > 0
}

// ReadFrom records a result of a tool of the server; server is "" for other
// tools.
func (r *Record) ReadFrom(server string, result agent.Result) {
	if server == "" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.servers == nil {
		r.servers = map[string][]string{}
	}
	r.servers[server] = append(r.servers[server], result.Text)
}

// Brought returns the results of the server's tools in this turn.
func (r *Record) Brought(server string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.servers[server])
}

// Found returns the addresses found by this turn's web searches.
func (r *Record) Found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.search)
}

// Planned records the origin of planned steps.
func (r *Record) Planned(steps []agent.Step, from Origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plans == nil {
		r.plans = map[string]Origin{}
	}
	for _, step := range steps {
		r.plans[step.ID] = from
	}
}

// OriginOf returns what had been read when a step was planned; nil if unknown.
func (r *Record) OriginOf(step string) *Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	made, known := r.plans[step]
	if !known {
		return nil
	}
	return &Origin{Untrusted: slices.Clone(made.Untrusted), Private: slices.Clone(made.Private)}
}

// MarkUntrusted records that untrusted text from these sources is in the
// prompts from now on.
func (r *Record) MarkUntrusted(from ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, source := range from {
		if !slices.Contains(r.untrusted, source) {
			r.untrusted = append(r.untrusted, source)
		}
	}
}

// MarkError records that the text of an error is untrusted and came from who.
func (r *Record) MarkError(who string) { r.MarkUntrusted("what " + who + " said") }

// Read records the result of a tool.
func (r *Record) Read(tool string, result agent.Result) {
	r.MarkUntrusted(untrustedFrom(result, tool)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Sources = append(r.seen.Sources, result.Sources...)
	r.seen.Listed = append(r.seen.Listed, result.Listed...)
	r.toolText = append(r.toolText, textsOf(result)...)
	if tool == agent.WebSearch { // only the addresses of the results, not those in their text or in the query
		for _, s := range result.Sources {
			r.search = append(r.search, s.Path)
		}
	}
}

// ErrorsUntrusted reports whether everything that a tool returns is untrusted,
// including its errors. That is assumed of a tool that no longer exists.
func ErrorsUntrusted(tool agent.Tool) bool {
	if tool == nil {
		return true
	}
	_, opens := tool.(agent.Fetcher)
	return opens || agent.IsOutward(tool)
}

// untrustedFrom names the untrusted parts of a result.
func untrustedFrom(r agent.Result, tool string) (names []string) {
	for _, s := range r.Sources {
		name := s.Path
		if s.Call != "" {
			name = "what " + s.Path + " brought"
		}
		if s.Untrusted && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 && r.IsUntrusted() {
		names = []string{"what " + tool + " brought"}
	}
	return names
}

func textsOf(r agent.Result) []string {
	texts := []string{r.Text}
	for _, s := range r.Sources {
		texts = append(texts, s.Path, s.Heading, s.Text)
	}
	return texts
}

// AddMessage records a message of the conversation, and the untrusted text in
// it.
func (r *Record) AddMessage(ctx context.Context, text string, user bool) {
	if user {
		sent := agent.ParseMessage(text)
		text = sent.Text
		for _, a := range sent.Attached {
			r.MarkUntrusted(a.Name)
		}
	}
	from := Sources(ctx, r.Store, text)
	r.MarkUntrusted(from...)
	if user {
		r.mu.Lock()
		if r.quoted == nil {
			r.quoted = map[string][]string{}
		}
		r.quoted[text] = from
		r.mu.Unlock()
	}
	if len(from) == 0 {
		r.AddOwn(text)
	}
}

// QuotedIn returns the sources of untrusted text in a message of the user.
func (r *Record) QuotedIn(typed string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quoted[strings.TrimSpace(typed)]
}

// AddOwn records texts that are the user's own. Text derived from them is not
// evidence of an untrusted text that also contains it.
func (r *Record) AddOwn(texts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own.Add(texts...)
}
