package turn

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
)

// Worker is a kind of worker: what a task may be delegated to, with tools of its own.
type Worker struct {
	Name         string
	Does         string   // description for the lead
	Instructions string   // for the worker
	Tools        []string // globs of the names of its tools; nil: all
	Without      string   // a tool that it has not, whatever Tools says; "" for none
	BuiltIn      bool     // it has no tools of servers
	Needs        string   // the tool without which there is no such worker; "" for none
	Writes       bool     // its report may be a text that rests on no call
	Rounds       int      // in an attempt
}

// Of returns the tools that the worker has.
func (w Worker) Of(tools []agent.Tool) (own []agent.Tool) {
	for _, tool := range tools {
		if of := tool.Properties(); !of.Delegates && (w.Tools == nil || w.uses(tool, of)) &&
			tool.Spec().Name != w.Without {
			own = append(own, tool)
		}
	}
	return own
}

func (w Worker) uses(tool agent.Tool, of agent.Properties) bool {
	if w.BuiltIn && of.Outward {
		return false
	}
	return of.Use == agent.Describes || slices.ContainsFunc(w.Tools, func(glob string) bool {
		ok, err := path.Match(glob, tool.Spec().Name)
		return ok && err == nil
	})
}

// everyone is the worker if Options name none.
var everyone = Worker{
	Name: "general", Does: "all", Instructions: "You do the task with the tools that you have.",
	Writes: true, Rounds: 5,
}

// workers returns the workers that have tools in this turn.
func (t *turn) workers() (kinds []Worker) {
	all := t.agent.Workers
	if len(all) == 0 {
		all = []Worker{everyone}
	}
	for _, w := range all {
		has := func(tool agent.Tool) bool { return tool.Properties().Use != agent.Describes }
		if (w.Needs == "" || t.tool(w.Needs) != nil) && (w.Tools == nil || slices.ContainsFunc(w.Of(t.tools), has)) {
			kinds = append(kinds, w)
		}
	}
	return kinds
}

// workersAndTools describes to the lead the tools of each worker, and the
// skills.
func (t *turn) workersAndTools(kinds []Worker) string {
	var b strings.Builder
	for _, w := range kinds {
		var names []string
		for _, tool := range t.offered(w.Of(t.tools), nil).Tools {
			names = append(names, tool.Spec().Name)
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", w.Name, w.Does, strings.Join(names, ", "))
	}
	if skills := t.tool(agent.ReadSkill); skills != nil {
		fmt.Fprintf(&b, "\n%s, which each has: %s\n", agent.ReadSkill, skills.Spec().Description)
	}
	return strings.TrimSpace(b.String())
}

func describeWorkers(kinds []Worker) string {
	var b strings.Builder
	for _, w := range kinds {
		fmt.Fprintf(&b, "- %s: %s\n", w.Name, w.Does)
	}
	return strings.TrimRight(b.String(), "\n")
}

// workerNames returns the names of workers as a JSON list.
func workerNames(kinds []Worker) string {
	names := make([]string, len(kinds))
	for i, w := range kinds {
		names[i] = w.Name
	}
	raw, err := json.Marshal(names)
	if err != nil {
		return "[]"
	}
	return string(raw)
}
