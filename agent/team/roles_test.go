package team

import (
	"slices"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

// A tool of notes is the notes worker's by its name; what a server calls alike
// is not.
func TestAToolGoesToTheWorkerThatItsNameFits(t *testing.T) {
	for _, tc := range []struct {
		tool fakeTool
		want []string
	}{
		{fakeTool{name: "search_notes"}, []string{"notes", "email", "general"}},
		{fakeTool{name: "edit_note"}, []string{"notes", "general"}},
		{fakeTool{name: "note_links"}, []string{"notes", "general"}},
		{fakeTool{name: "random_note"}, []string{"notes", "general"}},
		{fakeTool{name: "add_task"}, []string{"notes", "general"}},
		{fakeTool{name: "notion_create_note", outward: true}, []string{"general"}},
		{fakeTool{name: "brave_search", outward: true}, []string{"search", "general"}},
		{fakeTool{name: "new_tool"}, []string{"general"}},
		{fakeTool{name: agent.DelegateTool}, nil},
	} {
		var got []string
		for _, w := range roles {
			if len(w.of([]agent.Tool{tc.tool})) > 0 {
				got = append(got, w.name)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %v, want %v", tc.tool.name, got, tc.want)
		}
	}
}

// fakeTool is a tool that only has a name.
type fakeTool struct {
	agent.Tool
	name    string
	outward bool
}

func (f fakeTool) Spec() llm.ToolSpec { return llm.ToolSpec{Name: f.name} }
func (f fakeTool) Outward() bool      { return f.outward }
