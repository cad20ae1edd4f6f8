package turn

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lifehub/agent/agenttest"

	"lifehub/agent"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// talks is an agent with one tool, which calls run, and a model that calls the tool.
func talks(options Options, run func(ctx context.Context) (agent.Result, error)) *Agent {
	tool := agent.NewTool(llm.ToolSpec{Name: "talk", Description: "talks", Schema: []byte(`{"type":"object"}`)}, agent.Auto,
		func(ctx context.Context, _ struct{}) (agent.Result, error) { return run(ctx) })
	options.Model = llmtest.NewScript(
		llmtest.Answer{Match: "Plan for this", Text: `{"reasoning":"","steps":[{"id":"1","tool":"talk","input":{}}],"answer":""}`},
		llmtest.Answer{Match: "Answer this message", Text: "Done."},
	)
	options.Tools = agenttest.Tools(tool)
	options.History = nowhere{}
	return New(options)
}

func TestToolReportsProgressAndAsks(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{"name":{"type":"string"}}}`)
	for name, c := range map[string]struct {
		unattended bool
		input      agent.Input
		want       string
	}{
		"accepted":        {input: agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(`{"name":"Ana"}`)}, want: `accept {"name":"Ana"} `},
		"declined":        {input: agent.Input{Action: agent.InputDeclined}, want: "decline  "},
		"nobody is there": {unattended: true, want: "decline  nobody can be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			a := talks(Options{Unattended: c.unattended}, func(ctx context.Context) (agent.Result, error) {
				host := agent.HostFrom(ctx)
				host.Progress(agent.Progress{Done: 1, Total: 4, Message: "one"})
				got := host.Ask(ctx, agent.Question{From: "s", Kind: agent.FormInput, Message: "Who?", Schema: schema})
				return agent.Result{Text: fmt.Sprintf("%s %s %s", got.Action, got.Values, got.Reason)}, nil
			})
			var story []string
			for e := range a.Ask(t.Context(), "c", "talk") {
				switch b := e.Body.(type) {
				case agent.ToolProgressed:
					story = append(story, fmt.Sprint(e.Type, " ", b.Call, " ", b.Done, " of ", b.Total, " ", b.Message))
				case agent.InputAsked:
					story = append(story, fmt.Sprint(e.Type, " ", b.ID, " ", b.From, " ", b.Kind, " ", b.Message))
					if !c.unattended {
						b.Reply(c.input)
						b.Reply(agent.Input{Action: agent.InputCancelled}) // only the first reply counts
					}
				case agent.InputGiven:
					text, _ := json.Marshal(e)
					if strings.Contains(string(text), "Ana") {
						t.Errorf("the values stand in the event: %s", text)
					}
					story = append(story, fmt.Sprint(e.Type, " ", b.ID, " ", b.Action))
				case agent.ToolEnded:
					story = append(story, b.Output)
				}
			}
			action, _, _ := strings.Cut(c.want, " ")
			want := []string{"tool_progress 1 1 of 4 one", "input_request 1.1 s form Who?", "input_result 1.1 " + action, c.want}
			if fmt.Sprint(story) != fmt.Sprint(want) {
				t.Errorf("got  %q\nwant %q", story, want)
			}
		})
	}
}

func TestStoppedTurnWithdrawsItsQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		late := make(chan agent.Input, 1)
		a := talks(Options{}, func(callCtx context.Context) (agent.Result, error) {
			host := agent.HostFrom(callCtx)
			// The tool ignores the end of its call.
			late <- host.Ask(context.WithoutCancel(callCtx), agent.Question{Kind: agent.FormInput})
			host.Progress(agent.Progress{Done: 1})
			late <- host.Ask(context.WithoutCancel(callCtx), agent.Question{Kind: agent.FormInput})
			return agent.Result{}, nil
		})
		for e := range a.Ask(ctx, "c", "talk") {
			if _, ok := e.Body.(agent.InputAsked); ok {
				cancel()
			}
		}
		time.Sleep(time.Second)
		for range 2 {
			if got := <-late; got.Action != agent.InputCancelled {
				t.Errorf("got %+v", got)
			}
		}
	})
}
