package offline

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/llm"
)

// plan is the planner's JSON, with fields in the order of its prompt.
type plan struct {
	Reasoning string `json:"reasoning"`
	Answer    string `json:"answer,omitempty"`
	Steps     []step `json:"steps"`
	lacking   bool   // the answer says what is missing for a call
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
const help = "No model is connected, but I can search your notes and keep your tasks: `what is due`, `remind me to …`, `last week`. `/help models` has more."

// helpWithModel says what can be typed if a model is connected.
const helpWithModel = "I answer from your notes and change them when you say so: ask a question, or type `what is due`, `remind me to …`. `/help` has more."

// Certain returns what no model is needed for: the answer to small talk or to a
// question about the conversation, or the call that the whole message asks for by
// a rule. It reports false for any other message.
func Certain(task llm.Task) (answer string, call *llm.ToolCall, ok bool) {
	message := strings.TrimSpace(task.Question)
	p, ok := ruled(message, &task, helpWithModel)
	if !ok || p.lacking || newTask.MatchString(message) && !taskCommand.MatchString(message) {
		return "", nil, false
	}
	if len(p.Steps) == 0 {
		return p.Answer, nil, true
	}
	input, err := json.Marshal(p.Steps[0].Input)
	return "", &llm.ToolCall{Name: p.Steps[0].Tool, Args: input}, err == nil
}

// ruled plans by the rules that need no search. about is what LifeHub says of
// itself.
func ruled(message string, task *llm.Task, about string) (plan, bool) {
	if strings.ContainsAny(message, "\r\n") {
		return plan{}, false
	}
	bare := strings.TrimRight(text.OneLine(message), " .?!。？！")
	switch {
	case aboutItself.MatchString(bare):
		return plan{Reasoning: "A question about LifeHub.", Answer: about}, true
	case lastQuestion.MatchString(bare):
		return plan{Reasoning: "A question about the conversation.", Answer: questionBefore(task.History)}, true
	}
	for _, in := range smallTalk {
		switch {
		case in.thanks.MatchString(bare):
			return plan{Reasoning: "Thanks.", Answer: in.welcome}, true
		case in.greeting.MatchString(bare):
			return plan{Reasoning: "A greeting.", Answer: in.hello + " " + about}, true
		}
	}
	for _, rule := range []func(string, *llm.Task) (plan, bool){addTask, listTasks, namedTool} {
		if p, ok := rule(message, task); ok {
			return p, true
		}
	}
	return plan{}, false
}

// questionBefore tells the user's last message.
func questionBefore(history []llm.Message) string {
	for _, m := range slices.Backward(history) {
		if m.Role == llm.User {
			return "Your last question was: “" + text.Clip(text.OneLine(m.Text), 500) + "”"
		}
	}
	return "This is the first question of this conversation."
}

// planFor plans by rules: small talk is answered, task commands and tool calls
// are executed, and anything else is a search. A command must be the whole
// message and a single line, so that no line of a longer text is executed.
func planFor(task *llm.Task) plan {
	if task.Replan {
		return plan{Reasoning: "No rule applies."}
	}
	message := strings.TrimSpace(task.Question)
	if task.Today.IsZero() {
		task.Today = time.Now()
	}
	if p, ok := ruled(message, task, help); ok {
		return p
	}
	i := toolAt(task.Tools, "search_notes")
	switch {
	case !hasWords(message):
		return plan{Reasoning: "There is nothing to look for.", Answer: help}
	case i < 0:
		return plan{Reasoning: "There are no notes to search.", Answer: cmp.Or(task.Recalled, noNotes)}
	}
	words, instead := query(text.Cut(message, maxRead), task.History, when.DayOf(task.Today))
	args := map[string]any{"query": words}
	if !instead.From.IsZero() {
		args["after"] = instead.From.String()
	}
	if !instead.To.IsZero() {
		args["before"] = instead.To.String()
	}
	if _, takes := shapeOf(task.Tools[i]).Properties["limit"]; takes && asksForTime(words, when.DayOf(task.Today)) {
		args["limit"] = mostOfTime
	}
	return oneStep("search_notes", args, "search your notes")
}

const noNotes = "No model is connected, and there are no notes to search. `/help models` says how to connect one."

const (
	maxRead    = 64 << 10 // bytes of a message that are read
	maxQuery   = 1 << 10  // bytes of the search query from a long message
	mostOfTime = 50       // passages to return for a period
)

// The supported forms, in addition to those of [namedTool]. docs/models.md lists
// them.
var (
	smallTalk = []struct {
		thanks, greeting *regexp.Regexp
		welcome, hello   string
	}{
		{
			regexp.MustCompile(`(?i)^(?:ok(?:ay)?,? )?(?:thanks?|thank you|thx)(?: you)?(?: so| very)?(?: much| a lot)?$`),
			regexp.MustCompile(`(?i)^(?:hi|hello|hey|good (?:morning|afternoon|evening|day))(?: there| lifehub)?$`), "You're welcome.", "Hello!",
		},
		{
			regexp.MustCompile(`(?i)^(?:ok(?:ay)?,? )?(?:danke|vielen dank)(?: sehr| schön)?$`),
			regexp.MustCompile(`(?i)^(?:moin|hallo|guten (?:morgen|tag|abend))(?: lifehub)?$`), "Gern geschehen.", "Hallo!",
		},
		{regexp.MustCompile(`(?i)^merci(?: beaucoup)?$`), regexp.MustCompile(`(?i)^(?:bonjour|bonsoir|salut)(?: lifehub)?$`), "Avec plaisir.", "Bonjour !"},
		{regexp.MustCompile(`^谢谢你?$`), regexp.MustCompile(`^(?:你好|您好)$`), "不客气。", "你好！"},
	}
	aboutItself = regexp.MustCompile(`(?i)^(?:help|hilfe|aide|帮助|what can (?:you|i) do(?: here)?|who are you|what are you|what is this|how does this work|was kannst du|wer bist du|你是谁|你能做什么)$`)

	lastQuestion = regexp.MustCompile(`(?i)^(?:(?:what was|repeat|show) (?:my|the) (?:last|previous) (?:question|message)|what did i (?:just )?ask(?: you)?(?: before| last)?|` +
		`(?:was|wie) war meine (?:letzte|vorige|vorherige) (?:frage|nachricht)|was habe ich (?:dich )?(?:gerade|zuletzt|vorhin|eben) gefragt|` +
		`quelle était ma (?:dernière question|question précédente)|我(?:刚才|刚刚|上次)问了?(?:你)?什么|我的?上一个问题是什么)$`)

	taskList = regexp.MustCompile(`(?i)^(?:` +
		`(?:(?:list|show|show me|give me|what are|which are) )?(?:(?:all|my|the|open|pending) )*(?:tasks|to-?dos|to-?do list)|` +
		`(?:(?:zeige?|zeig mir|was sind|liste) )?(?:(?:alle|meine|die|offene|offenen) )*aufgaben|` +
		`(?:(?:liste|montre|quelles sont) )?(?:(?:toutes|mes|les) )*tâches(?: ouvertes)?|` +
		`(?:列出|显示|查看)?(?:我的|所有)?(?:任务|待办|待办事项)(?:有哪些|是什么)?)$`)
	dueList = regexp.MustCompile(`(?i)^(?:` +
		`(?:(?:what|which tasks|what tasks)(?:[’']s| is| are)? |(?:list|show|show me) )?(?:(?:all|my|the) )?(?:tasks |to-?dos )?(?:that are )?(due|overdue)(?: (today|tomorrow|this week|next week|soon|now))?|` +
		`(?:was ist )?(heute |morgen |diese woche )?(fällig|überfällig)|(?:有什么|什么)?(到期|过期|逾期)的?(?:任务)?)$`)
	// taskCommand matches the forms of newTask that are commands, not sentences,
	// whose rest may say when in a way that only a model understands.
	taskCommand = regexp.MustCompile(`(?i)^(?:add (?:task|to-?do)|neue aufgabe|添加任务)(?:\W|$)`)
	newTask     = regexp.MustCompile(`(?i)^(?:please\s+)?(?:add\s+(?:(?:a|the)\s+)?(?:new\s+)?(?:task|to-?do)\b(?:\s+to\b)?|remind\s+me\s+to\b|remember\s+to\b|neue\s+aufgabe\b|erinnere\s+mich\s+an\b|ajoute\s+une\s+tâche\b|rappelle-moi\s+de\b|添加任务|提醒我)\s*[:：]?(.*)$`)
)

// listTasks plans a list of the open tasks, or of those due by a given day.
func listTasks(message string, task *llm.Task) (plan, bool) {
	bare := strings.TrimRight(text.OneLine(message), " .?!。？！")
	due := dueList.FindStringSubmatch(bare)
	if toolAt(task.Tools, "list_tasks") < 0 || due == nil && !taskList.MatchString(bare) {
		return plan{}, false
	}
	args := map[string]any{"status": "open"}
	if due != nil {
		args["status"] = "due"
		switch strings.ToLower(due[1] + due[4] + due[5]) {
		case "overdue", "überfällig", "过期", "逾期":
			args["status"] = "overdue"
		}
		if days := strings.TrimSpace(due[2] + due[3]); days != "" {
			if span, _ := when.In(days, when.DayOf(task.Today)); !span.IsZero() {
				args["status"] = "open"
				args["query"] = "after:" + span.From.String() + " before:" + span.To.String()
			}
		}
	}
	return oneStep("list_tasks", args, "your tasks"), true
}

// addTask adds the text after "add task" or "remind me to" unchanged; the tool finds
// the day at its end.
func addTask(message string, task *llm.Task) (plan, bool) {
	m := newTask.FindStringSubmatch(message)
	if m == nil {
		return plan{}, false
	}
	i := toolAt(task.Tools, "add_task")
	description := strings.TrimSpace(m[1])
	switch {
	case i < 0:
		return plan{lacking: true, Reasoning: "No such tool.", Answer: "The tool `add_task` is not available, so no task was added."}, true
	case description == "":
		return plan{lacking: true, Reasoning: "An argument is missing.", Answer: "Which task? Write for example `add task buy milk`."}, true
	}
	return oneStep("add_task", map[string]any{"text": description}, message), true
}

// oneStep returns a plan with a single call.
func oneStep(tool string, args map[string]any, description string) plan {
	return plan{
		Reasoning: "Offline: planned by rules, without a model.",
		Steps:     []step{{ID: "1", Tool: tool, Input: args, Description: text.Cut(text.OneLine(description), 120), After: []string{}}},
	}
}

// hasWords reports whether a text holds a letter or a digit.
func hasWords(s string) bool {
	for range text.Words(s) {
		return true
	}
	return false
}
