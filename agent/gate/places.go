package gate

import (
	"context"
	"maps"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
)

// placesTimeout bounds looking for the notes of a call. After that the call is
// taken at its word.
const placesTimeout = 10 * time.Second

// Reading is the arguments of a call as rules see them.
type Reading struct {
	Plain  args.Input        // with paths in place of names; what a rule that loosens goes by
	others []args.Input      // what else they may mean, for a rule that tightens
	Places map[string]string // the notes that they name, by argument
	Tried  []Rule            // to find out what one more would do
	Former []string          // what the tool was called before
}

// Read finds out what a call means.
func Read(ctx context.Context, tool agent.Tool, input args.Input) Reading {
	as := Reading{Plain: input, Former: agent.FormerNames(tool)}
	placed, ok := tool.(agent.Resolver)
	named, err := input.Copy()
	if !ok || err != nil {
		return as
	}
	ctx, cancel := context.WithTimeout(agent.Hiding(ctx, nil), placesTimeout) // rules go by all notes
	defer cancel()
	places, err := agent.Guarded(ctx, func(ctx context.Context) (map[string]string, error) {
		return placed.Places(ctx, input.JSON()), nil
	})
	if err != nil || len(places) == 0 {
		return as
	}
	as.Places = places
	whole := maps.Clone(named)
	for name, path := range places {
		if named[name] != nil {
			named[name] = path
		}
		whole[name] = path
	}
	for _, reading := range []map[string]any{named, whole} {
		other, err := args.Of(reading)
		if err != nil {
			return as
		}
		as.others = append(as.others, other)
	}
	as.Plain, as.others[0] = as.others[0], input
	return as
}

// MatchesCall reports whether the rule speaks of a call, in the plain reading if it
// loosens and in any if it tightens.
func (r Rule) MatchesCall(tool string, as Reading) bool {
	if r.Matches(tool, as.Plain) {
		return true
	}
	if r.Level == agent.Auto {
		return false
	}
	for _, name := range append(slices.Clone(as.Former), tool) {
		for _, reading := range append(slices.Clone(as.others), as.Plain) {
			if r.Matches(name, reading) {
				return true
			}
		}
	}
	return false
}
