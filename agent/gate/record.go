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

// Record is what was read during a turn: where text comes from that is not the
// user's own, and what tools brought. It is safe for concurrent use.
type Record struct {
	Stream       *events.Stream
	Store        agent.Provenance
	Conversation string

	mu        sync.Mutex
	seen      Seen
	untrusted []string
	toolText  []string
	search    []string            // what web searches brought
	servers   map[string][]string // by server: what its tools brought
	own       fingerprint.Own     // what of it is the user's own
	quoted    map[string][]string // by message of the user's: whose words are in it
	plans     map[string]Origin   // by step: what had been read when it was planned
}

// Seen is what the calls of a turn brought to light and named.
type Seen struct {
	Sources []agent.Source
	Listed  []agent.Source
	Given   []string // arguments of calls that are not known to only read notes
}

// Seen is what has been seen so far.
func (r *Record) Seen() Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Seen{slices.Clip(r.seen.Sources), slices.Clip(r.seen.Listed), slices.Clip(r.seen.Given)}
}

// Called notes what a call names, run or not: a page that it opens, or what it
// makes or changes. A nil tool is one that is not known.
func (r *Record) Called(tool agent.Tool, input args.Input) {
	if _, opens := tool.(agent.Fetcher); opens || tool == nil || !agent.ReadOnly(tool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.seen.Given = append(r.seen.Given, input.String())
	}
}

// Origin is what a call was made of.
type Origin struct {
	Untrusted []string // where the untrusted text comes from that had a part in it
	Private   []string // texts that tools had brought before
}

// Add counts the result of a tool among what a call was made of, also where it
// is an error. A nil tool is one that is gone.
func (o *Origin) Add(name string, tool agent.Tool, r agent.Result) {
	o.Private = append(o.Private, textsOf(r)...)
	o.Untrusted = append(o.Untrusted, untrustedFrom(r, name)...)
	if ErrorsUntrusted(tool) && len(o.Untrusted) == 0 {
		o.Untrusted = append(o.Untrusted, "what "+name+" brought")
	}
}

// ReadSoFar is what a call that is made now may be made of: everything.
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

// ReadFrom notes what a tool of a server brought; "" is no server.
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

// Brought is what the tools of a server brought in this turn.
func (r *Record) Brought(server string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.servers[server])
}

// Found are the addresses that the turn's web searches found.
func (r *Record) Found() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.search)
}

// Planned notes what steps were made of.
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

// OriginOf is what had been read when a step was planned; nil: nobody knows.
func (r *Record) OriginOf(step string) *Origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	made, known := r.plans[step]
	if !known {
		return nil
	}
	return &Origin{Untrusted: slices.Clone(made.Untrusted), Private: slices.Clone(made.Private)}
}

// MarkUntrusted notes that text from outside the user's own notes stands in the
// prompts from now on, and where it comes from.
func (r *Record) MarkUntrusted(from ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, source := range from {
		if !slices.Contains(r.untrusted, source) {
			r.untrusted = append(r.untrusted, source)
		}
	}
}

// MarkError notes that the words of an error are untrusted text from who said
// them.
func (r *Record) MarkError(who string) { r.MarkUntrusted("what " + who + " said") }

// Read notes what a tool brought.
func (r *Record) Read(tool string, result agent.Result) {
	r.MarkUntrusted(untrustedFrom(result, tool)...)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen.Sources = append(r.seen.Sources, result.Sources...)
	r.seen.Listed = append(r.seen.Listed, result.Listed...)
	r.toolText = append(r.toolText, textsOf(result)...)
	if tool == agent.WebSearch { // the results' own addresses, not what is in their texts, nor what was looked for
		for _, s := range result.Sources {
			r.search = append(r.search, s.Path)
		}
	}
}

// ErrorsUntrusted reports whether all that a tool brings is untrusted, its errors
// too. What a tool that is gone brought may be.
func ErrorsUntrusted(tool agent.Tool) bool {
	if tool == nil {
		return true
	}
	_, opens := tool.(agent.Fetcher)
	return opens || agent.IsOutward(tool)
}

// untrustedFrom names what of a result is untrusted; nil: nothing.
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

// AddMessage takes in a message of the conversation, and what of it is
// untrusted.
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

// QuotedIn names whose words are in what the user typed, or seems to have.
func (r *Record) QuotedIn(typed string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quoted[strings.TrimSpace(typed)]
}

// AddOwn takes in texts that are the user's own, so that what is made of them
// is no sign of an untrusted text that holds them too.
func (r *Record) AddOwn(texts ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own.Add(texts...)
}
