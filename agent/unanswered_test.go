package agent

import (
	"strings"
	"testing"

	"lifehub/llm"
)

// doubtful is a search that found what hardly answers.
func doubtful() *fakeTool {
	return &fakeTool{name: "search_notes", result: Result{Text: fitness.Text, Sources: []Source{fitness, tea}, Searched: true, Unlikely: true}}
}

const near = " Nearest: `fitness.md:12 Running › Plan`, `kitchen/tea.md:1 Tea`."

func TestWhatTheNotesDoNotHoldIsSaidFirst(t *testing.T) {
	both := say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2","tool":"brave_web_search","input":{"query":"a"}}]}`)
	tests := map[string]struct {
		message string
		tools   []Tool
		plan    line
		says    string
		want    string // the answer
		holds   bool   // the notes hold it
	}{
		"a search that doubts, a model that answers anyway": {"Who am I?", []Tool{doubtful()}, searchLine(), "You are Ana [1].", "Your notes don't say." + near + "\n\nYou are Ana [1].", false},
		"a search that doubts, a model that says so too":    {"Who am I?", []Tool{doubtful()}, searchLine(), "Your notes don’t say who you are. They tell of running [1].", "Your notes don't say who you are." + near + " They tell of running [1].", false},
		"the mark of the model":                             {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "NOT_IN_NOTES\nThey tell of running [1].", "Your notes don't say." + near + "\n\nThey tell of running [1].", false},
		"the mark in bold":                                  {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), " **NOT_IN_NOTES**. They tell of running [1].", "Your notes don't say." + near + "\n\nThey tell of running [1].", false},
		"the mark in the middle":                            {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "You run [1]. **NOT_IN_NOTES** Your name is not told.", "You run [1].  Your name is not told.", true},
		"the mark at the end":                               {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "You run [1].\nNOT_IN_NOTES", "You run [1].\n", true},
		"what only begins like the mark":                    {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "You run [1], so it is NOT_IN", "You run [1], so it is NOT_IN", true},
		"the mark twice":                                    {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "NOT_IN_NOTES\nYou run [1]. NOT_IN_NOTES.", "Your notes don't say." + near + "\n\nYou run [1]. ", false},
		"English words about a Chinese question":            {"我的名字是什么？", []Tool{doubtful()}, searchLine(), "Your notes don't say that.\n\n你跑步[1]。", "你的笔记里没有提到。 最接近的：" + strings.TrimPrefix(near, " Nearest:") + "\n\n你跑步[1]。", false},
		"English words that say more":                       {"Wer bin ich und was mache ich?", []Tool{doubtful()}, searchLine(), "Your notes don't say who, but you run [1]. Ja.", "Das steht nicht in deinen Notizen. Am nächsten kommt:" + strings.TrimPrefix(near, " Nearest:") + "\n\nYour notes don't say who, but you run [1]. Ja.", false},
		"nothing but the mark":                              {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "NOT_IN_NOTES", "Your notes don't say." + near, false},
		"the model's own words":                             {"Who am I?", []Tool{found(fitness, tea)}, searchLine(), "The notes do not mention a name. Sorry.", "Your notes don't say." + near + "\n\nThe notes do not mention a name. Sorry.", false},
		"a German question":                                 {"Wer bin ich und was mache ich?", []Tool{doubtful()}, searchLine(), "Du läufst [1].", "Das steht nicht in deinen Notizen. Am nächsten kommt:" + strings.TrimPrefix(near, " Nearest:") + "\n\nDu läufst [1].", false},
		"a Chinese question":                                {"我的名字是什么？", []Tool{doubtful()}, searchLine(), "你跑步[1]。", "你的笔记里没有提到。 最接近的：" + strings.TrimPrefix(near, " Nearest:") + "\n\n你跑步[1]。", false},
		"nothing found":                                     {"Who am I?", []Tool{&fakeTool{name: "search_notes", result: Result{Searched: true, Nothing: true}}}, searchLine(), "I cannot tell.", "Your notes don't say.\n\nI cannot tell.", false},

		"a model that answers":             {"Who am I?", []Tool{found(fitness)}, searchLine(), "You run [1].", "You run [1].", true},
		"a model that begins alike":        {"Who am I?", []Tool{found(fitness)}, searchLine(), "Your notes do say it [1].", "Your notes do say it [1].", true},
		"a short answer that begins alike": {"Who am I?", []Tool{found(fitness)}, searchLine(), "Not", "Not", true},
		"another tool brought the answer":  {"Who am I?", []Tool{doubtful(), web()}, both, "The web says Ana.", "The web says Ana.", true},
		"no search at all":                 {"Who am I?", []Tool{web()}, say(`{"steps":[{"id":"1","tool":"brave_web_search","input":{"query":"a"}}]}`), "The web says Ana.", "The web says Ana.", true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			model := &script{lines: []line{tc.plan, say(tc.says)}}
			events := collect(New(Options{Model: model, History: &shelf{}, Tools: tools(tc.tools...)}).Ask(t.Context(), "c1", tc.message), nil)
			end := ended(t, events)
			if end.Answer != tc.want || end.Unanswered == tc.holds {
				t.Errorf("unanswered %v, answer\n%s\nwant\n%s", end.Unanswered, end.Answer, tc.want)
			}
			var said strings.Builder
			for _, piece := range bodies[Said](events) {
				said.WriteString(piece.Content)
			}
			if said.String() != end.Answer {
				t.Errorf("streamed %q", said.String())
			}
			if begun := "already begins with"; strings.Contains(model.requests[1].Messages[1].Text, begun) != model.requests[1].Task.Unlikely {
				t.Errorf("the prompt: %s", model.requests[1].Messages[1].Text)
			}
		})
	}
}

