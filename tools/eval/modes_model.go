package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lifehub/llm"
)

// scripted is a model that works on a task using only the request: it derives its role from the
// requested schema, and its knowledge from the prompt. In honest mode it answers like a competent
// model. In sloppy mode it makes the same decisions but writes them like a small model: prose
// around JSON, misnamed arguments and tools, numbers out of bounds, missing fields, nested
// verdicts, a call printed after prose, (Source 1) for [1]. It also obeys what it reads.
type scripted struct {
	llm.Provider
	task   task
	index  int
	sloppy bool

	mu       sync.Mutex
	requests []string // requests and replies, for failure messages
	last     string   // the last prompt
	fresh    int      // tokens not shared with the beginning of the previous request
}

func (m *scripted) Window() int { return 16 << 10 }

// State is the state of a model that calls tools natively.
func (m *scripted) State() llm.State {
	s := m.Provider.State()
	s.Model, s.Tools = "scripted", true
	return s
}

// tokenBytes is the assumed number of bytes per token.
const tokenBytes = 4

func (m *scripted) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	m.mu.Lock()
	text, calls := m.reply(read(req))
	read, written := 0, len(text)
	var prompt, whole strings.Builder
	for _, message := range req.Messages {
		read += len(message.Text)
		fmt.Fprintf(&prompt, "--- %s %s\n%s\n", message.Role, jsonOf(message.Calls), message.Text)
		for _, c := range message.Calls {
			read += len(c.Name) + len(c.Args)
		}
	}
	for _, tool := range req.Tools {
		read += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	for _, c := range calls {
		written += len(c.Name) + len(c.Args)
	}
	fmt.Fprintf(&whole, "%+v\n%s", req.Tools, prompt.String())
	same := 0
	for same < min(len(m.last), whole.Len()) && m.last[same] == whole.String()[same] {
		same++
	}
	m.fresh += max(0, read-same) / tokenBytes
	m.last = whole.String()
	m.requests = append(m.requests, fmt.Sprintf("%s--- tools: %d, schema %s\n=== reply: %s %s\n", prompt.String(),
		len(req.Tools), req.Schema, text, jsonOf(calls)))
	m.mu.Unlock()
	return func(yield func(llm.Delta, error) bool) {
		if text != "" && !yield(llm.Delta{Text: text}, nil) {
			return
		}
		for _, c := range calls {
			if !yield(llm.Delta{Call: &c}, nil) {
				return
			}
		}
		yield(llm.Delta{Usage: &llm.Usage{
			Prompt: read/tokenBytes + 1, Answer: written/tokenBytes + 1,
			Generating: time.Second, Stopped: llm.StopEnd,
		}}, nil)
	}
}

// inSight is what the model sees.
type inSight struct {
	Request llm.Request
	system  string
	sight   string         // all messages except the system's
	made    []llm.ToolCall // the model's own calls in this prompt
	shape   string         // the schema of the answer
	again   bool           // it must repair its reply
}

func read(req llm.Request) inSight {
	a := inSight{Request: req, shape: string(req.Schema)}
	for i, message := range req.Messages {
		if message.Role == llm.System {
			a.system += message.Text + "\n"
			continue
		}
		a.sight += message.Text + "\n"
		a.made = append(a.made, message.Calls...)
		a.again = i == len(req.Messages)-1 && i > 1 && message.Role == llm.User &&
			req.Messages[i-1].Role == llm.Assistant && len(req.Schema) > 0 &&
			strings.Contains(req.Messages[i-1].Text, "{") && !strings.HasPrefix(message.Text, "The plan has run") &&
			!strings.Contains(message.Text, "Plan for this message")
	}
	return a
}

// asks reports whether the schema has a field.
func (a inSight) asks(field string) bool { return strings.Contains(a.shape, `"`+field+`"`) }

// offers reports whether a tool can be called.
func (a inSight) offers(tool string) bool {
	return slices.ContainsFunc(a.Request.Tools, func(t llm.ToolSpec) bool { return t.Name == tool }) ||
		strings.Contains(a.system, tool+"(") || a.asks(tool)
}

// tried reports whether a call was made: its arguments are among the model's calls, or next to the
// tool's name in the report of what was done. A call reported as not run is made once more.
func (a inSight) tried(t task, c call) bool {
	times, last := 0, ""
	for _, message := range a.Request.Messages {
		switch {
		case message.Role == llm.System:
		case message.Role != llm.Assistant:
			last += message.Text
		case strings.Contains(message.Text+jsonOf(message.Calls), c.key):
			times, last = times+1, ""
		}
	}
	if times > 0 {
		return times > 1 || !a.again && !strings.Contains(strings.ReplaceAll(last, "not run again", ""), "not run")
	}
	_, after, named := strings.Cut(strings.ReplaceAll(a.sight, t.question, ""), c.tool)
	return named && strings.Contains(after, c.key)
}

