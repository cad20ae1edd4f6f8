package app

import (
	"strings"
	"testing"

	"lifehub/agent"
)

func TestSteeringIsQuotedBelowItsMessage(t *testing.T) {
	got := ConversationMarkdown(agent.Conversation{Title: "Runs"}, []agent.Exchange{{
		Question: agent.WithSteering("What did I run?", "Only this year.\nAnd no swims."),
		Answer:   agent.Answer{Text: "Three times."},
	}})
	if !strings.Contains(got, "\n\nWhat did I run?\n\n> Only this year.\n> And no swims.\n\n## LifeHub\n\nThree times.") {
		t.Errorf("got\n%s", got)
	}
}
