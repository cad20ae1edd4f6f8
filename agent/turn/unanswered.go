package turn

import (
	"context"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/agent/passages"
)

// passages returns an answer without a model: what the calls found, after the opening, which says why if it is not
// empty. It makes no claims, so none are checked.
func (t *turn) passages(found []finding, opening string) string {
	list := passages.List{
		Opening: opening, Sources: t.answer.sources, Facts: t.recalled.Facts, Said: t.statedBefore(),
		Unlikely: nothingIn(found),
		Coverage: t.answer.coverage,
	}
	for _, f := range found {
		r := forModel(f)
		list.Calls = append(list.Calls, passages.Call{
			Step: f.step.ID, Tool: f.step.Tool, Status: f.Status, Text: r.text, Cited: r.cited, Result: f.Result,
			Attached: f.step.Tool == attachTool && f.Status == agent.Done && len(f.Result.Sources) == 0,
		})
	}
	text, shown := list.Write()
	t.answer.listed = shown
	return text
}

// statedBefore returns the best-fitting earlier statement of the user; "" if
// there is none.
func (t *turn) statedBefore() string {
	for _, p := range t.recalled.Past {
		if statement := passages.Inline(p.Question, nil); statement != "" && !strings.HasSuffix(statement, "?") {
			return "On " + p.Asked.Format(time.DateOnly) + " you said: “" + statement + "”"
		}
	}
	return ""
}

// listPassages lists the findings of the steps if the model failed before
// answering.
func (t *turn) listPassages(ctx context.Context) {
	var err error
	defer agent.Catch(&err) // the turn has already failed and reports that
	found := t.steps.found[t.steps.attached:]
	if ctx.Err() != nil || !slices.ContainsFunc(found, func(f finding) bool {
		return f.Status == agent.Done &&
			!f.Result.Nothing
	}) {
		return
	}
	t.numberAll()
	t.answer.passageList = t.passages(found, passages.ModelFailed)
	if t.saved.longer(t.events.Text()) != "" {
		t.answer.passageList = passages.BreaksOff + t.answer.passageList
		for i := range t.answer.listed {
			t.answer.listed[i].At += len(passages.BreaksOff)
		}
	}
	t.events.Lead = ""
	t.events.Say(t.answer.passageList)
}
