package memory

import (
	"fmt"
	"testing"

	"lifehub/agent"
	"lifehub/agent/prompt"
)

func TestFactsAreRankedByFitThenAge(t *testing.T) {
	var file []agent.Fact
	for i := range 200 {
		file = append(file, agent.Fact{Text: fmt.Sprintf("Fact number %d is about something else entirely, and long",
			i)})
	}
	file[7].Text = "My cat is called Whiskers"
	chosen, err := ChooseFacts(t.Context(), "What is the cat called?", file)
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	has := map[string]bool{}
	for _, f := range chosen {
		size += prompt.Tokens(FactLine(f, 0))
		has[f.Text] = true
	}
	if size > FactTokens || len(chosen) < 20 || !has[file[7].Text] || !has[file[199].Text] || has[file[0].Text] {
		t.Errorf("%d facts of %d tokens: %v", len(chosen), size, has)
	}
}
