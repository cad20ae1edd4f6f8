package turn

import (
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/prompt"
	"lifehub/internal/text"
	"lifehub/llm"
)

//go:embed prompts/small.md
var smallPrompt string

// actingNow returns the tools that a small model may call now. With the notes whole,
// or as long as all it has is what the first search found, it answers or acts:
// offered more to read, it reads. After a call that it made before, it answers.
func (l *agentLoop) actingNow(tools []agent.Tool) []agent.Tool {
	switch {
	case l.ends || l.repeated > 0:
		return nil
	case l.turn.answer.whole == 0 && (len(l.after) > 0 || !fits(l.found)):
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(t agent.Tool) bool {
		_, fetches := t.(agent.Fetcher)
		return agent.ReadOnly(t) && !fetches && !agent.IsOutward(t)
	})
}

// smallExamples show a small model its notation. They tell of a world that is in no
// note, so that an answer from them is seen to be none.
func smallExamples(guide agent.Guide) []llm.Message {
	list := []llm.Message{
		{Role: llm.User, Text: "The blue ferry leaves at 7:40.\n\nWhen does the ferry leave?"},
		{Role: llm.Assistant, Text: `{"tool":"answer","input":{"text":"The blue ferry leaves at 7:40."}}`},
	}
	for _, e := range guide.Examples {
		list = append(list, llm.Message{Role: llm.User, Text: e.Message},
			llm.Message{Role: llm.Assistant, Text: prompt.InNotation(e.Tool, json.RawMessage(e.Input))})
	}
	return append(list,
		llm.Message{Role: llm.User, Text: "When does the mill open?"},
		llm.Message{Role: llm.Assistant, Text: `{"tool":"answer","input":{"text":"That is not in your notes."}}`})
}

// inNotation returns the history as a model that writes its calls as JSON wrote it:
// each answer as a call, or the call that the turn made, if it changed something and
// made no other.
func (t *turn) inNotation() []llm.Message {
	list := slices.Clone(t.recalled.Seen)
	for i, e := range t.talk.path {
		var did []string
		for _, l := range e.Answer.Log {
			if name, input, called := strings.Cut(l.Action, "("); called && t.changes(name) &&
				json.Valid([]byte(strings.TrimSuffix(input, ")"))) {
				did = append(did, prompt.InNotation(name, json.RawMessage(strings.TrimSuffix(input, ")"))))
			}
		}
		if answer := &list[2*i+1]; len(did) == 1 {
			answer.Text = did[0]
		} else {
			answer.Text = prompt.InNotation(prompt.AnswerTool, map[string]string{"text": answer.Text})
		}
	}
	return list
}

// briefly fills tools into a prompt: the lines of the guide, and what the others say of
// themselves.
func briefly(into string, guide []agent.Brief, specs []llm.ToolSpec, fence, others string) string {
	var lines strings.Builder
	for _, b := range append(slices.Clip(guide), agent.Brief{Name: agent.FindTools, Args: "query", Use: "all else."}) {
		if i := slices.IndexFunc(specs, func(s llm.ToolSpec) bool { return s.Name == b.Name }); i >= 0 {
			specs = slices.Delete(slices.Clone(specs), i, i+1)
			lines.WriteString(b.String() + "\n")
		}
	}
	rest := strings.TrimSpace(prompt.Brief(specs, fence) + others)
	return strings.TrimSpace(strings.ReplaceAll(into, "{tools}", lines.String()+rest))
}

// repeatsExample reports whether a reply has a word of the examples that neither the
// user nor the notes have.
func (t *turn) repeatsExample(whole string) bool {
	known := t.typedText() + "\n" + textOf(t.answer.sources)
	for _, m := range t.recalled.History {
		known += "\n" + m.Text
	}
	words := append(t.agent.Guide.Words, exampleWords...)
	return hasWord(whole, words) && !hasWord(known, words)
}

var errExample = errors.New("it repeats an example; only the user's last message and the notes count")

// hasWord reports whether a text has one of some words, which are in lower case.
func hasWord(in string, words []string) bool {
	for w := range text.Words(in) {
		if slices.Contains(words, strings.ToLower(w.Text)) {
			return true
		}
	}
	return false
}

// exampleWords are the words by which smallExamples are known, besides those of the guide.
var exampleWords = []string{"ferry", "mill"}
