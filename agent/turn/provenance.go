package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/agent/rules"
	"lifehub/llm"
)

// errorsUntrusted reports whether all that a tool brings is untrusted, its errors
// too. What a tool that is gone brought may be.
func errorsUntrusted(tool agent.Tool) bool {
	if tool == nil {
		return true
	}
	_, opens := tool.(agent.Fetcher)
	return opens || agent.IsOutward(tool)
}

// provenance is what was read during a turn: where text comes from that is not
// the user's own, and what tools brought. It is safe for concurrent use; the
// zero value has read nothing.
type provenance struct {
	mu        sync.Mutex
	untrusted []string
	toolText  []string
	search    []string            // what web searches brought
	own       agent.OwnText       // what of it is the user's own
	quoted    map[string][]string // by message of the user's: whose words stand in it
	plans     map[string]origin   // by step: what had been read when it was planned
}

// origin is what a call was made of.
type origin struct {
	untrusted []string // where the untrusted text comes from that had a part in it
	private   []string // texts that tools had brought before
}

func (r *provenance) now() origin {
	r.mu.Lock()
	defer r.mu.Unlock()
	return origin{untrusted: slices.Clone(r.untrusted), private: slices.Clone(r.toolText)}
}

func (r *provenance) searches() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.search)
}

// planned notes what steps were made of.
func (r *provenance) planned(steps []agent.Step, from origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.plans == nil {
		r.plans = map[string]origin{}
	}
	for _, step := range steps {
		r.plans[step.ID] = from
	}
}

// markUntrusted notes that text from outside the user's own notes stands in the
// prompts from now on, and where it comes from.
func (t *turn) markUntrusted(from string) {
	t.provenance.mu.Lock()
	if !slices.Contains(t.provenance.untrusted, from) {
		t.provenance.untrusted = append(t.provenance.untrusted, from)
	}
	t.provenance.mu.Unlock()
}

// saidBy names the words of an error as a place that untrusted text comes from.
func saidBy(who string) string { return "what " + who + " said" }

