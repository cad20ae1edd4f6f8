package answer

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/work"
	"lifehub/llm/offline"
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
	a.NumberAll()
	task := a.explainerPrompt().Request.Task
	task.Results = task.Results[a.Attached:]
	quoted := offline.Quote(task)
	if quoted == "" || strings.Contains(a.Saved.Text, quoted) { // it failed before, and is kept
		return
	}
	a.Lead, a.Quoted = "", quoted
	if a.Saved.Longer(a.Said()) != "" {
		a.Quoted = "\n\n(The answer breaks off here.)\n\n" + quoted
	}
	a.SayHeld(true)
	a.Say(a.Quoted)
}
