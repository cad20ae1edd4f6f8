// Package agenttest has helpers for tests of the agent: a history that saves nothing,
// scripted answers, and real notes as sources.
package agenttest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// Forgetful is a history that saves nothing.
type Forgetful struct{}

func (Forgetful) Begin(context.Context, string, string) (string, error) { return "t1", nil }
func (Forgetful) Window(context.Context, string, int) (agent.Window, error) {
	return agent.Window{}, nil
}
func (Forgetful) Exchanges(context.Context, string) ([]agent.Exchange, error) { return nil, nil }
func (Forgetful) Finish(context.Context, string, agent.Answer) error          { return nil }

// Calling returns an answer that calls tools, given as alternating names and
// arguments.
func Calling(pairs ...string) llmtest.Answer {
	var a llmtest.Answer
	for i := 0; i < len(pairs); i += 2 {
		a.Calls = append(a.Calls, llm.ToolCall{
			ID: fmt.Sprint("c", i), Name: pairs[i],
			Args: json.RawMessage(pairs[i+1]),
		})
	}
	return a
}

// Say returns an answer with a text.
func Say(text string) llmtest.Answer { return llmtest.Answer{Text: text} }

// Passages cuts the notes of a shared folder into sources of about twelve lines, at most
// limit in total.
func Passages(t testing.TB, folder string, limit int) (sources []agent.Source) {
	for _, p := range testenv.Passages(t, folder, limit) {
		sources = append(sources, agent.Source{Path: p.Path, Line: p.Line, EndLine: p.EndLine, Text: p.Text})
	}
	return sources
}
