package llmtest

import (
	"fmt"
	"strings"

	"lifehub/llm/llmtest/tinygguf"
)

// Replies of the model returned by [Minds], apart from its plans and tool calls.
const (
	MindsThought = "Notes first, and the web beside them."
	MindsAnswer  = "You run three times a week [1]. The web says: drink early, and run the long run slowly. Start a " +
		"race slower than you feel, " +
		"wear nothing new on the day, and keep easy days easy, for marathon training is won on them: that much both " +
		"pages agree upon without any doubt."
	MindsTalk = "Good morning! Shall we look something up?"
)

// mind is a reply to one kind of prompt, identified by the start of its system
// prompt and by whether it already contains tool results.
type mind struct {
	asks     string
	answered bool
	says     string
}

// pieces splits the reply. Think tags stay separate pieces, as the server
// expects.
func (m mind) pieces(taken map[string]bool) (pieces []string) {
	text := m.says
	if thought, rest, found := strings.Cut(text, "</think>"); found {
		pieces = append(pieces, "<think>")
		pieces = append(pieces, tinygguf.Cut(strings.TrimPrefix(thought, "<think>"), taken)...)
		pieces, text = append(pieces, "</think>"), rest
	}
	return append(pieces, tinygguf.Cut(text, taken)...)
}

// asksLength is the number of bytes of a system prompt that identify its kind.
const asksLength = 39

// called formats a tool call as the template's models write it. The call marker
// is part of a longer piece, because a marker may be a separate piece only once
// per model.
func called(name, args string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, args)
}

var minds = []mind{
	{
		"You answer the user's last message. The", false,
		"<think>" + MindsThought + "</think>\n\n" + called("search_notes", `{"query": "running"}`) + "\n" +
			called("brave_web_search", `{"query": "marathon training tips"}`),
	},
	{"You answer the user's last message. The", true, MindsAnswer},
	{
		"You lead a team that works for the user", false,
		called("delegate", `{"worker_type": "notes", "task_description": "What do the notes say about running?", `+
			`"success_criteria": "It names how often."}`) + "\n" +
			called("delegate", `{"worker_type": "search", "task_description": "Find marathon training tips.", `+
				`"success_criteria": "It names a tip."}`),
	},
	{"You lead a team that works for the user", true, "From the team: you run three times a week [1]; the web " +
		"advises to drink early."},
	{"You are a member of a team. You work wi", false, called("search_notes", `{"query": "how often running"}`)},
	{"You are a member of a team. You work wi", true, "Report of notes: three times, by running.md."},
	{"You are a member of a team. You search ", false, called("brave_web_search",
		`{"query": "tips of marathon training"}`)},
	{"You are a member of a team. You search ", true, "Report of pages: drink early, by runs.example."},
	{"You judge whether a worker's report doe", false, `{"passed": true, "score": 0.9, "feedback": "Each claim rests ` +
		`on a call."}`},
	{"You plan the calls that the user's mess", false, ScriptedPlan},
}

// Minds returns a chat model that can think and use tools, and that plays the
// planner, the loop and each team member depending on the prompt. It thinks in
// the first round of the loop. To any other prompt it replies MindsTalk.
func Minds(name string) Model {
	taken := map[string]bool{}
	list := []tinygguf.Script{{Pieces: tinygguf.Cut(MindsTalk, taken)}}
	var choose strings.Builder
	for i, m := range minds {
		marker := fmt.Sprintf("<|mind%02d|>", i)
		list = append(list, tinygguf.Script{Marker: marker, Pieces: m.pieces(taken)})
		word := "else if"
		if i == 0 {
			word = "if"
		}
		condition := "not $answered"
		if m.answered {
			condition = "$answered"
		}
		fmt.Fprintf(&choose, "\n{{- %s and (eq $who %q) (%s) }}%s", word, m.asks, condition, marker)
	}
	return Model{
		Name: name, Parameters: map[string]any{"temperature": 0}, GGUF: tinygguf.Scripted(name, list, 16<<10),
		Template: fmt.Sprintf(mindsTemplate, asksLength, asksLength, choose.String()),
	}
}

// mindsTemplate takes asksLength twice, and the choice of the reply. Like
// planTemplate, it omits the content of messages.
const mindsTemplate = findRole + `{{- $answered := false }}{{- $who := "" }}
{{- if .Tools }}[tools]{{ end }}
{{- range $i, $_ := .Messages }}[{{ .Role }}]
{{- if .Thinking }}<think></think>{{ end }}{{ if .Content }}{{ end }}
{{- if .ToolCalls }}{{ range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}
{{- if eq .Role "tool" }}{{ $answered = true }}{{ end }}
{{- end }}
{{- if ge (len $role) %d }}{{ $who = slice $role 0 %d }}{{ end }}%s
{{- end }}`
