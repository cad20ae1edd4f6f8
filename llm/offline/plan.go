package offline

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"lifehub/internal/pattern"
	"lifehub/internal/when"
	"lifehub/llm"
)

// plan is what the planner of a turn expects, in the order of its prompt.
type plan struct {
	Reasoning string `json:"reasoning"`
	Answer    string `json:"answer,omitempty"`
	Steps     []step `json:"steps"`
}

type step struct {
	ID          string         `json:"id"`
	Tool        string         `json:"tool"`
	Input       map[string]any `json:"input"`
	Description string         `json:"description"`
	After       []string       `json:"after"`
}

// maxQuery bounds the query that is made of a long message, in bytes.
const maxQuery = 1 << 10

// makePlan turns a message into a plan by five rules and returns it as JSON.
func makePlan(task *llm.Task) string {
	p := planFor(task)
	if p.Steps == nil {
		p.Steps = []step{}
	}
	text, err := json.Marshal(p)
	if err != nil { // maps of strings and JSON encode
		return `{"reasoning":"","steps":[]}`
	}
	return string(text)
}

// planFor plans by the five rules: "add task …" adds a task, "list tasks" lists
// the open ones, "@tool …" and "/tool …" call a tool, all else is a search. A
// command is the whole message and one line, so that no line of a longer text
// acts.
func planFor(task *llm.Task) plan {
	if len(task.Results) > 0 {
		return plan{Reasoning: "The rules know no other way."}
	}
	message := strings.TrimSpace(task.Question)
	if !strings.ContainsAny(message, "\r\n") {
		if p, ok := addTask(message, task); ok {
			return p
		}
		if listTasks.MatchString(oneLine(message)) && toolAt(task.Tools, "list_tasks") >= 0 {
			return oneStep("list_tasks", map[string]any{"status": "open"}, "your open tasks")
		}
		if p, ok := namedTool(message, task); ok {
			return p
		}
	}
	if !hasWords(message) {
		return plan{Reasoning: "There is nothing to look for.", Answer: onlyQuotes}
	}
	if toolAt(task.Tools, "search_notes") >= 0 {
		query, instead := inContext(message, task.History)
		args := map[string]any{"query": topic(clipBytes(query, maxQuery))}
		if !instead.From.IsZero() {
			args["after"] = instead.From.Format(time.DateOnly)
		}
		if !instead.To.IsZero() {
			args["before"] = instead.To.Format(time.DateOnly)
		}
		return oneStep("search_notes", args, "search your notes")
	}
	return plan{Reasoning: "There are no notes to search.", Answer: cmp.Or(recalled(contentQuery(task), append(said(task.History), task.Past...), 0), onlyQuotes)}
}

// listTasks matches "list tasks", "show my tasks", "what are my open tasks?".
var listTasks = pattern.Lazy(`(?i)^(?:list|show|show me|what are|my|open)(?: my| the| open)* (?:tasks|to-?dos)[?.!]*$`)

// oneStep is a plan of one call.
func oneStep(tool string, args map[string]any, description string) plan {
	return plan{
		Reasoning: "Offline: planned by rules, without a model.",
		Steps:     []step{{ID: "1", Tool: tool, Input: args, Description: clipBytes(oneLine(description), 120), After: []string{}}},
	}
}

// addTask reads "add task …": the rest is the task, word for word, apart from
// the day behind its last "due" where that is all that follows.
func addTask(message string, task *llm.Task) (plan, bool) {
	verb, rest, _ := strings.Cut(message, " ")
	noun, text, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if !strings.EqualFold(verb, "add") || !strings.EqualFold(strings.TrimSuffix(noun, ":"), "task") {
		return plan{}, false
	}
	i := toolAt(task.Tools, "add_task")
	switch text = strings.TrimSpace(text); {
	case i < 0:
		return plan{Reasoning: "No such tool.", Answer: "The tool `add_task` is not available, so no task was added."}, true
	case text == "":
		return plan{Reasoning: "An argument is missing.", Answer: "Which task? Write for example `add task buy milk`."}, true
	}
	args := map[string]any{"text": text}
	if at := strings.LastIndex(text, " due "); at >= 0 {
		day, rest := when.In(text[at+len(" due "):], time.Now())
		if !hasWords(rest) && day.To.Equal(day.From.AddDate(0, 0, 1)) && day.To.After(time.Now()) { // "Friday" may be the last one
			args["text"], args["due"] = strings.TrimRight(text[:at], " ,"), day.From.Format(time.DateOnly)
		}
	}
	return oneStep("add_task", args, message), true
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// clipBytes cuts a text to at most n bytes, at the end of a character.
func clipBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}
