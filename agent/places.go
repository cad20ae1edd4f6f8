package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// placesTimeout bounds looking for the notes of a call. After that the call is
// taken at its word.
const placesTimeout = 10 * time.Second

// ruled is the arguments of a call as rules see them.
type ruled struct {
	plain  json.RawMessage   // with paths in place of names; what a rule that loosens goes by
	others []json.RawMessage // what else they may mean, for a rule that tightens
	tried  []Rule            // to find out what one more would do
	former []string          // what the tool was called before
}

// ruledBy finds out what a call means.
func ruledBy(ctx context.Context, tool Tool, input json.RawMessage) ruled {
	as := ruled{plain: input, former: formerNames(tool)}
	placed, ok := tool.(Placed)
	args, err := readObject(input)
	if !ok || err != nil {
		return as
	}
	ctx, cancel := context.WithTimeout(hiding(ctx, nil), placesTimeout) // rules go by all notes
	defer cancel()
	places, err := guarded(ctx, func(ctx context.Context) (map[string]string, error) {
		return placed.Places(ctx, bytes.Clone(input)), nil
	})
	if err != nil || len(places) == 0 {
		return as
	}
	whole := maps.Clone(args)
	for name, path := range places {
		if args[name] != nil {
			args[name] = path
		}
		whole[name] = path
	}
	for _, reading := range []map[string]any{args, whole} {
		raw, err := json.Marshal(reading)
		if err != nil {
			return as
		}
		as.others = append(as.others, raw)
	}
	as.plain, as.others[0] = as.others[0], input
	return as
}

// matches tells whether the rule speaks of a call, in the plain reading if it
// loosens and in any if it tightens.
func (r Rule) matches(tool string, as ruled) bool {
	if r.Matches(tool, as.plain) {
		return true
	}
	if r.Level == Auto {
		return false
	}
	for _, name := range append(slices.Clone(as.former), tool) {
		for _, reading := range append(slices.Clone(as.others), as.plain) {
			if r.Matches(name, reading) {
				return true
			}
		}
	}
	return false
}
