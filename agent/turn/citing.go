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

// check checks the citations of the answer and emits each verdict.
func (t *turn) check(ctx context.Context, answer string) []agent.Citation {
	written := strings.TrimSuffix(answer, t.answer.passageList) // by the model
	citations := citation.CheckExcept(written, t.answer.sources, t.agent.Notes, t)
	searched := len(t.answer.sources) > 0 || t.answer.coverage != nil
	citations = slices.DeleteFunc(citations, func(c agent.Citation) bool {
		return c.Words != "" && c.Verdict == agent.NotFound && (!searched || t.inConversation(c.Words))
	})
	if t.command == nil {
		citations = append(citations, citation.Found(written, t.answer.sources, t.agent.Notes)...)
		citations = append(citations, t.unread(context.WithoutCancel(ctx), written)...)
	}
	for _, c := range t.answer.listed { // they claim nothing
		c.At += len(written)
		citations = append(citations, c)
	}
	if t.answer.whole > 0 && !text.CitationForm.MatchString(written) {
		t.answer.renumber(citations)
	}
	for _, c := range citations {
		cited := agent.Cited{Citation: c}
		if c.N >= 1 && c.N <= len(t.answer.sources) {
			cited.Source = t.answer.sources[c.N-1]
		}
		t.events.Emit(cited)
	}
	return citations
}

// notRead is the detail of a cited place that nobody read.
const notRead = "source was not read"

// unread returns the places that the answer names but that were not read in the
// conversation, whoever named them. Exceptions are places that a tool listed,
// that a note of the user links to, or that the turn created, and names without
// brackets that the user typed and that are not notes.
func (t *turn) unread(ctx context.Context, answer string) (citations []agent.Citation) {
	places := citation.PlacesIn(answer)
	seen := t.record.Seen()
	for _, s := range t.answer.sources {
		if s.Call != "" { // results of tools that read no notes
			seen.Listed = append(seen.Listed, s)
		}
	}
	for _, f := range t.recalled.Facts {
		seen.Sources = append(seen.Sources, f.Source())
	}
	for _, e := range t.steps.effectsBy("") {
		seen.Sources = append(seen.Sources, e.Source())
	}
	places = slices.DeleteFunc(places, func(p citation.NamedPlace) bool { return holds(seen, p) })
	if len(places) == 0 {
		return nil
	}
	typed := t.typedText()
	drop := func(earlier []agent.Exchange) {
		for _, e := range earlier {
			typed += "\n" + e.Question
			seen.Sources = append(seen.Sources, e.Answer.Sources...)
			for _, effect := range e.Answer.Effects {
				seen.Sources = append(seen.Sources, effect.Source())
			}
		}
		places = slices.DeleteFunc(places, func(p citation.NamedPlace) bool {
			return holds(seen, p) || p.Line == 0 && !p.Bracketed && !agent.OnWeb(p.Name) &&
				strings.Contains(typed, p.Name) && !t.exists(p)
		})
	}
	w, err := t.agent.History.Window(ctx, t.record.Conversation, everyMessage)
	if drop(w.Exchanges); err == nil && len(places) > 0 && w.Before > 0 {
		var all []agent.Exchange
		all, err = t.agent.History.Exchanges(ctx, t.record.Conversation)
		drop(all)
	}
	if err != nil {
		return nil // report nothing as unread
	}
	for _, p := range places {
		citations = append(citations, agent.Citation{
			Path: p.Name, Line: p.Line, EndLine: p.EndLine,
			Verdict: agent.NotFound, Detail: notRead,
		})
	}
	return citations
}

// holds reports whether a place was read, listed, linked or created in the
// turn.
func holds(s gate.Seen, p citation.NamedPlace) bool {
	links := func(s agent.Source) bool { return !s.Untrusted && p.LinkedIn(s.Text) }
	return p.Within(s.Sources) || p.Within(s.Listed) || slices.ContainsFunc(s.Sources, links) ||
		slices.ContainsFunc(s.Listed, func(s agent.Source) bool { return strings.Contains(s.Text, p.Name) }) ||
		slices.ContainsFunc(s.Given, func(input string) bool { return strings.Contains(input, p.Name) })
}

// exists reports whether the place is an existing note.
func (t *turn) exists(p citation.NamedPlace) bool {
	if t.agent.Notes == nil {
		return false
	}
	_, ok := t.agent.Notes.Reread(agent.Source{Path: path.Clean(p.Name), Line: 1, EndLine: 1})
	return ok
}

// Has reports whether words occur in the question or the input of a step.
func (t *turn) Has(words string) bool {
	parts := citation.QuoteParts(words)
	return len(parts) > 0 && (citation.InOrder(text.Tokens(t.typedText()), parts) ||
		slices.ContainsFunc(t.steps.found, func(f finding) bool {
			return citation.InOrder(text.Tokens(string(f.step.Input)), parts)
		}))
}

// inConversation reports whether words occur in what the turn used besides sources:
// the conversation, and the inputs and results of steps. Quotations of the
// question may skip words: "nothing about “boiler pressure”".
func (t *turn) inConversation(words string) bool {
	parts := citation.QuoteParts(words)
	in := func(s string) bool { return citation.InOrder(text.Tokens(s), parts) }
	single := [][]text.Token{}
	for _, part := range parts {
		for i := range part {
			single = append(single, part[i:i+1])
		}
	}
	if citation.InOrder(text.Tokens(t.typedText()), single) || in(t.recalled.Summary.Text) || in(t.recalled.Record) {
		return true
	}
	for _, m := range t.recalled.Seen {
		if in(m.Text) {
			return true
		}
	}
	for _, r := range t.recalled.Past {
		if in(r.Question) || in(r.Answer) {
			return true
		}
	}
	return slices.ContainsFunc(t.steps.found, func(f finding) bool {
		return len(f.Result.Sources) == 0 && in(f.Result.Text) || in(string(f.step.Input)) || in(f.Reason)
	})
}

// allQuoted reports whether every sentence of a report quotes its sources and
// all quotations are verified.
func allQuoted(report string, sources []agent.Source) bool {
	citations := citation.Check(report, numbered(sources), nil)
	for _, s := range text.Sentences(report) {
		sentence := report[s.Start:s.End]
		if !slices.ContainsFunc(citations, func(c agent.Citation) bool {
			return c.At > s.Start && c.At <= s.End || c.Words != "" && strings.Contains(sentence, c.Words)
		}) {
			return false
		}
	}
	return len(citations) > 0 && !slices.ContainsFunc(citations,
		func(c agent.Citation) bool { return c.Verdict != agent.Verified })
}

// cites reports whether a report cites or quotes sources, and whether any of
// that is wrong.
func cites(report string, sources []agent.Source) (some, wrong bool) {
	citations := citation.Check(report, numbered(sources), nil)
	return len(citations) > 0, slices.ContainsFunc(citations,
		func(c agent.Citation) bool { return c.Verdict != agent.Verified && c.Verdict != agent.Cites })
}

// numbered returns sources numbered in order.
func numbered(sources []agent.Source) []agent.Source {
	list := slices.Clone(sources)
	for i := range list {
		list[i].N = i + 1
	}
	return list
}