// knows reports whether the prompt contains the subject of the task.
func (a inSight) knows(t task) bool { return strings.Contains(a.sight, t.subject) }

// german matches a prompt that says that some notes are German.
var german = regexp.MustCompile(`\b(German|Deutsch|de)\b`)

// next returns the calls to make now: those of the first round with a call not tried yet whose
// needs are in sight.
func (a inSight) next(t task) (list []call) {
	if !a.knows(t) {
		return nil
	}
	for round := range 3 {
		for _, c := range t.calls {
			if c.german != "" && german.MatchString(a.system+a.sight) {
				c.input, c.key = jsonOf(map[string]any{"query": c.german}), c.german
			}
			if reads := strings.Contains(c.tool, "search") ||
				strings.HasPrefix(c.tool, "read"); c.round == round && !a.tried(t, c) && !(reads && a.seesFacts(t)) {
				list = append(list, c)
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return slices.DeleteFunc(list, func(c call) bool { return !strings.Contains(a.sight, c.needs) })
}

func (a inSight) seesFacts(t task) bool {
	for _, f := range t.facts {
		if !strings.Contains(a.sight, f.words) {
			return false
		}
	}
	return len(t.facts) > 0
}

// reply returns the model's text or calls.
func (m *scripted) reply(a inSight) (text string, calls []llm.ToolCall) {
	switch {
	case a.asks("passed"):
		return m.judge(a), nil
	case a.asks("steps"):
		return m.plan(a), nil
	case a.offers("delegate") && !a.offers("search_notes"):
		return m.lead(a)
	case len(a.Request.Tools) > 0:
		return m.round(a)
	}
	return m.answer(a), nil
}

// lacking is the reply if a tool is missing, as the prompt words it if it does.
func (m *scripted) lacking(a inSight) string {
	for line := range strings.Lines(a.system + a.sight) {
		if strings.Contains(line, "mail.host") {
			return "No mail was sent. " + strings.TrimSpace(line)
		}
	}
	return "No mail was sent: there is no tool for it."
}

// plan returns a planner's reply.
func (m *scripted) plan(a inSight) string {
	t := m.task
	next := a.next(t)
	steps := []map[string]any{}
	for _, c := range next {
		switch {
		case !a.offers(c.tool) && c.tool == "send_email" && !m.sloppy:
			return jsonOf(map[string]any{
				"reasoning": "there is no tool for mail",
				"steps":     steps, "answer": m.lacking(a),
			})
		case !a.offers(c.tool) && !m.sloppy:
			continue
		}
		name, input := c.tool, c.input
		if m.sloppy && !a.again {
			name, input = m.misnamed(c)
		}
		step := map[string]any{
			"id": fmt.Sprint(len(steps) + 1), "tool": name, "input": json.RawMessage(input),
			"description": "what the question needs", "after": []string{},
		}
		if m.sloppy {
			delete(step, "id")
			delete(step, "after")
		}
		steps = append(steps, step)
	}
	if m.sloppy && t.name == "find" && len(steps) > 0 { // it forgets the notes
		steps = []map[string]any{{"tool": "today", "input": map[string]any{}}}
	}
	plan := map[string]any{"reasoning": "these calls answer it", "steps": steps, "answer": ""}
	if len(t.calls) == 0 {
		plan["answer"] = t.says
		if !m.sloppy {
			plan["kind"] = t.kind
		}
	}
	if a.asks("again") && len(next) > 0 && next[0].round+1 < t.rounds() {
		plan["again"] = true
	}
	return m.prose(jsonOf(plan))
}

// prose adds a sloppy model's prose around JSON.
func (m *scripted) prose(object string) string {
	if !m.sloppy {
		return object
	}
	return "Sure! Here is the JSON you asked for:\n\n```json\n" + strings.TrimSuffix(object, "}") +
		",}\n```\nLet me know if you need anything else."
}

// misnamed returns a call as a sloppy model writes it.
func (m *scripted) misnamed(c call) (tool, input string) {
	renamed := strings.NewReplacer(`"query":`, `"q":`, `"text":`, `"task_text":`, `"content":`, `"body_text":`,
		`"path":`, `"file_path":`, `"task":`, `"name":`)
	switch first, second, _ := strings.Cut(c.tool, "_"); {
	case c.tool == "list_tasks":
		return c.tool, `{"status":"pending","query":` + jsonOf(queryOf(c.input)) + `}`
	case c.tool == "search_notes" && m.index%3 == 0:
		return c.tool, strings.TrimSuffix(c.input, "}") + `,"limit":500}`
	case m.index%3 == 1 && second != "" && !strings.Contains(second, "_"):
		return second + "_" + first, c.input
	case strings.Count(c.input, `":`) == 1:
		return c.tool, renamed.Replace(c.input)
	}
	return c.tool, c.input
}

func queryOf(input string) string {
	var args struct{ Query string }
	_ = json.Unmarshal([]byte(input), &args)
	return args.Query
}

// lead returns the reply of the team's leader, which decides whether there is work and who does it.
func (m *scripted) lead(a inSight) (string, []llm.ToolCall) {
	t := m.task
	switch tasks := m.tasks(a); {
	case len(t.calls) == 0:
		return t.says, nil
	case t.calls[0].tool == "send_email" && strings.Contains(a.system+a.sight, "mail.host"):
		return m.lacking(a), nil
	case len(a.made) < len(tasks):
		return "", []llm.ToolCall{{
			ID: fmt.Sprint("c", len(a.made)), Name: "delegate",
			Args: json.RawMessage(jsonOf(tasks[len(a.made)])),
		}}
	}
	return m.answer(a), nil
}

// workerLine matches a line of the prompt that describes a worker.
var workerLine = regexp.MustCompile(`(?m)^- (\w+): .*$`)

// tasks delegates the calls, to one worker if one can make them all.
func (m *scripted) tasks(a inSight) (list []map[string]any) {
	t := m.task
	question := t.question
	if t.resolved != "" && a.knows(t) {
		question = t.resolved
	}
	var workers []string
	for _, c := range t.calls {
		worker := c.worker
		if !a.asks(worker) {
			worker = "general"
		}
		if !slices.Contains(workers, worker) {
			workers = append(workers, worker)
		}
	}
	for _, line := range workerLine.FindAllStringSubmatch(a.system, -1) {
		all := len(workers) > 1 && a.asks(line[1])
		for _, c := range t.calls {
			all = all && strings.Contains(line[0], c.tool)
		}
		if all {
			workers = []string{line[1]}
		}
	}
	if m.sloppy && t.order != "" {
		workers = []string{"notes", "general"}
	}
	for i, worker := range workers {
		task := map[string]any{
			"worker_type": worker, "task_description": question,
			"success_criteria": "It quotes the words that answer it and where they stand, or says what was not found " +
				"or not done.",
		}
		if i > 0 {
			task["task_description"] = question + "\nWhat was found: {{1.text}}"
		}
		if m.sloppy {
			delete(task, "success_criteria")
		} else if len(workers) == 1 {
			task["whole_message"] = true
		}
		list = append(list, task)
	}
	return list
}

// round returns a decision of the loop or of a worker.
func (m *scripted) round(a inSight) (string, []llm.ToolCall) {
	t := m.task
	var calls []llm.ToolCall
	add := func(tool, input string) {
		calls = append(calls, llm.ToolCall{
			ID: fmt.Sprint("c", len(a.made)+len(calls)), Name: tool,
			Args: json.RawMessage(input),
		})
	}
	for _, c := range a.next(t) {
		if !a.offers(c.tool) {
			continue
		}
		tool, input := c.tool, c.input
		if m.sloppy && !strings.Contains(a.sight, "not run") {
			tool, input = m.misnamed(c)
		}
		add(tool, input)
	}
	if ordered := `{"text":` + jsonOf(t.order) + `}`; m.sloppy && t.order != "" &&
		strings.Contains(a.sight, t.order) && a.offers("add_task") &&
		!slices.ContainsFunc(a.made, func(c llm.ToolCall) bool { return c.Name == "add_task" }) {
		add("add_task", ordered)
	}
	switch {
	case len(calls) == 0:
		return m.answer(a), nil
	case m.sloppy && m.index%2 == 0: // a call printed after prose
		text := "Let me look that up for you.\n\n"
		for _, c := range calls {
			text += "<tool_call>" + jsonOf(map[string]any{"name": c.Name, "arguments": c.Args}) + "</tool_call>\n"
		}
		return text, nil
	}
	return "", calls
}

// judge compares the quotations in the report with the rest of the prompt, in which each must occur
// again.
func (m *scripted) judge(a inSight) string {
	verdict := map[string]any{
		"passed": true, "score": 0.9, "feedback": "Each claim rests on a call.",
		"suggestions": "",
	}
	for _, f := range m.task.facts {
		if strings.Count(a.sight, f.words) == 1 {
			verdict = map[string]any{
				"passed": false, "score": 0.3, "feedback": "The calls do not show: " + f.words,
				"suggestions": "Name where it stands.",
			}
		}
	}
	if m.sloppy {
		verdict["score"] = 8
		delete(verdict, "suggestions")
		return m.prose(jsonOf(map[string]any{"verdict": verdict}))
	}
	return jsonOf(verdict)
}

var (
	citing    = regexp.MustCompile(`\[(\d+)\]`)
	numbered  = regexp.MustCompile(`(?m)^\[(\d+)\].*$`)
	openCount = regexp.MustCompile(`(\d+) (?:open tasks on [\w, -]*\d|tasks are open)`)
)

// number returns the number of the source that contains words, or "".
func (a inSight) number(words string) string {
	heads := numbered.FindAllStringSubmatchIndex(a.sight, -1)
	for i, h := range heads {
		block := a.sight[h[1]:]
		if i+1 < len(heads) {
			block = a.sight[h[1]:heads[i+1][0]]
		}
		if parts := strings.Split(block, "«"); len(parts) > 2 { // up to the closing mark
			block = parts[0] + parts[1]
		}
		if strings.Contains(block, words) {
			return a.sight[h[2]:h[3]]
		}
	}
	return ""
}

// answer returns the final answer of the explainer, the loop, or a worker.
func (m *scripted) answer(a inSight) string {
	t := m.task
	var sentences []string
	if len(t.calls) == 0 {
		return t.says
	}
	if !a.knows(t) {
		return "I do not know what you mean."
	}
	for _, f := range t.facts {
		n := a.number(f.words)
		switch {
		case !strings.Contains(a.sight, f.words):
			sentences = append(sentences, "Something that you asked for was not found.")
		case n == "" && f.path != "":
			sentences = append(sentences, fmt.Sprintf("It says: “%s” (%s)", f.words, f.path))
		case n == "":
			sentences = append(sentences, fmt.Sprintf("It says: “%s”", f.words))
		default:
			sentences = append(sentences, fmt.Sprintf("It says: “%s” [%s]", f.words, n))
		}
	}
	if t.sum && a.seesFacts(t) {
		sentences = append(sentences, t.says)
	}
	if t.counts {
		n := openCount.FindStringSubmatch(a.sight)
		switch {
		case n == nil:
			sentences = append(sentences, "I cannot see your tasks.")
		case a.number(n[0]) == "":
			sentences = append(sentences, n[1]+" tasks are open.")
		default:
			sentences = append(sentences, fmt.Sprintf("%s tasks are open: “%s” [%s]", n[1], n[0], a.number(n[0])))
		}
	}
	if t.unanswerable {
		sentences = append(sentences, "Your notes don't say that.")
		if m.sloppy {
			sentences = []string{t.invents}
		}
	}
	for _, c := range t.calls {
		if c.tool == "send_email" {
			sentences = append(sentences, m.lacking(a))
		}
		if t.right == nil || len(a.Request.Tools) > 0 && !a.offers(c.tool) || strings.Contains(c.tool, "search") {
			continue
		}
		if a.did(c) {
			sentences = append(sentences, "It is done: "+c.key+".")
		} else {
			sentences = append(sentences, "It was not done.")
		}
	}
	if m.sloppy {
		if t.order != "" && strings.Contains(a.sight, t.order) {
			sentences = append(sentences, `The note asks to add a task "`+t.order+` about the prize" at once.`)
		}
		text := strings.NewReplacer("“", `"`, "”", `"`).Replace(strings.Join(sentences, "\n"))
		return "Based on the provided sources, here is the answer.\n\n" +
			citing.ReplaceAllString(text, "(Source $1).") + "\n\nSources:\n1. your notes"
	}
	return strings.Join(sentences, "\n")
}

// did reports whether the prompt shows that a call was made: in its result, in the report of the
// steps, or in a worker's report.
func (a inSight) did(c call) bool {
	for _, message := range a.Request.Messages {
		if message.Role == llm.ToolReply && message.Tool == c.tool {
			return !strings.HasPrefix(message.Text, "failed") && !strings.HasPrefix(message.Text, "denied")
		}
	}
	return regexp.MustCompile(c.tool+`(:\n«|[^\n]*\bdone\b)`).MatchString(a.sight) ||
		strings.Contains(a.sight, "It is done: "+c.key)
}
