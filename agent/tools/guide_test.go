package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
)

// What the guide says of a tool is true of it, and an example can be called.
func TestGuideNamesToolsAndTheirArguments(t *testing.T) {
	all := All(work(t, nil).deps)
	arguments := func(tool string) map[string]agent.Shape {
		i := slices.IndexFunc(all, func(t agent.Tool) bool { return t.Spec().Name == tool })
		if i < 0 {
			t.Fatalf("no tool %s", tool)
		}
		return agent.ShapeOf(all[i].Spec().Schema).Properties
	}
	for _, b := range Guide.Tools {
		has := arguments(b.Name)
		for argument := range strings.SplitSeq(b.Args, ", ") {
			if _, ok := has[argument]; !ok {
				t.Errorf("%s has no argument %s", b.Name, argument)
			}
		}
	}
	for _, e := range Guide.Examples {
		var input map[string]any
		if err := json.Unmarshal([]byte(e.Input), &input); err != nil {
			t.Errorf("%s: %v", e.Tool, err)
		}
		has := arguments(e.Tool)
		for argument := range input {
			if _, ok := has[argument]; !ok {
				t.Errorf("%s has no argument %s", e.Tool, argument)
			}
		}
		if !slices.ContainsFunc(Guide.Words, func(word string) bool { return strings.Contains(e.Input, word) }) {
			t.Errorf("the example %q has no word that stands for it", e.Message)
		}
	}
}
