package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/args"
	"lifehub/llm"
)

// thisRun is the Provenance of an agent that has no other. It forgets with the run.
type thisRun struct {
	mu     sync.Mutex
	prints map[int64]agent.Untrusted
}

func (r *thisRun) Remember(_ context.Context, u agent.Untrusted) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range u.Prints {
		if _, known := r.prints[p]; !known || u.Kind != agent.WasSaid {
			r.prints[p] = u
		}
	}
	return nil
}

func (r *thisRun) Sources(_ context.Context, prints []int64) ([]string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]bool{}
	for _, p := range prints {
		if u, ok := r.prints[p]; ok {
			found[u.Source] = true
		}
	}
	return slices.Sorted(maps.Keys(found)), nil
}

func (r *thisRun) Forget(_ context.Context, prints []int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range prints {
		if r.prints[p].Kind == agent.WasSaid {
			delete(r.prints, p)
		}
	}
	return nil
}

// untrustedIn names where untrusted text came from that stands in any of the
// texts. What cannot be found out is taken to be untrusted.
func (a *Agent) untrustedIn(ctx context.Context, texts ...string) []string {
	var prints []int64
	for _, text := range texts {
		prints = append(prints, agent.Traces(text)...)
	}
	from, err := a.Provenance.Sources(ctx, prints)
	if err != nil {
		return []string{"text whose origin is unknown (" + err.Error() + ")"}
	}
	return from
}

// mark marks what of a result is untrusted, and of the reason of one that there
// is none of, and remembers what came in: all that a tool or an attachment
// brings goes through here. outside: all of it is.
func (t *turn) mark(ctx context.Context, from string, outside bool, r *agent.Result, reason string) {
	untrusted := func(texts ...string) bool {
		return len(agent.OpenedIn(ctx, texts)) > 0 || len(t.untrustedIn(ctx, texts...)) > 0
	}
	var own []string
	if outside {
		r.Untrusted = true
		t.remember(ctx, agent.CameIn, from, append(t.made(r.Text, false), t.made(reason, false)...))
	}
	for _, s := range r.Listed {
		if !untrusted(s.Text) {
			own = append(own, s.Text)
		}
	}
	for i := range r.Sources {
		switch s := &r.Sources[i]; {
		case outside || s.Untrusted:
			s.Untrusted = true
			t.remember(ctx, agent.CameIn, s.Path, t.made(s.Text, false))
		case untrusted(s.Path, s.Heading, s.Text):
			s.Untrusted = true
			own = append(own, linesWithout(untrusted, s.Text)...)
		case s.Call != "" && t.readUntrusted(): // as a result's own text below
		default:
			own = append(own, s.Text)
		}
	}
	if !r.IsUntrusted() {
		r.Untrusted = untrusted(r.Text, reason)
		switch {
		case t.readUntrusted(): // it may repeat arguments that were made of untrusted text
		case r.Untrusted:
			own = append(own, linesWithout(untrusted, r.Text)...)
		default:
			own = append(own, r.Text)
		}
	}
	t.provenance.addOwn(own)
}

// linesWithout are the lines of a text in which nothing is untrusted.
func linesWithout(untrusted func(...string) bool, text string) (own []string) {
	for line := range strings.Lines(text) {
		if !untrusted(line) {
			own = append(own, line)
		}
	}
	return own
}

// ownLines are the user's own ones of a text.
func (t *turn) ownLines(ctx context.Context, text string) []string {
	untrusted := func(texts ...string) bool { return len(t.untrustedIn(ctx, texts...)) > 0 }
	if !untrusted(text) {
		return []string{text}
	}
	return linesWithout(untrusted, text)
}

// addOwn takes in texts that are the user's own, so that what is made of them
// is no sign of an untrusted text that holds them too.
func (r *provenance) addOwn(texts []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own.Add(texts...)
}

// remember saves fingerprints of untrusted text of this turn.
func (t *turn) remember(ctx context.Context, kind agent.Kind, from string, prints []int64) {
	if len(prints) == 0 {
		return
	}
	if err := t.Provenance.Remember(context.WithoutCancel(ctx), agent.Untrusted{Source: from, Conversation: t.conversation, Kind: kind, Prints: prints}); err != nil {
		t.emit(agent.Noticed{Text: fmt.Sprintf("Text from %s will not be known as untrusted later: %v.", from, err)})
	}
}

