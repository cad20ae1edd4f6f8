package llmtest

import (
	"fmt"
	"strings"

	"lifehub/llm/llmtest/tinygguf"
)

// Model describes a model to create on an Ollama server.
type Model struct {
	Name       string
	GGUF       []byte
	Template   string
	Parameters map[string]any
}

// Replies of the scripted models, for tests to compare with.
const (
	ScriptedAnswer = "This is a fixed answer from the scripted model. It has two sentences."
	ThinkingText   = "Let me think about it first."
	ThinkingAnswer = "The answer after thinking."
	ScriptedPlan   = `{"steps": [{"tool": "search_notes", "input": {"query": "running"}}, {"tool": "list_tasks",` +
		` "input": {"status": "open"}}]}`
	ScriptedExplanation = "Your notes speak of running [1]. The list above shows your open tasks."
)

// LoopMarker at the end of a message makes scripted and scripted-think answer
// without end.
const LoopMarker = "<|loop|>"

// Models returns the tiny models that StartOllama creates:
//
//   - scripted says ScriptedAnswer; if given tools, it calls search_notes with
//     {"query":"garden","limit":3}, and answers after the tool's reply
//   - scripted-think can think: ThinkingText, then ThinkingAnswer
//   - scripted-plan answers a planner ("You plan …") with ScriptedPlan, an
//     explainer ("You answer …") with ScriptedExplanation
//   - scripted-endless plans like scripted-plan and explains without end
//   - tiny-random produces random text, but follows a schema
//   - tiny-bow embeds: 256 dimensions, with synonyms close to each other
//
// After LoopMarker, scripted and scripted-think answer without end; the planning
// models ignore the content of messages.
func Models() []Model {
	return []Model{
		{
			Name: "scripted", Template: chatTemplate, Parameters: map[string]any{"temperature": 0},
			GGUF: tinygguf.Scripted("scripted", scripts(map[string]string{
				"":         ScriptedAnswer,
				toolMarker: scriptedCall,
			}), 4096),
		},
		{
			Name: "scripted-think", Template: thinkTemplate, Parameters: map[string]any{"temperature": 0},
			GGUF: tinygguf.Scripted("scripted-think", scripts(map[string]string{
				"":          ScriptedAnswer,
				thinkMarker: "<think>" + ThinkingText + "</think>\n\n" + ThinkingAnswer,
			}), 4096),
		},
		Planner("scripted-plan", ScriptedPlan, ScriptedExplanation),
		Planner("scripted-endless", ScriptedPlan, ""),
		{
			Name: "tiny-random", Template: plainTemplate, Parameters: map[string]any{"stop": []string{"<|im_end|>"}},
			GGUF: tinygguf.Random(1),
		},
		Embedding("tiny-bow"),
	}
}

// Planner returns a chat model that replies to planners with plan, to explainers
// with answer (empty: without end), and to anything else with ScriptedAnswer. It
// can use tools.
func Planner(name, plan, answer string) Model {
	replies := map[string]string{"": ScriptedAnswer, planMarker: plan}
	if answer != "" {
		replies[explainMarker] = answer
	}
	list := scripts(replies)
	if answer == "" {
		list[len(list)-1].Marker = explainMarker // the loop
	}
	return Model{
		Name: name, Template: planTemplate, Parameters: map[string]any{"temperature": 0},
		GGUF: tinygguf.Scripted(name, list, 16<<10),
	}
}

// Reading returns a copy of m whose template includes the content of all
// messages, so that the server counts whole prompts. It is slow: each character
// is a token.
func Reading(m Model) Model {
	m.Template = strings.Replace(m.Template, unread, "{{ .Content }}", 1)
	return m
}

// Embedding returns tiny-bow under another name.
func Embedding(name string) Model {
	return Model{Name: name, GGUF: tinygguf.BagOfWords(Synonyms, 256, 512)}
}

// Synonyms lists the words that tiny-bow knows. Words on the same line are
// synonyms.
var Synonyms = []string{
	"car automobile vehicle cars", "garden gardening yard", "tomato tomatoes vegetable",
	"plant plants planting seedling",
	"meeting appointment meetings", "run running jog jogging marathon", "bread baking sourdough loaf",
	"trip travel journey lisbon",
	"book reading novel books", "task tasks todo chores", "money budget tax taxes", "doctor dentist health",
}

// Markers that the templates write at the end of a prompt.
const (
	toolMarker    = "<|tool|>"
	thinkMarker   = "<|think|>"
	planMarker    = "<|plan|>"
	explainMarker = "<|explain|>"
	scriptedCall  = "<tool_call>\n" + `{"name": "search_notes", "arguments": {"query": "garden", "limit": 3}}` +
		"\n</tool_call>"
)

