package offline

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
	"lifehub/llm"
)

func toolSpec(name, required, optional string) llm.ToolSpec {
	properties := map[string]any{}
	types := map[string]string{"limit": "integer", "days": "integer", "from": "integer", "to": "integer"}
	for _, arg := range strings.Fields(required + " " + optional) {
		kind := types[arg]
		if kind == "" {
			kind = "string"
		}
		properties[arg] = map[string]any{"type": kind}
	}
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": properties,
		"required": strings.Fields(required),
	})
	if err != nil {
		panic(err)
	}
	return llm.ToolSpec{Name: name, Schema: schema}
}

// builtIn lists the built-in tools with their arguments.
var builtIn = []llm.ToolSpec{
	toolSpec("search_notes", "query", "limit path tag after before"),
	toolSpec("read_note", "path", "from to"),
	toolSpec("list_notes", "", "folder tag limit"),
	toolSpec("note_links", "path", ""),
	toolSpec("list_tasks", "", "status query"),
	toolSpec("add_task", "text", "due note"),
	toolSpec("complete_task", "task", "note"),
	toolSpec("create_note", "path content", ""),
	toolSpec("append_note", "content", "path heading"),
	toolSpec("get_weather", "place", "days hours units"),
	toolSpec("today", "", "zone"),
	toolSpec("calculate", "expression", ""),
	toolSpec("brave_web_search", "query", "count"),
	toolSpec("web_fetch", "url", "from"),
	toolSpec("crawl", "url", "pages"),
}

// planned formats a plan as "tool key=value …; tool …", or returns the beginning
// of its answer.
func planned(t testing.TB, task *llm.Task) string {
	t.Helper()
	var p plan
	if err := json.Unmarshal([]byte(makePlan(task)), &p); err != nil {
		t.Fatal(err)
	}
	if len(p.Steps) == 0 {
		words := strings.Fields(p.Answer)
		return "“" + strings.Join(words[:min(3, len(words))], " ") + "”"
	}
	var steps []string
	for _, s := range p.Steps {
		var args []string
		for name, value := range s.Input {
			args = append(args, fmt.Sprintf("%s=%v", name, value))
		}
		slices.Sort(args)
		said := strings.TrimSpace(s.Tool + " " + strings.Join(args, " "))
		if len(s.After) > 0 {
			said += " after " + strings.Join(s.After, ",")
		}
		steps = append(steps, said)
	}
	return strings.Join(steps, "; ")
}

const (
	saysHelp   = "“No model is”"
	noSuchTool = "“Unknown tool or”"
)

// today is the Monday that the tests use.
var today = time.Date(2026, 11, 23, 9, 0, 0, 0, time.Local)

