package app

import (
	"slices"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

// A built-in note tool belongs to the notes worker by its name; a server's tool of that
// kind of name does not.
func TestToolGoesToTheWorkerItsNameFits(t *testing.T) {
	for _, tc := range []struct {
		tool teamTool
		want []string
	}{
		{teamTool{name: "search_notes"}, []string{"notes", "email", "general"}},
		{teamTool{name: "edit_note"}, []string{"notes", "general"}},
		{teamTool{name: "note_links"}, []string{"notes", "general"}},
		{teamTool{name: "random_note"}, []string{"notes", "general"}},
		{teamTool{name: "add_task"}, []string{"notes", "general"}},
		{teamTool{name: "notion_create_note", outward: true}, []string{"general"}},
		{teamTool{name: "brave_search", outward: true}, []string{"search", "general"}},
		{teamTool{name: "new_tool"}, []string{"general"}},
		{teamTool{name: agent.DelegateTool, delegates: true}, nil},
	} {
		var got []string
		for _, w := range workers {
			if len(w.Of([]agent.Tool{tc.tool})) > 0 {
				got = append(got, w.Name)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.tool.name, got, tc.want)
		}
	}
}

// teamTool is a tool with a name and nothing else.
type teamTool struct {
	agent.Tool
	name               string
	outward, delegates bool
}

func (f teamTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: f.name} }
func (f teamTool) Properties() agent.Properties {
	return agent.Properties{Outward: f.outward, Delegates: f.delegates}
}
