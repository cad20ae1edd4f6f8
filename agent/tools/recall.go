package tools

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/memory"
)

type recallArgs struct {
	Query string `json:"query,omitempty"`
}

// Past finds exchanges of earlier conversations, best first.
type Past func(ctx context.Context, query string, limit int) ([]agent.Recollection, error)

const (
	maxRecalledFacts = 20
	maxRecalledPast  = 5
)

func newRecall(f Facts, past Past, unsearched string) agent.Tool {
	return agent.NewTool(spec[recallArgs]("recall"), agent.Auto,
		func(ctx context.Context, args recallArgs) (agent.Result, error) {
			facts, err := f.List(ctx)
			if err != nil {
				return agent.Result{}, err
			}
			var exchanges []agent.Recollection
			if query := strings.TrimSpace(args.Query); query != "" {
				if facts, err = memory.FittingFacts(ctx, query, facts); err != nil {
					return agent.Result{}, err
				}
				if past != nil {
					if exchanges, err = past(ctx, query, maxRecalledPast); err != nil {
						return agent.Result{}, err
					}
				}
			}
			result := recalled(facts, exchanges)
			if unsearched != "" && strings.TrimSpace(args.Query) != "" {
				result.Text += "\n\nEarlier conversations were not searched: " + unsearched + "."
			}
			return result, nil
		})
}

func recalled(facts []agent.Fact, exchanges []agent.Recollection) agent.Result {
	var b strings.Builder
	var r agent.Result
	for i, fact := range facts {
		if i == maxRecalledFacts {
			fmt.Fprintf(&b, "and %d more\n", len(facts)-i)
			break
		}
		fmt.Fprintf(&b, "- %s", fact.Text)
		if from := fact.Provenance(); from != "" {
			fmt.Fprintf(&b, " (%s)", from)
		}
		b.WriteString("\n")
		r.Listed = append(r.Listed, fact.Source())
	}
	for _, e := range exchanges {
		r.Origin, r.Untrusted = r.Origin.And(e.Origin), r.Untrusted || e.Untrusted
		fmt.Fprintf(&b, "\nOn %s, in %q (%s):\nUser: %s\nYou: %s\n", e.Asked.Format(time.DateOnly), e.Title,
			e.Conversation, e.Question, e.Answer)
	}
	if b.Len() == 0 {
		return agent.Result{Text: "Nothing found.", Nothing: true}
	}
	r.Text = strings.TrimSpace(b.String())
	return r
}