// recordRead notes what a tool brought.
func (t *turn) recordRead(tool string, r agent.Result) {
	for _, from := range untrustedFrom(r, tool) {
		t.markUntrusted(from)
	}
	t.provenance.mu.Lock()
	defer t.provenance.mu.Unlock()
	t.provenance.toolText = append(t.provenance.toolText, textsOf(r)...)
	if tool == agent.WebSearch {
		t.provenance.search = append(t.provenance.search, addressesOf(r)...)
	}
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

// addresses are those that a web search found: its results' own, not what
// stands in their texts, nor what was looked for.
func addressesOf(r agent.Result) []string {
	var list []string
	for _, s := range r.Sources {
		list = append(list, s.Path)
	}
	return list
}

func textsOf(r agent.Result) []string {
	texts := []string{r.Text}
	for _, s := range r.Sources {
		texts = append(texts, s.Path, s.Heading, s.Text)
	}
	return texts
}

// originOf is what a planned step was made of: what had been read when it was
// planned, and the results that it waits for, which may be filled in. nil:
// nobody knows.
func (t *turn) originOf(step agent.Step, earlier func(string) finding) *origin {
	t.provenance.mu.Lock()
	made, known := t.provenance.plans[step.ID]
	t.provenance.mu.Unlock()
	if !known {
		return nil
	}
	made.untrusted, made.private = slices.Clone(made.untrusted), slices.Clone(made.private)
	for _, id := range step.After {
		from := earlier(id)
		made.private = append(made.private, textsOf(from.result)...)
		made.untrusted = append(made.untrusted, untrustedFrom(from.result, from.step.Tool)...)
		if errorsUntrusted(t.tool(from.step.Tool)) && len(made.untrusted) == 0 {
			made.untrusted = append(made.untrusted, "what "+from.step.Tool+" brought")
		}
	}
	return &made
}

// verdict says whether a call may run: by its tool and the rules, and by where
// its arguments come from.
func (t *turn) verdict(c call) rules.Verdict {
	made := c.made
	if made == nil { // everything that was read so far may have had a part in it
		now := t.provenance.now()
		made = &now
	}
	if t.isLiteralCall(c) {
		made = &origin{}
	}
	if t.gate.allowsUntrusted(c.tool.Spec().Name, c.ruled()) {
		made = &origin{private: made.private}
	}
	own, newAddress := t.ownLevel(c)
	v := t.gate.level(t.conversation, c.tool.Spec().Name, own, c.ruled())
	if agent.IsOutward(c.tool) || newAddress {
		v.Unsaid = t.notFromUser(c, made)
	}
	if v.Level == agent.ConfirmEach && newAddress {
		v.Reason = c.tool.Spec().Name + " asks about each address, but where a rule names its host"
	}
	if v.Level != agent.Auto {
		if v.Level == agent.Confirm && len(made.untrusted) > 0 {
			v.Reason = untrustedReason(c, made) + "; " + v.Reason
			v.Fixed = true // what would be allowed for longer would be asked about all the same
		}
		return v
	}
	switch {
	case len(made.untrusted) > 0 && (newAddress || !agent.ReadOnly(c.tool) && !agent.WritesOnlyArtifacts(c.tool)):
		return rules.Verdict{Level: agent.Confirm, Reason: untrustedReason(c, made) + ", whatever the rules say", Fixed: true, Unsaid: v.Unsaid}
	case len(v.Unsaid) > 0:
		return rules.Verdict{Level: agent.Confirm, Reason: "it would send what you did not say in this conversation: " + strings.Join(v.Unsaid, ", "), Fixed: true, Unsaid: v.Unsaid}
	}
	return v
}

// isLiteralCall reports whether the user's message is this very call, written out:
// @add_task text="Buy milk". Then nothing else had a part in it.
func (t *turn) isLiteralCall(c call) bool {
	spec := c.tool.Spec()
	head, rest, _ := strings.Cut(strings.TrimSpace(t.typed(t.question)), " ")
	if head != "@"+spec.Name {
		return false
	}
	pairs, err := rules.SplitArguments(rest)
	if err != nil {
		return false
	}
	given := map[string]string{}
	for _, pair := range pairs {
		given[pair[0]] = pair[1]
	}
	raw, err := json.Marshal(given)
	if err != nil || len(given) != len(pairs) {
		return false
	}
	input, _, err := t.schemas.Repair(spec, raw)
	return err == nil && args.Canonical(input) == args.Canonical(c.input)
}

func untrustedReason(c call, made *origin) string {
	from := slices.Compact(slices.Sorted(slices.Values(made.untrusted)))
	return fmt.Sprintf("text that is not yours was read before %s was planned: %s", c.tool.Spec().Name, strings.Join(from[:min(len(from), 5)], ", "))
}

// knownAddress reports whether the user or this turn's search gave the address.
func (t *turn) knownAddress(address string) bool {
	want := agent.PlainAddress(address)
	given := []string{t.typed(t.question)}
	for _, m := range t.history {
		if m.Role == llm.User {
			given = append(given, t.typed(m.Text))
		}
	}
	given = append(given, t.provenance.searches()...)
	for _, text := range given {
		for _, found := range agent.AddressText.FindAllString(text, -1) {
			if want != "" && slices.Contains([]string{agent.PlainAddress(found), agent.PlainAddress(strings.TrimRight(found, ".,;:!?)]*_"))}, want) {
				return true
			}
		}
	}
	return false
}

// ownLevel is the level of a call before any rule, and whether it opens an
// address that no question has shown. Such a one is shown each time, but where
// a rule names its host.
func (t *turn) ownLevel(c call) (own agent.Level, newAddress bool) {
	own = c.tool.Level(slices.Clone(c.input))
	fetcher, ok := c.tool.(agent.Fetcher)
	if !ok || own == agent.Deny {
		return own, false
	}
	if !agent.IsOutward(c.tool) && t.knownAddress(fetcher.Address(c.input)) {
		return agent.Auto, false
	}
	named := slices.ContainsFunc(append(t.gate.list(), c.ruled().Tried...), func(r rules.Rule) bool {
		return r.Level == agent.Auto && r.Matches(c.tool.Spec().Name, c.input) && slices.ContainsFunc(r.Where, func(w rules.Where) bool { return w.Fit == rules.OnHost })
	})
	if named {
		return agent.Confirm, true
	}
	return agent.ConfirmEach, true
}
