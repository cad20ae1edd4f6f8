package turn

import (
	"context"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/citation"
	"lifehub/agent/gate"
	"lifehub/internal/text"
)

// check judges the citations of the answer and emits each.
func (a *answer) check(ctx context.Context, answer string) []agent.Citation {
	said := strings.TrimSuffix(answer, a.passageList) // by the model
	citations := citation.CheckBut(said, a.sources, a.reread, a.userSaid)
	searched := len(a.sources) > 0 || a.coverage != nil
	citations = slices.DeleteFunc(citations, func(c agent.Citation) bool {
		return c.Words != "" && c.Verdict == agent.NotFound && (!searched || a.wasSaid(c.Words))
	})
	if !a.gate.Command { // else the answer is what the tool returned
		citations = append(citations, a.unread(context.WithoutCancel(ctx), said)...)
	}
	for _, c := range a.listed { // they claim nothing
		c.At += len(said)
		citations = append(citations, c)
	}
	for _, c := range citations {
		cited := agent.Cited{Citation: c}
		if c.N >= 1 && c.N <= len(a.sources) {
			cited.Source = a.sources[c.N-1]
		}
		a.events.Emit(cited)
	}
	return citations
}

// notRead is the detail of a place that an answer names and nobody read.
const notRead = "source was not read"

// unread lists the places that the answer names and that were not read in the
// conversation, whoever named them before: a poisoned note, the user or nobody.
// Left out is what a tool of the turn listed, or a note of the user's own links
// to; what the turn made; and a name without brackets that the user typed and that
// no note has.
func (a *answer) unread(ctx context.Context, answer string) (citations []agent.Citation) {
	places := citation.PlacesIn(answer)
	seen := a.record.Seen()
	for _, s := range a.sources {
		if s.Call != "" { // what a tool said that reads no notes
			seen.Listed = append(seen.Listed, s)
		}
	}
	for _, f := range a.recalled.Facts {
		seen.Sources = append(seen.Sources, f.Source())
	}
	for _, e := range a.steps.effectsBy("") {
		seen.Sources = append(seen.Sources, e.Source())
	}
	places = slices.DeleteFunc(places, func(p citation.NamedPlace) bool { return holds(seen, p) })
	if len(places) == 0 {
		return nil
	}
	typed := a.question
	earlier, err := a.conversations.Exchanges(ctx, a.record.Conversation)
	if err != nil {
		return nil // nothing is known to be unread
	}
	for _, e := range earlier {
		typed += "\n" + e.Question
		seen.Sources = append(seen.Sources, e.Answer.Sources...)
		for _, effect := range e.Answer.Effects {
			seen.Sources = append(seen.Sources, effect.Source())
		}
	}
	for _, p := range places {
		if holds(seen, p) || p.Line == 0 && !p.Bracketed && !agent.OnWeb(p.Name) && strings.Contains(typed, p.Name) && !a.exists(p) {
			continue
		}
		citations = append(citations, agent.Citation{Path: p.Name, Line: p.Line, EndLine: p.EndLine, Verdict: agent.NotFound, Detail: notRead})
	}
	return citations
}

// holds reports whether a place was read, or made, in the turn.
func holds(s gate.Seen, p citation.NamedPlace) bool {
	links := func(s agent.Source) bool { return !s.Untrusted && p.LinkedIn(s.Text) }
	return p.Within(s.Sources) || p.Within(s.Listed) || slices.ContainsFunc(s.Sources, links) ||
		slices.ContainsFunc(s.Listed, func(s agent.Source) bool { return strings.Contains(s.Text, p.Name) }) ||
		slices.ContainsFunc(s.Given, func(input string) bool { return strings.Contains(input, p.Name) })
}

// exists reports whether a path is that of a note.
func (a *answer) exists(p citation.NamedPlace) bool {
	if a.reread == nil {
		return false
	}
	_, ok := a.reread(agent.Source{Path: path.Clean(p.Name), Line: 1, EndLine: 1})
	return ok
}

// userSaid reports whether words repeat the question, or the input of a step.
func (a *answer) userSaid(words string) bool {
	parts := citation.QuoteParts(words)
	return len(parts) > 0 && (citation.InOrder(text.Tokens(a.question), parts) || slices.ContainsFunc(a.steps.found, func(f finding) bool {
		return citation.InOrder(text.Tokens(string(f.step.Input)), parts)
	}))
}

// wasSaid reports whether words are in what this turn goes by next to its
// sources: in the conversation, and in what steps were given and told. Of the
// question an answer may leave words out: "nothing about “boiler pressure”".
func (a *answer) wasSaid(words string) bool {
	parts := citation.QuoteParts(words)
	in := func(s string) bool { return citation.InOrder(text.Tokens(s), parts) }
	single := [][]text.Token{}
	for _, part := range parts {
		for i := range part {
			single = append(single, part[i:i+1])
		}
	}
	if citation.InOrder(text.Tokens(a.question), single) || in(a.recalled.Summary.Text) {
		return true
	}
	for _, m := range a.recalled.History {
		if in(m.Text) {
			return true
		}
	}
	for _, r := range a.recalled.Past {
		if in(r.Question) || in(r.Answer) {
			return true
		}
	}
	return slices.ContainsFunc(a.steps.found, func(f finding) bool {
		return len(f.Result.Sources) == 0 && in(f.Result.Text) || in(string(f.step.Input)) || in(f.Reason)
	})
}

// allQuoted reports whether each sentence of a report quotes its sources, and
// every quotation stands there.
func allQuoted(report string, sources []agent.Source) bool {
	citations := citation.Check(report, numbered(sources), nil)
	for _, s := range text.Sentences(report) {
		said := report[s.Start:s.End]
		if !slices.ContainsFunc(citations, func(c agent.Citation) bool {
			return c.At > s.Start && c.At <= s.End || c.Words != "" && strings.Contains(said, c.Words)
		}) {
			return false
		}
	}
	return len(citations) > 0 && !slices.ContainsFunc(citations, func(c agent.Citation) bool { return c.Verdict != agent.Verified })
}

// cites reports whether a report cites or quotes sources, and whether one of
// them wrongly.
func cites(report string, sources []agent.Source) (some, wrong bool) {
	citations := citation.Check(report, numbered(sources), nil)
	return len(citations) > 0, slices.ContainsFunc(citations, func(c agent.Citation) bool { return c.Verdict != agent.Verified && c.Verdict != agent.Cites })
}

// numbered are sources in the order of their numbers.
func numbered(sources []agent.Source) []agent.Source {
	list := slices.Clone(sources)
	for i := range list {
		list[i].N = i + 1
	}
	return list
}
