package turn

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"strings"
	"sync"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/internal/text"
)

// checkCitations judges the citations of the answer and tells each.
func (t *turn) checkCitations(ctx context.Context, answer string) []agent.Citation {
	citations := citation.Check(answer, t.sources, t.Reread)
	searched := len(t.sources) > 0 || t.coverage != nil
	citations = slices.DeleteFunc(citations, func(c agent.Citation) bool {
		return c.Words != "" && c.Verdict == agent.NotFound && (!searched || t.wasSaid(c.Words))
	})
	if t.command == nil { // else the answer is what the tool returned
		citations = append(citations, t.unread(context.WithoutCancel(ctx), strings.TrimSuffix(answer, t.quoted))...)
	}
	for _, c := range citations {
		cited := agent.Cited{Citation: c}
		if c.N >= 1 && c.N <= len(t.sources) {
			cited.Source = t.sources[c.N-1]
		}
		t.emit(cited)
	}
	return citations
}

// seen is what a conversation brought to light. It is safe for concurrent use;
// the zero value has seen nothing.
type seen struct {
	mu     sync.Mutex
	read   []agent.Source
	listed []agent.Source
	given  []string // arguments of calls that are not known to only read notes
}

// call notes what a call names, run or not: a page that it opens, or what it
// makes or changes.
func (s *seen) call(tool agent.Tool, input json.RawMessage) {
	if _, opens := tool.(agent.Fetcher); opens || tool == nil || !agent.ReadOnly(tool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.given = append(s.given, string(input))
	}
}

// result notes what a call brought.
func (s *seen) result(r agent.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = append(s.read, r.Sources...)
	s.listed = append(s.listed, r.Listed...)
}

// holds reports whether a place was read, or made, in the turn.
func (s *seen) holds(p citation.NamedPlace) bool {
	return p.Within(s.read) || (p.Listed || p.Line > 0) && p.Within(s.listed) ||
		p.Listed && slices.ContainsFunc(s.listed, func(s agent.Source) bool { return strings.Contains(s.Text, p.Name) }) ||
		slices.ContainsFunc(s.given, func(input string) bool { return strings.Contains(input, p.Name) })
}

// notRead is the detail of a place that an answer names and nobody read.
const notRead = "not read in this conversation"

// unread lists the places that the answer names and that were not read in the
// conversation, whoever named them before: a poisoned note, the user or nobody.
// Left out is what the turn listed, in a list; what it made; and a name without
// brackets that the user typed and that no note has.
func (t *turn) unread(ctx context.Context, answer string) (citations []agent.Citation) {
	places := citation.PlacesIn(answer)
	t.seen.mu.Lock()
	defer t.seen.mu.Unlock()
	for _, f := range t.facts {
		t.seen.read = append(t.seen.read, f.Source())
	}
	for _, e := range t.effectsBy("") {
		t.seen.read = append(t.seen.read, e.Source())
	}
	places = slices.DeleteFunc(places, t.seen.holds)
	if len(places) == 0 {
		return nil
	}
	typed := t.question
	earlier, err := t.History.Exchanges(ctx, t.conversation)
	if err != nil {
		return nil // nothing is known to be unread
	}
	for _, e := range earlier {
		typed += "\n" + e.Question
		t.seen.read = append(t.seen.read, e.Answer.Sources...)
		for _, effect := range e.Answer.Effects {
			t.seen.read = append(t.seen.read, effect.Source())
		}
	}
	for _, p := range places {
		if t.seen.holds(p) || p.Line == 0 && !p.Bracketed && !agent.OnWeb(p.Name) && strings.Contains(typed, p.Name) && !t.exists(p) {
			continue
		}
		citations = append(citations, agent.Citation{Path: p.Name, Line: p.Line, EndLine: p.EndLine, Verdict: agent.NotFound, Detail: notRead})
	}
	return citations
}

// exists reports whether a path is that of a note.
func (t *turn) exists(p citation.NamedPlace) bool {
	if t.Reread == nil {
		return false
	}
	_, ok := t.Reread(agent.Source{Path: path.Clean(p.Name), Line: 1, EndLine: 1})
	return ok
}

// wasSaid reports whether words stand in what this turn goes by next to its
// sources: in the conversation, and in what steps were given and told. Of the
// question an answer may leave words out: "nothing about “boiler pressure”".
func (t *turn) wasSaid(words string) bool {
	parts := citation.QuoteParts(words)
	in := func(s string) bool { return citation.InOrder(text.Tokens(s), parts) }
	single := [][]text.Token{}
	for _, part := range parts {
		for i := range part {
			single = append(single, part[i:i+1])
		}
	}
	if citation.InOrder(text.Tokens(t.question), single) || in(t.summary.Text) {
		return true
	}
	for _, m := range t.history {
		if in(m.Text) {
			return true
		}
	}
	for _, r := range t.past {
		if in(r.Question) || in(r.Answer) {
			return true
		}
	}
	return slices.ContainsFunc(t.found, func(f finding) bool {
		return len(f.result.Sources) == 0 && in(f.result.Text) || in(string(f.step.Input)) || in(f.reason)
	})
}