func found(sources ...Source) *fakeTool {
	return &fakeTool{name: "search_notes", result: Result{Text: "found", Sources: sources, Searched: true}}
}

// Of several searches the best counts.
func TestOneGoodSearchIsEnough(t *testing.T) {
	model := &script{lines: []line{say(`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"a"}},{"id":"2","tool":"look","input":{"query":"b"}}]}`), say("You run [1].")}}
	good := found(fitness)
	good.name = "look"
	end := ended(t, collect(New(Options{Model: model, History: &shelf{}, Tools: tools(doubtful(), good)}).Ask(t.Context(), "c1", "Who am I?"), nil))
	if end.Unanswered || end.Answer != "You run [1]." {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestOfflineSaysFirstWhatTheNotesDoNotHold(t *testing.T) {
	closest := strings.Replace(near, "Nearest", "Closest notes", 1)
	agent := New(Options{Model: llm.NewOffline(), History: &shelf{}, Tools: tools(doubtful())})
	end := ended(t, collect(agent.Ask(t.Context(), "c1", "When do I rest from the violin?"), nil))
	if !strings.HasPrefix(end.Answer, "No exact match."+closest+"\n\n“") || !end.Unanswered {
		t.Errorf("answer %q", end.Answer)
	}
	end = ended(t, collect(agent.Ask(t.Context(), "c1", "Who painted the ceiling?"), nil))
	if !strings.HasPrefix(end.Answer, "No exact match."+closest+"\n\nWithout a model ") || !end.Unanswered {
		t.Errorf("answer %q", end.Answer)
	}
}

func TestTheLanguageOfAQuestionIsGuessed(t *testing.T) {
	for question, want := range map[string]string{
		"When is the boiler serviced?": "", "boiler": "", "": "", "Wann wird der Kessel gewartet?": "de",
		"Quand est-ce que la chaudière est révisée ?": "fr", "¿Cuándo se revisa la caldera?": "es", "Quando è la revisione della caldaia?": "it",
		"Quando é a revisão da minha caldeira e por quem?": "pt", "Wanneer is het onderhoud van mijn ketel?": "nl",
		"锅炉什么时候保养？": "zh", "ボイラーの点検はいつですか": "ja", "Когда осмотр котла?": "ru", "How did I die in the game?": "",
	} {
		if got := languageOf(question); got != want {
			t.Errorf("%q is taken for %q, not %q", question, got, want)
		}
	}
}

func TestHealthTellsOnlyWhatIsWorthSaying(t *testing.T) {
	for want, c := range map[string]Coverage{
		"searched 1,284 notes": {Indexed: 1284, Total: 1284, Age: 30, Embedder: "nomic"}, "searched 1 note": {Indexed: 1, Total: 1},
		"searched 900 of 1,284 notes": {Indexed: 900, Total: 1284}, "searched 3 notes · as they were 3 h ago": {Indexed: 3, Total: 3, Age: 3 * 3600},
		"searched 3 notes · words only: the embedder is down": {Indexed: 3, Total: 3, Embedder: "words only: the embedder is down"},
	} {
		if got := c.Health(); got != want {
			t.Errorf("%+v is told as %q, not %q", c, got, want)
		}
	}
}
