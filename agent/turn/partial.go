package turn

import (
	"context"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// quoteFound says what the steps found where the model that should have
// answered from it failed: the offline provider quotes it.
func (t *turn) quoteFound(ctx context.Context) {
	var err error
	defer agent.Catch(&err) // the turn has failed already, and says so
	found := t.found[t.attached:]
	if ctx.Err() != nil || !slices.ContainsFunc(found, func(f finding) bool { return f.status == agent.Done && !f.result.Nothing }) {
		return
	}
	t.number(t.found)
	t.citeFacts()
	task := t.explainerPrompt().Request.Task
	task.Fallback, task.Results = true, task.Results[t.attached:]
	quoted, _, _ := llm.Collect(llm.NewOffline().Stream(ctx, llm.Request{Task: task}))
	if quoted.Text == "" || strings.Contains(t.saved.text, quoted.Text) { // it failed before, and is kept
		return
	}
	t.gap, t.quoted = "", quoted.Text
	if t.saved.longer(t.answer.String()) != "" {
		t.quoted = "\n\n(The answer breaks off here.)\n\n" + quoted.Text
	}
	t.say(t.quoted)
}

// setback is an error of the model that a turn went on after, and what the
// turn had to do without.
type setback struct {
	err  error
	lost []string
}

// survived notes that the turn goes on after an error of the model, without
// something. The user learns of it at the end, once.
func (t *turn) survived(lost string, err error) {
	t.counting.Lock()
	defer t.counting.Unlock()
	for i, s := range t.setbacks {
		if s.err.Error() == err.Error() {
			t.setbacks[i].lost = append(s.lost, lost)
			return
		}
	}
	t.setbacks = append(t.setbacks, setback{err, []string{lost}})
}

// tellSetbacks reports each error that the turn went on after, except the one
// that ends it.
func (t *turn) tellSetbacks(failure error) {
	for _, s := range t.setbacks {
		if failure == nil || failure.Error() != s.err.Error() {
			t.emit(agent.Noticed{Text: text.AsSentence(strings.Join(s.lost, "; ") + ": " + text.OneLine(text.Clip(s.err.Error(), 500)))})
		}
	}
}