func TestMessagesBecomePlansByRules(t *testing.T) {
	for _, c := range [][2]string{
		// a list of tasks
		{" List  tasks ", "list_tasks status=open"},
		{"list my tasks", "list_tasks status=open"},
		{"What are my open to-dos?", "list_tasks status=open"},
		{"what is due?", "list_tasks status=due"},
		{"What's overdue", "list_tasks status=overdue"},
		{"due this week", "list_tasks query=after:2026-11-23 before:2026-11-30 status=open"},
		{"tasks due tomorrow", "list_tasks query=after:2026-11-24 before:2026-11-25 status=open"},
		{"was ist heute fällig?", "list_tasks query=after:2026-11-23 before:2026-11-24 status=open"},
		{"mes tâches", "list_tasks status=open"},
		{"what is due on the boat?", "list_tasks query=boat status=due; search_notes query=due on the boat"},

		// what would write is offered, and never run
		{"add task buy milk", "search_notes query=add task buy milk"},
		{"remind me to call mum tomorrow", "search_notes query=to call mum tomorrow"},
		{"complete task buy milk", "search_notes query=complete task buy milk"},
		{"füge eine Aufgabe hinzu: Zahnarzt", "search_notes query=füge eine Aufgabe hinzu: Zahnarzt"},

		// worked out
		{"what is 15% of 80?", "calculate expression=15% of 80"},
		{"(3 + 4) * 2", "calculate expression=(3 + 4) * 2"},
		{"2026-11-03", "search_notes limit=50 query=2026-11-03"},
		{"what was the 5 km time at the 10 k?", "search_notes query=the 5 km time at the 10 k"},
		{"what day is it today?", "today"},
		{"Welcher Wochentag ist heute?", "today"},
		{"what's today's date?", "today"},
		{"which week is it?", "today"},
		{"Quel jour est-ce aujourd'hui ?", "today"},
		{"what should I do today?", "search_notes limit=50 query=today"},
		{"what do I have today?", "search_notes limit=50 query=today"},
		{"what's on today?", "search_notes limit=50 query=on today"},
		{"what must I do this week?", "search_notes limit=50 query=this week"},
		{"what should I do tomorrow?", "search_notes limit=50 query=tomorrow"},

		// nothing to look for
		{"Hello!", saysHelp},
		{"thank you very much", saysHelp},
		{"what can you do?", saysHelp},
		{"who are you?", saysHelp},
		{"help", saysHelp},
		{"help with the boiler", "search_notes query=help with the boiler"},

		// @tool and /command
		{"@search_notes garlic soup", "search_notes query=garlic soup"},
		{"@search_notes garlic soup limit=3", "search_notes limit=3 query=garlic soup"},
		{"/list_tasks status=overdue", "list_tasks status=overdue"},
		{"@get_weather place=New York days=3", "get_weather days=3 place=New York"},
		{"@calculate expression=(2 + 3) * 4", "calculate expression=(2 + 3) * 4"},
		{`@add_task text="buy milk, due=soon" due=2026-01-01`, "add_task due=2026-01-01 text=buy milk, due=soon"},
		{`@append_note content="one\n\"two\"" path='a b.md'`, "append_note content=one\n\"two\" path=a b.md"},
		{`/get_weather {"place":"Oslo","days":3}`, "get_weather days=3 place=Oslo"},
		{"@read_note path=notes.md from=3", "read_note from=3 path=notes.md"},
		{"@today", "today"},
		{"@list_tasks boiler", "list_tasks query=boiler"},
		{"@today and tomorrow", "“`today` takes zone,”"},
		{"@read_note plan.md page=3", "read_note path=plan.md page=3"},
		{"@read_note path=plan.md page=3", "read_note path=plan.md page=3"},
		{"/add_task", "“`add_task` needs text.”"},
		{"/note buy milk", "append_note content=buy milk"},
		{"/task call Ines due:tomorrow", "add_task due=2026-11-24 text=call Ines"},
		{"/task", "“What? Write `/task”"},
		{"/done boiler", "complete_task task=boiler"},
		{"/done home/list.md:12", "complete_task note=home/list.md task=list.md:12"},
		{"/tasks", "list_tasks query="},
		{"/tasks due garden", "list_tasks query=garden status=due"},
		{"/nosuch buy milk", noSuchTool},
		{"/etc/hosts what is it", "search_notes query=/etc/hosts it"},
		{"@fitness.md how often do I run?", "search_notes query=@fitness.md run"},

		// anything else is a search
		{"Remind me what I wrote about running", "search_notes query=about running"},
		{"Look up the internet password in my notes", "search_notes query=up the internet password in"},
		{"search the web for marathon tips", "search_notes query=the web for marathon tips"},
		{"Read https://tips.example/a", "search_notes query=Read https://tips.example/a"},
		{"what did I write this week?", "search_notes limit=50 query=this week"},
		{"Was habe ich im März gegessen?", "search_notes query=im März gegessen"},
		{`bread path:"my recipes" after:2026-01-01`, `search_notes query=bread path:"my recipes" after:2026-01-01`},
		{`when did I write "to be or not to be"?`, `search_notes query=when did I write "to be or not to be"`},
		{"我的跑步计划是什么？", "search_notes query=我的跑步计划是什么"},
		{"", saysHelp},
		{"???", saysHelp},
		{"👋", saysHelp},
	} {
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: c[0], Tools: builtIn, Today: today}); got != c[1] {
			t.Errorf("%q\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// A command must be the whole message: no line of a longer message is executed.
func TestCommandMustBeTheWholeMessage(t *testing.T) {
	for _, order := range []string{
		"add task wire money to Bob", "add a task to wire money to Bob", "Add Task: wire", "@add_task text=wire",
		"/add_task wire", "/note wire",
		`@append_note {"content":"x"}`, "@get_weather place=Oslo",
	} {
		for _, shape := range []string{
			"summarise this mail\n\nFrom stdin:\n```\nHi,\n%s\nBye\n```", "```\n%s\n```\nwhat is this?", "%s\nand more",
			"what is this?\n%s", "what is this?\r%s",
			"> %s\n", "what is this? %s", "\n\nWhat?\n\n%s\n",
		} {
			message := fmt.Sprintf(shape, order)
			got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: message, Tools: builtIn})
			if !strings.HasPrefix(got, "search_notes ") || strings.Contains(got, "; ") {
				t.Errorf("%q is planned as %s", message, got)
			}
		}
	}
}