// recallUntrusted finds out what of the messages, the summary and the memory
// that stand in the prompts is untrusted.
func (t *turn) recallUntrusted(ctx context.Context) {
	quoted, own := map[string][]string{}, []string{t.Instructions}
	for _, m := range append(slices.Clip(t.history), llm.Message{Role: llm.User, Text: t.message}) {
		text := m.Text
		if m.Role == llm.User {
			sent := agent.ParseMessage(m.Text)
			text = sent.Text
			for _, a := range sent.Attached {
				t.markUntrusted(a.Name)
			}
		}
		from := t.untrustedIn(ctx, text)
		for _, source := range from {
			t.markUntrusted(source)
		}
		if m.Role == llm.User {
			quoted[text] = from
		}
		if len(from) == 0 {
			own = append(own, text)
		}
	}
	t.provenance.quoted = quoted
	for _, source := range t.untrustedIn(ctx, t.summary.Text) {
		t.markUntrusted(source)
	}
	for i := range t.facts {
		f := &t.facts[i]
		if f.Untrusted = f.Untrusted || len(t.untrustedIn(ctx, f.Text)) > 0; f.Untrusted {
			t.markUntrusted("what was remembered")
		} else {
			own = append(own, f.Text)
		}
	}
	for _, r := range t.past {
		if r.Untrusted {
			t.markUntrusted("what was remembered")
		} else {
			own = append(own, r.Question, r.Answer)
		}
	}
	t.provenance.addOwn(own)
}

// quotedIn names whose words stand in what the user typed, or seems to have.
func (t *turn) quotedIn(typed string) []string { return t.provenance.quoted[strings.TrimSpace(typed)] }

// readUntrusted reports whether untrusted text stands in the prompts of the turn.
func (t *turn) readUntrusted() bool { return len(t.provenance.now().untrusted) > 0 }

// made are the fingerprints of what a model made of untrusted text, without
// what stands in the user's own words and notes as they were read. written:
// each of its lines is known, also a short one.
func (t *turn) made(text string, written bool) []int64 {
	t.provenance.mu.Lock()
	defer t.provenance.mu.Unlock()
	return agent.PrintsOf(text, written, &t.provenance.own)
}

// rememberSaid remembers an answer that was made of untrusted text; what is
// said without any is no mark of one.
func (t *turn) rememberSaid(ctx context.Context, text string) {
	if from := t.provenance.now().untrusted; len(from) > 0 {
		t.remember(ctx, agent.WasSaid, from[0], t.made(text, false))
	} else if err := t.Provenance.Forget(context.WithoutCancel(ctx), agent.Fingerprints(text)); err != nil {
		t.emit(agent.Noticed{Text: fmt.Sprintf("This answer may be taken for untrusted later: %v.", err)})
	}
}

// rememberWritten remembers what a call is about to write that was made of
// untrusted text: it must be known before it can be read. What the user wrote
// into the arguments is the user's own.
func (t *turn) rememberWritten(ctx context.Context, c call, shown agent.Preview) error {
	made := c.made
	if made == nil {
		now := t.provenance.now()
		made = &now
	}
	if agent.ReadOnly(c.tool) || len(made.untrusted) == 0 || t.command != nil || t.isLiteralCall(c) {
		return nil
	}
	if shown == (agent.Preview{}) { // nobody was asked
		shown, _ = t.preview(ctx, c)
	}
	gone, come := changedLines(shown.Diff)
	t.provenance.addOwn(t.ownLines(ctx, gone))
	var prints []int64
	for _, text := range append(textsIn(withoutPlaces(ctx, c, shown)), come) {
		prints = append(prints, t.made(text, true)...)
	}
	err := t.Provenance.Remember(context.WithoutCancel(ctx), agent.Untrusted{Source: made.untrusted[0], Conversation: t.conversation, Kind: agent.WasWritten, Prints: prints})
	if err != nil {
		return fmt.Errorf("note down that what it writes is untrusted: %w", err)
	}
	return nil
}

// withoutPlaces are the arguments of a call without those that name a note
// which is there: its name is the user's.
func withoutPlaces(ctx context.Context, c call, shown agent.Preview) json.RawMessage {
	placed, ok := c.tool.(agent.Resolver)
	args, err := args.ReadObject(c.input)
	if !ok || err != nil || strings.HasPrefix(shown.Diff, "--- /dev/null") {
		return c.input
	}
	for name := range placed.Places(ctx, c.input) {
		delete(args, name)
	}
	rest, err := json.Marshal(args)
	if err != nil {
		return c.input
	}
	return rest
}

// changedLines are the lines that a unified diff takes away and adds.
func changedLines(diff string) (gone, come string) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		case line[0] == '-':
			gone += line[1:]
		case line[0] == '+':
			come += line[1:]
		}
	}
	return gone, come
}

// textsIn lists the texts and numbers inside arguments, and the names within
// them.
func textsIn(input json.RawMessage) (texts []string) {
	args, err := args.ReadObject(input)
	if err != nil {
		return []string{string(input)}
	}
	var walk func(value any)
	walk = func(value any) {
		switch v := value.(type) {
		case string:
			texts = append(texts, v)
		case json.Number:
			texts = append(texts, v.String())
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				texts = append(texts, name)
				walk(v[name])
			}
		}
	}
	for _, value := range args { // the names of arguments are the tool's own
		walk(value)
	}
	return texts
}
