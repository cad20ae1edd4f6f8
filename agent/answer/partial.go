package answer

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/work"
	"lifehub/llm"
)

// QuoteFound says what the steps found where the model that should have
// answered from it failed: the offline provider quotes it.
func (a *Answer) QuoteFound(ctx context.Context) {
	var err error
	defer agent.Catch(&err) // the turn has failed already, and says so
	found := a.Found[a.Attached:]
	if ctx.Err() != nil || !slices.ContainsFunc(found, func(f work.Finding) bool { return f.Status == agent.Done && !f.Result.Nothing }) {
		return
	}
	a.Number(a.Found)
	a.citeFacts()
	task := a.explainerPrompt().Request.Task
	task.Fallback, task.Results = true, task.Results[a.Attached:]
	quoted, _, _ := llm.Collect(llm.NewOffline().Stream(ctx, llm.Request{Task: task}))
	if quoted.Text == "" || strings.Contains(a.Saved.Text, quoted.Text) { // it failed before, and is kept
		return
	}
	a.Lead, a.Quoted = "", quoted.Text
	if a.Saved.Longer(a.Said()) != "" {
		a.Quoted = "\n\n(The answer breaks off here.)\n\n" + quoted.Text
	}
	a.Say(a.Quoted)
}
