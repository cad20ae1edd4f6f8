package turn

import (
	"testing"

	"lifehub/agent"
	"lifehub/llm"
)

func TestKindsOfMessagesAreRecognised(t *testing.T) {
	for message, want := range map[string]bool{
		"Hello!":               true,
		"Thanks, that helped!": true,
		"Guten Morgen":         true,
		"make it shorter":      true,
		"How are you?":         true, // none of its words has content
		"Why?":                 true,
		"你好！":                  true,
		"Translate into German: The boiler needs a service every year.":      true,
		"Wie sagt man “The boiler needs a service every year” auf Deutsch?":  true,
		"Shorten this for me, will you please?\nThe boiler needs a service.": true,

		"How often do I run?":                                   false,
		"Which pressure should my boiler have?":                 false,
		"When is Easter?":                                       false,
		"Tell me about the plan for the half marathon":          false,
		"What do my notes say about: boiler":                    false,
		"Remind me at 10:30 of the call with my physio, please": false,
		"我的锅炉的压力应该是多少？":                                         false,
		"Who said “never again” in my diary, and when was it?":  false,
	} {
		if got := needsNoNotes(message); got != want {
			t.Errorf("%q needs no notes: %t", message, got)
		}
	}
}

func TestAnswerMayRestOnTheLastOne(t *testing.T) {
	const last = "You run three times a week: Tuesday, Thursday and Sunday. The long run grows by 10 % each week."
	for answer, want := range map[string]bool{
		"Three runs a week: Tuesday, Thursday, Sunday.": true,
		"Tuesday.":                              true,
		"The boiler was serviced by Mr Okafor.": false,
		"Your boiler should have 1.5 bar when it is cold, as the manual says on Tuesday.": false,
		"": false,
	} {
		if got := restsOn(answer, last); got != want {
			t.Errorf("%q: %t", answer, got)
		}
	}
	if restsOn("Tuesday.", "") {
		t.Error("it rests on no answer")
	}
}

func TestCounterQuestionClaimsNothing(t *testing.T) {
	for answer, want := range map[string]bool{
		"Which one do you mean?":             true,
		"Which one? The boiler or the shed?": true,
		"どれのことですか？":                          true,
		"هل تقصد الاجتماع؟":                  true,
		"It is 1.5 bar. Anything else?":      false,
		"It is 1.5 bar.":                     false,
		"":                                   false,
	} {
		if got := onlyAsks(answer); got != want {
			t.Errorf("%q only asks: %t", answer, got)
		}
	}
}

func TestSumIsNotFromMemory(t *testing.T) {
	for _, c := range []struct {
		answer, result, question string
		want                     bool
	}{
		{"That is 19.", "15% of 80 + 7 = 19", "How much is 15 % of 80, plus 7?", true},
		{"Es ist Mittwoch, der 25.", "Wednesday, 25 November 2026", "Welcher Tag ist heute?", true},
		{"Your boiler should have 1.5 bar.", "Wednesday, 25 November 2026", "Which pressure should my boiler have?", false},
		{"I do not know.", "15% of 80 + 7 = 19", "How much is 15 % of 80, plus 7?", false},
	} {
		if got := hasNewWord(c.answer, c.result, c.question); got != c.want {
			t.Errorf("%q after %q: %t", c.answer, c.result, got)
		}
	}
}

func TestAnswerMayRestOnAnExchange(t *testing.T) {
	const told = "You wanted to call Pucher about the pressure; I answered that it is done, in the garden list, on Saturday."
	history := []llm.Message{{Role: llm.User, Text: "Call Pucher about the pressure"}, {Role: llm.Assistant, Text: "Done: garden list, Saturday."}}
	notes := search()
	a := New(Options{Model: &script{lines: []line{say(told)}}, History: &shelf{messages: history}, Tools: tools(notes), Session: inMode(agent.LoopMode)})
	if end := ended(t, collect(a.Ask(t.Context(), "c1", "What did I want first, and what did you do?"), nil)); end.Answer != told || end.Effects.String() != "changed nothing" {
		t.Errorf("answer %q, effects %q", end.Answer, end.Effects)
	}
}
