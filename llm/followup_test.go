package llm

import "testing"

// A message that only says how to answer, or points back, is searched for by
// what was asked before it; thanks and greetings in between are no topic.
func TestFollowUpsTakeTheirTopicAlong(t *testing.T) {
	history := []Message{
		{Role: User, Text: "who is Priya?"},
		{Role: Assistant, Text: "She writes the press note [1]."},
		{Role: User, Text: "in one sentence, please"},
		{Role: Assistant, Text: "She writes."},
		{Role: User, Text: "thanks"},
		{Role: Assistant, Text: "You're welcome."},
	}
	for question, want := range map[string]string{
		"what about her?": "Priya", "and the other one?": "Priya one", "and Omar?": "Priya Omar", "why?": "Priya", "und wann?": "Priya", "tell me more": "Priya",
		"in German please": "Priya", "auf Deutsch, bitte": "Priya", "shorter": "Priya", "translate it to French": "Priya", "as a list": "Priya", "explain that again": "Priya",
		"那她呢？": "Priya", "为什么？": "Priya", "用中文说": "Priya", "他的电话": "Priya 他的电话", "彼女はいつ来ますか": "Priya 彼女はいつ来ますか", "日本語でお願いします": "Priya",
		"German shepherd training": "German shepherd training", "a short story": "short story", "list": "list", "sentence structure": "sentence structure",
		"其他的书": "其他的书", "where are my winter tyres?": "winter tyres",
	} {
		if got := standAlone(question, question, history); got != want {
			t.Errorf("%q is searched for as %q, want %q", question, got, want)
		}
		if got := StandAlone(question, question, history); want == "Priya" && got != want {
			t.Errorf("%q, repeated by a model, is searched for as %q, want %q", question, got, want)
		}
	}
	if got := standAlone("in German please", "in German please", nil); got != "German" {
		t.Errorf("without a conversation it is searched for as %q", got)
	}
}
