package offline

import (
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// plan is the planner's JSON, with fields in the order of its prompt.
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

// makePlan turns a message into a plan and returns it as JSON.
func makePlan(task *llm.Task) string {
	p := planFor(task)
	if p.Steps == nil {
		p.Steps = []step{}
	}
	text, err := json.Marshal(p)
	if err != nil { // maps of strings always encode
		return `{"reasoning":"","steps":[]}`
	}
	return string(text)
}

// help summarises what works without a model.
const help = "No model is connected, but I can search your notes and list your tasks: ask in your own words, " +
	"or type `what is due` or `last week`. `/help models` has more."

// Certain returns the call that a message asks for by a rule, for which no model is needed: a tool by its name, or
// nothing but a list of tasks. It reports false for any other message.
func Certain(task llm.Task) (call *llm.ToolCall, ok bool) {
	p, ok := ruled(strings.TrimSpace(task.Question), &task)
	if !ok || len(p.Steps) == 0 {
		return nil, false
	}
	input, err := json.Marshal(p.Steps[0].Input)
	return &llm.ToolCall{Name: p.Steps[0].Tool, Args: input}, err == nil
}

// ruled plans what a message asks for in so many words: a tool by its name, or nothing but a list of tasks. It
// has one line, so that no line of a longer text is executed.
func ruled(message string, task *llm.Task) (plan, bool) {
	if strings.ContainsAny(message, "\r\n") {
		return plan{}, false
	}
	if o, ok := OfferFor(message, when.DayOf(task.Today)); ok && o.asks && toolAt(task.Tools, "list_tasks") >= 0 {
		return oneStep("list_tasks", o.input(), "your tasks"), true
	}
	return namedTool(message, task)
}

// planFor plans by rules: a tool by its name and a list of tasks alone are executed, arithmetic and the date are
// worked out, and anything else is a search, after the list of tasks that it names.
func planFor(task *llm.Task) plan {
	if task.Replan {
		return plan{Reasoning: "No rule applies."}
	}
	message := strings.TrimSpace(task.Question)
	if task.Today.IsZero() {
		task.Today = time.Now()
	}
	if p, ok := ruled(message, task); ok {
		return p
	}
	if p, ok := workedOut(message, task); ok {
		return p
	}
	i := toolAt(task.Tools, "search_notes")
	switch {
	case !hasWords(message), len(task.History) == 0 && saysNothing(message) && !strings.ContainsAny(message, `"“„«「『`):
		return plan{Reasoning: "There is nothing to look for.", Answer: help}
	case i < 0:
		return plan{Reasoning: "There are no notes to search.", Answer: cmp.Or(task.Recalled, noNotes)}
	}
	p := oneStep("search_notes", searchFor(message, task, shapeOf(task.Tools[i])), "search your notes")
	if o, ok := OfferFor(message, when.DayOf(task.Today)); ok && o.status != "" &&
		toolAt(task.Tools, "list_tasks") >= 0 {
		list := oneStep("list_tasks", o.input(), "your tasks").Steps[0]
		p.Steps[0].ID = "2"
		p.Steps = []step{list, p.Steps[0]}
	}
	return p
}

// searchFor returns the arguments of the search for a message.
func searchFor(message string, task *llm.Task, takes toolShape) map[string]any {
	words, instead := query(text.Cut(message, maxRead), task.History, when.DayOf(task.Today))
	args := map[string]any{"query": words}
	if !instead.From.IsZero() {
		args["after"] = instead.From.String()
	}
	if !instead.To.IsZero() {
		args["before"] = instead.To.String()
	}
	if _, limited := takes.Properties["limit"]; limited && asksForTime(words, when.DayOf(task.Today)) {
		args["limit"] = mostOfTime
	}
	return args
}

// workedOut plans arithmetic, and a question for the date.
func workedOut(message string, task *llm.Task) (plan, bool) {
	if strings.ContainsAny(message, "\r\n") {
		return plan{}, false
	}
	sum := strings.TrimRight(strings.TrimLeftFunc(message, func(r rune) bool {
		return !unicode.IsDigit(r) &&
			!strings.ContainsRune("(-+", r)
	}), " .?!=")
	if arithmetic.MatchString(sum) && toolAt(task.Tools, "calculate") >= 0 &&
		saysNothing(strings.TrimSuffix(message[:strings.Index(message, sum)], " ")) {
		return oneStep("calculate", map[string]any{"expression": sum}, message), true
	}
	for word := range words(message) {
		if !ofDate[word] && !nowWords[word] && !isStopWord(word) {
			return plan{}, false
		}
	}
	_, rest := when.In(message, when.DayOf(task.Today))
	asksForDate := false // what week is it, but not what must I do this week: that asks for what is in it
	for word := range words(rest) {
		asksForDate = asksForDate || ofDate[word]
	}
	if !asksForDate || toolAt(task.Tools, "today") < 0 || !isQuestion(message) {
		return plan{}, false
	}
	return oneStep("today", map[string]any{}, message), true
}

var (
	// arithmetic matches an expression of figures with an operator; a hyphen or slash between figures may be
	// that of a date.
	arithmetic = regexp.MustCompile(`^[\d(+-](?:[\d\s.,()]|[+*×÷^%]| [-/] |\bof\b)*[\d)%]$`)
	ofDate     = wordSet("date day weekday week time datum tag wochentag woche uhrzeit spät jour heure fecha día hora")
	nowWords   = wordSet("today heute aujourd hui hoy")
)

// isQuestion reports whether a message ends as a question, or is a word or two.
func isQuestion(message string) bool {
	return strings.HasSuffix(message, "?") || strings.HasSuffix(message, "？") || len(strings.Fields(message)) <= 2
}

// input returns the arguments of list_tasks.
func (o Offer) input() map[string]any {
	args := map[string]any{"status": o.status}
	if o.query != "" {
		args["query"] = o.query
	}
	return args
}

const noNotes = "No model is connected, and there are no notes to search. `/help models` says how to connect one."

const (
	maxRead    = 64 << 10 // bytes of a message that are read
	maxQuery   = 1 << 10  // bytes of the search query from a long message
	mostOfTime = 50       // passages to return for a period
)

// oneStep returns a plan with a single call.
func oneStep(tool string, args map[string]any, description string) plan {
	return plan{
		Reasoning: "Offline: planned by rules, without a model.",
		Steps: []step{{
			ID: "1", Tool: tool, Input: args,
			Description: text.Cut(text.OneLine(description), 120), After: []string{},
		}},
	}
}

// hasWords reports whether a text holds a letter or a digit.
func hasWords(s string) bool {
	for range text.Words(s) {
		return true
	}
	return false
}
