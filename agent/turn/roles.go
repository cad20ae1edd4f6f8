package turn

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
)

// role is a kind of worker: its purpose, its tools and its number of rounds in
// an attempt.
type role struct {
	name   string
	does   string   // description for the lead
	prompt string   // instructions for the worker
	tools  []string // globs of tool names
	own    bool     // the globs do not match tools of servers
	writes bool     // its report may be a text that rests on no call
	rounds int
}

// roles has all roles, in the order shown to the lead. A server's tool is
// available to the roles whose globs match its name, and to general.
var roles = []role{
	{
		name: "notes", does: "what is in the user's notes and tasks, and changes to them", rounds: 5,
		prompt: "You work with the user's notes. Search with more than one wording, read the notes that matter, and report what they say, naming note and line. If they do not say it, report that.",
		tools:  []string{agent.SearchNotes, "*_note", "*_notes", "note_links", "find_contradictions", "*_task", "*_tasks", "recall", "today", "calculate"}, own: true,
	},
	{
		name: "search", does: "the web", rounds: 5,
		prompt: "You search the web. Read a page where a snippet is not enough. Report facts with the address they come from, and where pages contradict each other.",
		tools:  []string{"*web_search*", "web_fetch", "*_search", "*_fetch", "get_weather"},
	},
	{
		name: "crawl", does: "several pages of one site", rounds: 4,
		prompt: "You go through pages of one site. Report what they say on the task, each with its address.",
		tools:  []string{"crawl", "web_fetch", "*_crawl*", "*_fetch"},
	},
	{
		name: "email", does: "mail", rounds: 4,
		prompt: "You write mail for the user: in their language, short, without invented facts, addresses or promises. Send only what the task asks for, to whom it names. Report exactly what was sent to whom, or why not.",
		tools:  []string{sendsMail, "recall", "search_notes", "read_note", "today"},
	},
	{
		name: "general", does: "what needs tools of several, texts, and all else", rounds: 5, writes: true,
		prompt: "You do what no other worker can do alone. Longer texts that the user will keep or change are made as artifacts.",
	},
}

// of returns the tools that the worker may use. general has all except the one
// that sends mail.
func (w role) of(tools []agent.Tool) (own []agent.Tool) {
	for _, tool := range tools {
		switch name := tool.Spec().Name; {
		case name == agent.DelegateTool:
		case w.name == "general" && name != sendsMail, w.name != "general" && w.uses(tool):
			own = append(own, tool)
		}
	}
	return own
}

const sendsMail = "send_email"

func (w role) uses(tool agent.Tool) bool {
	if w.own && agent.IsOutward(tool) {
		return false
	}
	name := tool.Spec().Name
	return name == agent.ReadSkill || name == agent.FindTools || slices.ContainsFunc(w.tools, func(glob string) bool {
		ok, err := path.Match(glob, name)
		return ok && err == nil && !(strings.HasPrefix(glob, "*_") && name == agent.SearchNotes)
	})
}

// workersFor returns the roles that have tools in this turn.
func workersFor(tools []agent.Tool) (kinds []role) {
	for _, w := range roles {
		if w.name == "email" && !slices.ContainsFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == sendsMail }) {
			continue
		}
		if w.name == "general" || slices.ContainsFunc(w.of(tools), func(t agent.Tool) bool { return t.Spec().Name != agent.ReadSkill && t.Spec().Name != agent.FindTools }) {
			kinds = append(kinds, w)
		}
	}
	return kinds
}

// workersAndTools describes to the lead the tools of each worker, and the
// skills.
func (t *turn) workersAndTools(kinds []role) string {
	var b strings.Builder
	for _, w := range kinds {
		var names []string
		for _, tool := range t.offered(w.of(t.tools), nil).Tools {
			names = append(names, tool.Spec().Name)
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", w.name, w.does, strings.Join(names, ", "))
	}
	if skills := t.tool(agent.ReadSkill); skills != nil {
		fmt.Fprintf(&b, "\n%s, which each has: %s\n", agent.ReadSkill, skills.Spec().Description)
	}
	return strings.TrimSpace(b.String())
}

func describeWorkers(kinds []role) string {
	var b strings.Builder
	for _, w := range kinds {
		fmt.Fprintf(&b, "- %s: %s\n", w.name, w.does)
	}
	return strings.TrimRight(b.String(), "\n")
}

// workerNames returns the names of roles as a JSON list.
func workerNames(kinds []role) string {
	names := make([]string, len(kinds))
	for i, w := range kinds {
		names[i] = w.name
	}
	raw, err := json.Marshal(names)
	if err != nil {
		return "[]"
	}
	return string(raw)
}
