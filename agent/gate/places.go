package gate

import (
	"context"
	"maps"
	"slices"
	"time"

	"lifehub/agent"
	"lifehub/agent/args"
)

// placesTimeout bounds resolving the notes that a call names. After that, rules
// see only the arguments as given.
const placesTimeout = 10 * time.Second

// Reading is the arguments of a call as rules see them.
type Reading struct {
	Plain  args.Input        // with note names resolved to paths; matched by rules that loosen
	others []args.Input      // other readings; matched only by rules that tighten
	Places map[string]string // path of each note that an argument names
	Tried  []Rule            // extra rules, to find out what they would change
	Former []string          // former names of the tool
}

// Read resolves the notes that a call names.
func Read(ctx context.Context, tool agent.Tool, input args.Input) Reading {
	as := Reading{Plain: input, Former: agent.FormerNames(tool)}
	placed, ok := tool.(agent.Resolver)
	named, err := input.Copy()
	if !ok || err != nil {
		return as
	}
	ctx, cancel := context.WithTimeout(agent.Hiding(ctx, nil), placesTimeout) // rules apply to hidden notes too
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

// MatchesCall reports whether the rule applies to a call: in the plain reading
// if the rule loosens, in any reading if it tightens.
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