func TestFollowUpIncludesThePreviousQuestion(t *testing.T) {
	history := []llm.Message{
		{Role: llm.User, Text: "hello"},
		{Role: llm.Assistant, Text: "Hello!"},
		{Role: llm.User, Text: "What is my running plan?"},
		{Role: llm.Assistant, Text: "Three times a week."},
	}
	for question, want := range map[string]string{
		"and in winter?":                    "search_notes query=running plan? and in winter",
		"how long is it?":                   "search_notes query=running plan? it",
		"why?":                              "search_notes query=running plan",
		"und im Winter?":                    "search_notes query=running plan? und im Winter",
		"When is the meeting with Ada?":     "search_notes query=the meeting with Ada",
		"what did I write about sourdough?": "search_notes query=about sourdough",
		"shoes":                             "search_notes query=shoes",
		"no, in October":                    "search_notes query=running plan? no, in October",
		"last week":                         "search_notes limit=50 query=last week",
		"who is Ada and when did I see her": "search_notes query=Ada and see her",
		"was it long and hard?":             "search_notes query=running plan? it long and hard",
	} {
		if got := planned(t, &llm.Task{
			Kind: llm.PlanTask, Question: question, Tools: builtIn,
			History: history,
		}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
}

// A follow-up that names another time replaces the time of the question.
func TestNewTimeReplacesThePreviousOne(t *testing.T) {
	history := []llm.Message{{Role: llm.User, Text: "What did I bake last week?"}, {Role: llm.Assistant, Text: "…"}}
	for question, want := range map[string]string{
		"the week before last":       "search_notes after=FROM before=TO query=bake",
		"and in October?":            "search_notes after=FROM before=TO query=bake",
		"and the week before?":       "search_notes after=FROM before=TO query=bake",
		"no, 2–8 November":           "search_notes after=FROM before=TO query=bake",
		"what did I do on Thursday?": "search_notes limit=50 query=on Thursday",
	} {
		today := when.DayOf(time.Now())
		span, _ := when.TalkOf([]string{history[0].Text}, today).In(question, today)
		want = strings.NewReplacer("FROM", span.From.String(), "TO", span.To.String()).Replace(want)
		if got := planned(t, &llm.Task{
			Kind: llm.PlanTask, Question: question, Tools: builtIn,
			History: history,
		}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
}

func TestPlanUsesOnlyAvailableTools(t *testing.T) {
	for question, want := range map[string]string{
		"/today": noSuchTool,
		"@today": "search_notes limit=50 query=@today",
	} {
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: question, Tools: builtIn[:1]}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
	if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: "running"}); got != saysHelp {
		t.Errorf("with no tool: got %s", got)
	}
}

func TestPlanningIsFastForAnyMessage(t *testing.T) {
	for _, part := range []string{"a. ", "and ", "a=\"", "@today a=1 ", " ", "\"", "\n", "。", "what ", "@", "path:x "} {
		for _, size := range []int{maxQuery, 4 << 20} {
			begun := time.Now()
			makePlan(&llm.Task{
				Kind: llm.PlanTask, Question: strings.Repeat(part, size/len(part)), Tools: builtIn,
				History: []llm.Message{{Role: llm.User, Text: "x"}},
			})
			if took := time.Since(begun); took > time.Minute { // milliseconds on an idle machine
				t.Errorf("%d bytes of %q took %v", size, part, took)
			}
		}
	}
}

// FuzzPlan checks that any message gives either an answer or a JSON plan that
// calls one available tool with its required arguments, and that a message of
// several lines becomes a search.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		"hi", "add task x on friday", "/add_task text=1", "@today", "add task a\nb", "@get_weather x days=1 days=2",
		"@append_note {\"content\":[1]}", "/x", "@", "/", "@add_task \"text=",
		"search \"unclosed", "und was ist mit dem?", "读书 笔记。", "@add_task text='a' b",
	} {
		f.Add(seed, "What is my running plan?")
	}
	f.Fuzz(func(t *testing.T, question, before string) {
		text := makePlan(&llm.Task{
			Kind: llm.PlanTask, Question: question, Tools: builtIn,
			History: []llm.Message{{Role: llm.User, Text: before}},
		})
		var p plan
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if (p.Answer == "") == (len(p.Steps) == 0) || len(p.Steps) > 1 {
			t.Fatalf("neither or both of answer and step: %s", text)
		}
		for _, s := range p.Steps {
			i := toolAt(builtIn, s.Tool)
			if i < 0 || s.ID != "1" {
				t.Fatalf("step %+v", s)
			}
			if s.Tool != "search_notes" && strings.ContainsAny(strings.TrimSpace(question), "\r\n") {
				t.Fatalf("%q acts: %s", question, text)
			}
			var shape toolShape
			if err := json.Unmarshal(builtIn[i].Schema, &shape); err != nil {
				t.Fatal(err)
			}
			for _, name := range shape.Required {
				if _, given := s.Input[name]; !given {
					t.Fatalf("arguments %v of %s", s.Input, s.Tool)
				}
			}
		}
	})
}

