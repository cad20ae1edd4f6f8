package turn

import (
	"errors"
	"strings"
	"testing"

	"lifehub/agent"
)

// A plan in place of the answer is requested again once, and never shown.
func TestPlanIsNeverShownAsAnswer(t *testing.T) {
	t.Parallel()
	const planned = `{"reasoning":"look again","steps":[{"id":"1","tool":"search_notes","input":{"query":"run"}}]}`
	for name, c := range map[string]struct {
		answers []string
		said    string
		fails   bool
	}{
		"once":        {[]string{planned, "Three times a week."}, "Three times a week.", false},
		"twice":       {[]string{planned, "```json\n" + planned + "\n```"}, "", true},
		"after prose": {[]string{"Let me see.\n" + planned}, "Let me see.\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []line{searchLine()}
			for _, answer := range c.answers {
				lines = append(lines, say(answer))
			}
			events := collect(New(Options{Model: &script{lines: lines}, History: &shelf{}, Tools: tools(search())}).Ask(t.Context(), "c1", "How often do I run?"), nil)
			var shown strings.Builder
			for _, piece := range bodies[agent.Said](events) {
				shown.WriteString(piece.Content)
			}
			if strings.Contains(shown.String(), "reasoning") || !strings.HasPrefix(shown.String(), c.said) {
				t.Errorf("said %q, want %q", shown.String(), c.said)
			}
			failed := bodies[agent.Failed](events)
			if (len(failed) == 1) != c.fails || c.fails && !errors.Is(failed[0].Err, agent.ErrPlanned) {
				t.Errorf("failed: %+v", failed)
			}
		})
	}
}
