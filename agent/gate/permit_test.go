package gate

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

func TestAPermitForOtherBytesRunsNothing(t *testing.T) {
	ran := false
	tool := agent.NewTool(llm.ToolSpec{Name: "add_task"}, agent.Confirm, func(context.Context, struct{}) (agent.Result, error) {
		ran = true
		return agent.Result{}, nil
	})
	p := &Permit{tool: tool, input: json.RawMessage(`{"text":"b"}`), hash: Hash(json.RawMessage(`{"text":"a"}`))}
	if _, err := p.Run(t.Context()); !errors.Is(err, errChanged) || ran {
		t.Errorf("err %v, ran %v", err, ran)
	}
	if _, err := Look(t.Context(), tool, json.RawMessage(`{}`)); err == nil || ran {
		t.Errorf("a tool that may write is looked into: err %v, ran %v", err, ran)
	}
}

// A tool runs only through a permit: no other line of a turn calls Run.
func TestOnlyThePermitRunsATool(t *testing.T) {
	var calls []string
	for _, room := range []string{"answer", "events", "gate", "memory", "prompt", "provenance", "team", "toolchoice", "turn", "work"} {
		files, err := filepath.Glob(filepath.Join("..", room, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v", room, err)
		}
		for _, f := range files {
			if strings.HasSuffix(f, "_test.go") {
				continue
			}
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, ".Run(") || strings.Contains(line, ".Apply(") {
					calls = append(calls, filepath.ToSlash(f)+": "+strings.TrimSpace(line))
				}
			}
		}
	}
	want := []string{
		"../gate/permit.go: return p.tool.Run(ctx, bytes.Clone(p.input))", "../gate/permit.go: return p.change.Apply(ctx)",
		"../work/call.go: return p.Run(ctx)",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls of Run:\n%s", strings.Join(calls, "\n"))
	}
}
