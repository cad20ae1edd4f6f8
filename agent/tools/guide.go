package tools

import (
	"strings"

	"lifehub/agent"
)

// Guide tells small models and planners of the tools that they need most.
var Guide = agent.Guide{
	Tools: []agent.Brief{
		{
			Name: agent.SearchNotes, Args: "query", Use: "for every question but on tasks and the web.",
			Small: "only to search again.",
		},
		{Name: agent.WebSearch, Args: "query", Small: "only if asked for the web."},
		{Name: "list_tasks", Args: "status"},
		{Name: "add_task", Args: "text, due"},
		{Name: "complete_task", Args: "task"},
		{Name: agent.ReadNote, Args: "path"},
		{Name: agent.AppendNote, Args: "content, path", Use: "no path: diary."},
		{Name: "edit_note", Args: "path, old_text, new_text"},
		{Name: "calculate", Args: "expression"},
		{Name: "remember", Args: "text", Use: "if asked."},
	},
	Examples: []agent.Example{
		{Message: "new task: paint the fence", Tool: "add_task", Input: `{"text":"paint the fence"}`},
		{Message: "I have painted the fence", Tool: "complete_task", Input: `{"task":"paint the fence"}`},
	},
	Words: []string{"fence"},
}

// NeedsNotes reports whether a built-in tool works on notes, and so is useless without a vault.
func NeedsNotes(tool string) bool {
	if tool == "note_links" || tool == "find_contradictions" {
		return true
	}
	one := strings.TrimSuffix(tool, "s")
	return strings.HasSuffix(one, "_note") || strings.HasSuffix(one, "_task")
}