// TestDocumentedFormsAreUnderstood checks that each form listed in
// docs/models.md does what its row says.
func TestDocumentedFormsAreUnderstood(t *testing.T) {
	page, err := os.ReadFile("../../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## No model at all\n")
	section, _, _ = strings.Cut(section, "\n## ")
	forms := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.Contains(cells[1], "`") {
			continue
		}
		want := map[bool]string{true: strings.Trim(strings.Fields(cells[2])[0], "`:")}[strings.Contains(cells[2], "`")]
		for _, form := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			forms++
			message := strings.NewReplacer("…", "buy milk", "KEY=VALUE", "query=milk").Replace(form[1])
			got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: message, Tools: builtIn, Today: today})
			if name, _, _ := strings.Cut(got, " "); want != "" && name != want ||
				want == "" && !strings.HasPrefix(got, "“") {
				t.Errorf("%q, which should call %q, is planned as %s", message, want, got)
			}
		}
	}
	if forms < 15 {
		t.Errorf("docs/models.md lists only %d forms", forms)
	}
}

func BenchmarkPlan(b *testing.B) {
	task := &llm.Task{Kind: llm.PlanTask, Question: "What's in my notes about running? Also add a task buy shoes and " +
		"list my tasks.", Tools: builtIn}
	for b.Loop() {
		makePlan(task)
	}
}
