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

func TestPermitForOtherArgumentsRunsNothing(t *testing.T) {
	ran := false
	tool := agent.NewTool(llm.ToolSpec{Name: "add_task"}, agent.Confirm,
		func(context.Context, struct{}) (agent.Result, error) {
			ran = true
			return agent.Result{}, nil
		})
	p := &Permit{
		tool: tool, input: agent.ParseArgs([]byte(`{"text":"b"}`)),
		hash: Hash(json.RawMessage(`{"text":"a"}`)),
	}
	if _, err := p.Run(t.Context()); !errors.Is(err, errChanged) || ran {
		t.Errorf("err %v, ran %v", err, ran)
	}
}

// A tool runs only through a permit: no other code of a turn calls Run.
func TestOnlyAPermitRunsATool(t *testing.T) {
	var calls []string
	for _, room := range []string{"citation", "gate", "memory", "passages", "prompt", "turn"} {
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
		"../gate/permit.go: return p.tool.Run(ctx, p.input.JSON())", "../gate/permit.go: return p.change.Apply(ctx)",
		"../turn/call.go: return p.Run(ctx)",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls of Run:\n%s", strings.Join(calls, "\n"))
	}
}

// mover is a tool whose calls are judged by one note and then change another.
type mover struct {
	agent.Tool
	to  string
	ran *bool
}

func (m mover) Places(context.Context, json.RawMessage) map[string]string {
	return map[string]string{"path": "judged.md"}
}

func (m mover) Prepare(context.Context, json.RawMessage) (agent.Change, error) {
	if m.to == "" {
		return nil, errors.New("it is gone")
	}
	return m, nil
}

func (m mover) Preview() agent.Preview                        { return agent.Preview{Path: m.to} }
func (m mover) Mark(context.Context) (json.RawMessage, error) { return nil, nil }

func (m mover) Apply(context.Context) (agent.Result, error) {
	*m.ran = true
	return agent.Result{}, nil
}

// Only the note that the rules judged is changed, and only by the prepared change,
// never by the tool's Run.
func TestPermitMakesOnlyThePreparedChange(t *testing.T) {
	for to, want := range map[string]string{"judged.md": "", "other.md": errElsewhere.Error(), "": "it is gone"} {
		ran, toolRan := false, false
		tool := agent.NewTool(llm.ToolSpec{Name: "move"}, agent.Confirm,
			func(context.Context, struct{}) (agent.Result, error) {
				toolRan = true
				return agent.Result{}, nil
			})
		c := Call{Tool: mover{tool, to, &ran}, Input: agent.ParseArgs([]byte(`{}`))}
		c.as = New(nil, nil, false).reading(t.Context(), c)
		p := newPermit(c)
		_ = p.prepare(t.Context()) // its error is the error of Run
		_, err := p.Run(t.Context())
		if got := errorText(err); got != want || ran != (want == "") || toolRan {
			t.Errorf("%q: %s, applied %v, run %v", to, got, ran, toolRan)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
