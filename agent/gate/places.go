package gate

import (
	"context"
	"maps"
	"slices"
	"time"

	"lifehub/agent"
)

// placesTimeout bounds resolving the notes that a call names. After that, rules
// see only the arguments as given.
const placesTimeout = 10 * time.Second

// Reading is the arguments of a call as rules see them.
type Reading struct {
	Plain  agent.Args        // canonical: note names are resolved to paths
	others []agent.Args      // as given, and with the notes of arguments that are not given; for rules that tighten
	Places map[string]string // path of each note that an argument names
	Tried  []Rule            // extra rules, to find out what they would change
	Former []string          // former names of the tool
}

// Read resolves the notes that a call names.
func Read(ctx context.Context, tool agent.Tool, input agent.Args) Reading {
	as := Reading{Plain: input, Former: tool.Properties().FormerNames}
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
	whole := maps.Clone(named)
	for name, path := range places {
		if named[name] != nil {
			named[name] = path
		}
		whole[name] = path
	}
	plain, err := agent.Of(named)
	filled, alsoErr := agent.Of(whole)
	if err != nil || alsoErr != nil {
		return as
	}
	as.Plain, as.others, as.Places = plain, []agent.Args{input, filled}, places
	return as
}

// MatchesCall reports whether the rule applies to a call. A rule that tightens
// also compares the arguments as given, and former names of the tool.
func (r Rule) MatchesCall(tool string, as Reading) bool {
	names, readings := []string{tool}, []agent.Args{as.Plain}
	if r.Level != agent.Auto {
		names, readings = append(names, as.Former...), append(readings, as.others...)
	}
	return slices.ContainsFunc(names, func(name string) bool {
		return slices.ContainsFunc(readings, func(input agent.Args) bool { return r.Matches(name, input) })
	})
}