// scripts returns one script per marker for a model, with the endless script
// last.
func scripts(replies map[string]string) []tinygguf.Script {
	taken := map[string]bool{}
	var list []tinygguf.Script
	for _, marker := range []string{"", toolMarker, thinkMarker, planMarker, explainMarker} {
		if text, ok := replies[marker]; ok {
			list = append(list, tinygguf.Script{Marker: marker, Pieces: cut(text, taken)})
		}
	}
	return append(list, tinygguf.Script{Marker: LoopMarker, Pieces: song(), Loop: true})
}

// song returns the text of an endless answer. It is long enough not to be
// detected as repetition.
func song() []string {
	pieces := []string{"la ", "lala ", "lalala ", "tralala "}
	for verse := range 60 {
		pieces = append(pieces, fmt.Sprintf("and a-%dth verse, ", verse+10))
	}
	return pieces
}

// cut splits a text into pieces. Tags that the server looks for become separate
// pieces.
func cut(text string, taken map[string]bool) (pieces []string) {
	for _, tag := range []string{"<think>", "</think>", "<tool_call>", "</tool_call>"} {
		if before, after, found := strings.Cut(text, tag); found {
			if before != "" {
				pieces = append(pieces, tinygguf.Cut(before, taken)...)
			}
			pieces = append(pieces, tag)
			text = after
		}
	}
	if text != "" {
		pieces = append(pieces, tinygguf.Cut(text, taken)...)
	}
	return pieces
}

// Templates. {{ .Tools }} declares that a model can use tools, think tags that it
// can think.
const (
	plainTemplate = `{{- range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
`
	messagesTemplate = `{{- if .System }}[sys]{{ .System }}
{{ end }}{{- if .Tools }}[tools]{{ range .Tools }}{{ . }}
{{ end }}{{ end }}
{{- range $i, $_ := .Messages }}
{{- $last := eq (len (slice $.Messages $i)) 1 }}
{{- if eq .Role "user" }}[user]{{ .Content }}
{{- else if eq .Role "assistant" }}[assistant]{{ .Content }}
{{- if .ToolCalls }}{{ range .ToolCalls }}<tool_call>
{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}
</tool_call>{{ end }}{{ end }}
{{- else if eq .Role "tool" }}[tool]{{ .Content }}
{{- end }}`
	chatTemplate = messagesTemplate + `
{{- if and $last (eq .Role "user") $.Tools }}` + toolMarker + `{{ end }}
{{- end }}`
	unread = `{{ if .Content }}{{ end }}`
	// findRole makes $role what a prompt says of the role: the paragraph of the system
	// prompt that begins with "You", or all of it; "You answer" where a message of the
	// user asks for the answer.
	findRole = `{{- $role := .System }}
{{- range $i := len .System }}
{{- $rest := slice $.System $i }}
{{- if and (ge (len $rest) 6) (eq (slice $rest 0 6) "\n\nYou ") }}{{ $role = slice $rest 2 }}{{ end }}
{{- end }}
{{- range .Messages }}{{ if eq .Role "user" }}{{ $text := .Content }}
{{- range $i := len $text }}
{{- $rest := slice $text $i }}
{{- if and (ge (len $rest) 21) (eq (slice $rest 0 21) "\n\nAnswer this message") }}{{ $role = "You answer" }}{{ end }}
{{- end }}{{ end }}{{ end }}`
	// planTemplate omits the content of messages: the model ignores it, and
	// processing a planner's prompt of 8 KB at one character per token takes 17
	// s.
	planTemplate = findRole + `{{- if .Tools }}[tools]{{ end }}
{{- range .Messages }}[{{ .Role }}]` + unread + `{{ end }}
{{- if and (ge (len $role) 10) (eq (slice $role 0 8) "You plan") }}` + planMarker + `
{{- else if and (ge (len $role) 10) (eq (slice $role 0 10) "You answer") }}` + explainMarker + `
{{- end }}`
	thinkTemplate = `{{- range $i, $_ := .Messages }}
{{- $last := eq (len (slice $.Messages $i)) 1 }}
{{- if eq .Role "user" }}[user]{{ .Content }}
{{- else if eq .Role "assistant" }}[assistant]{{ if .Thinking }}<think>{{ .Thinking }}</think>{{ end }}{{ .Content }}
{{- end }}
{{- if and $last $.Think }}` + thinkMarker + `{{ end }}
{{- end }}`
)
