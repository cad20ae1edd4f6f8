package agent

import "testing"

func TestToolOutputHasNoLineNumbers(t *testing.T) {
	for want, c := range map[string]Citation{
		"list_tasks": {Path: "list_tasks", Line: 14},
		"a/b.md:3":   {Path: "a/b.md", Line: 3},
	} {
		if got := c.Place(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
