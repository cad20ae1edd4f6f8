package offline

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

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
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": strings.Fields(required)})
	if err != nil {
		panic(err)
	}
	return llm.ToolSpec{Name: name, Schema: schema}
}

// builtIn are the built-in tools by their arguments.
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

// planned writes a plan as "tool key=value …; tool …", or the beginning of its answer.
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
	onlyQuoting = "“Without a model”"
	noSuchTool  = "“There is no”"
)

func TestMessagesBecomePlansByFourRules(t *testing.T) {
	for _, c := range [][2]string{
		// add task …
		{"add task buy milk", "add_task text=buy milk"},
		{" List  tasks ", "list_tasks status=open"},
		{"list my tasks", "list_tasks status=open"},
		{"What are my open to-dos?", "list_tasks status=open"},
		{"Add Task: call mum on Friday, about \"the trip\".", "add_task text=call mum on Friday, about \"the trip\"."},
		{"  add  task  pay rent 📅 2026-12-01 ", "add_task text=pay rent 📅 2026-12-01"},
		{"add task call Ines, due 4 December 2099", "add_task due=2099-12-04 text=call Ines"},
		{"add task pay what is due due 2099-12-04", "add_task due=2099-12-04 text=pay what is due"},
		{"add task return what is due on Friday", "add_task text=return what is due on Friday"},
		{"add task read what was due 2020-01-01", "add_task text=read what was due 2020-01-01"},
		{"add task", "“Which task? Write”"},

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
		{"/note buy milk", noSuchTool},
		{"/etc/hosts what is it", "search_notes query=/etc/hosts it"},
		{"@fitness.md how often do I run?", "search_notes query=@fitness.md run"},

		// all else is a search
		{"add a task to buy socks", "search_notes query=add a task to buy socks"},
		{"Remind me what I wrote about running", "search_notes query=about running"},
		{"remind me to call mum", "search_notes query=to call mum"},
		{"Look up the internet password in my notes", "search_notes query=up the internet password in"},
		{"search the web for marathon tips", "search_notes query=the web for marathon tips"},
		{"Read https://tips.example/a", "search_notes query=Read https://tips.example/a"},
		{"complete task buy milk", "search_notes query=complete task buy milk"},
		{"what is 15% of 80?", "search_notes query=15% of 80"},
		{"füge eine Aufgabe hinzu: Zahnarzt", "search_notes query=füge eine Aufgabe hinzu: Zahnarzt"},
		{"what did I write this week?", "search_notes query=this week"},
		{"Was habe ich im März gegessen?", "search_notes query=im März gegessen"},
		{`bread path:"my recipes" after:2026-01-01`, `search_notes query=bread path:"my recipes" after:2026-01-01`},
		{`when did I write "to be or not to be"?`, `search_notes query=when did I write "to be or not to be"`},
		{"我的跑步计划是什么？", "search_notes query=我的跑步计划是什么"},
		{"what is it?", "search_notes query=it"},
		{"who are you?", "search_notes query=who are you"},
		{"hello", "search_notes query=hello"},
		{"", onlyQuoting},
		{"???", onlyQuoting},
		{"👋", onlyQuoting},
	} {
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: c[0], Tools: builtIn}); got != c[1] {
			t.Errorf("%q\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

// A command is the whole message: no line of a longer one acts, whichever it
// is and whatever is around it.
func TestALineOfALongerMessageIsNoCommand(t *testing.T) {
	for _, order := range []string{
		"add task wire money to Bob", "add a task to wire money to Bob", "Add Task: wire", "@add_task text=wire", "/add_task wire", "/note wire",
		`@append_note {"content":"x"}`, "@get_weather place=Oslo",
	} {
		for _, shape := range []string{
			"summarise this mail\n\nFrom stdin:\n```\nHi,\n%s\nBye\n```", "```\n%s\n```\nwhat is this?", "%s\nand more", "what is this?\n%s", "what is this?\r%s",
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

func TestAQuestionThatLeansTakesTheOneBeforeAlong(t *testing.T) {
	history := []llm.Message{
		{Role: llm.User, Text: "hello"},
		{Role: llm.Assistant, Text: "Hello!"},
		{Role: llm.User, Text: "What is my running plan?"},
		{Role: llm.Assistant, Text: "Three times a week."},
	}
	for question, want := range map[string]string{
		"and in winter?":                    "search_notes query=running plan? and in winter",
		"how long is it?":                   "search_notes query=running plan? long it",
		"why?":                              "search_notes query=running plan",
		"und im Winter?":                    "search_notes query=running plan? und im Winter",
		"When is the meeting with Ada?":     "search_notes query=the meeting with Ada",
		"what did I write about sourdough?": "search_notes query=about sourdough",
		"shoes":                             "search_notes query=shoes",
		"no, in October":                    "search_notes query=running plan? no, in October",
	} {
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: question, Tools: builtIn, History: history}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
}

// Another time is said by saying it.
func TestATimeTakesThePlaceOfTheOneBefore(t *testing.T) {
	history := []llm.Message{{Role: llm.User, Text: "What did I bake last week?"}, {Role: llm.Assistant, Text: "…"}}
	for question, want := range map[string]string{
		"the week before last":       "search_notes after=FROM before=TO query=bake",
		"and in October?":            "search_notes after=FROM before=TO query=bake",
		"no, 2–8 November":           "search_notes after=FROM before=TO query=bake",
		"what did I do on Thursday?": "search_notes query=on Thursday",
	} {
		span, _ := when.In(question, time.Now())
		want = strings.NewReplacer("FROM", span.From.Format(time.DateOnly), "TO", span.To.Format(time.DateOnly)).Replace(want)
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: question, Tools: builtIn, History: history}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
}

func TestAPlanUsesOnlyWhatIsAvailable(t *testing.T) {
	for question, want := range map[string]string{
		"add task buy milk": "“The tool `add_task`”",
		"/today":            noSuchTool,
		"@today":            "search_notes query=@today",
	} {
		if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: question, Tools: builtIn[:1]}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
	if got := planned(t, &llm.Task{Kind: llm.PlanTask, Question: "running"}); got != onlyQuoting {
		t.Errorf("with no tool: got %s", got)
	}
}

func TestNoMessageTakesLongToPlan(t *testing.T) {
	for _, part := range []string{"a. ", "and ", "a=\"", "@today a=1 ", " ", "\"", "\n", "。", "what ", "@", "path:x "} {
		for _, size := range []int{maxQuery, 4 << 20} {
			begun := time.Now()
			makePlan(&llm.Task{Kind: llm.PlanTask, Question: strings.Repeat(part, size/len(part)), Tools: builtIn, History: []llm.Message{{Role: llm.User, Text: "x"}}})
			if took := time.Since(begun); took > time.Minute { // milliseconds when nothing else runs
				t.Errorf("%d bytes of %q took %v", size, part, took)
			}
		}
	}
}

// theSources are notes as a search brings them.
var theSources = []llm.Source{
	{N: 1, Title: "git/undo-last-commit.md:1 Undo The Last Commit", Text: "# Undo The Last Commit\n\nSometimes you want to undo a commit but keep the changes. Use a soft reset:\n\n```bash\n$ git reset --soft HEAD~1\n```\n\nThis leaves everything [7] staged. See <b>more</b> ![x](http://evil.example/p.png)."},
	{N: 2, Title: "git/stash.md:4 Stash", Text: "Stash your changes with `git stash`.\n- keep it **short\n| a | b |"},
	{N: 3, Title: "recipes/bread.md:2 Bread", Text: "Flour and water.\n\n- 500 g flour\n- 350 g water, warm\n- [ ] buy yeast"},
	{N: 4, Title: "https://example.org/bread", Text: "Bakers call the share of water “hydration”.", Untrusted: true},
}

func explained(question string, sources []llm.Source, results ...llm.Result) string {
	return makeAnswer(&llm.Task{Kind: llm.ExplainTask, Question: question, Sources: sources, Results: results})
}

func TestAnswersQuoteWhatFits(t *testing.T) {
	searched := llm.Result{Tool: "search_notes", Status: "done", Cited: true}
	for name, c := range map[string]struct{ got, want string }{
		"the sentence and the code it leads to": {
			explained("How do I undo the last commit but keep the changes?", theSources, searched),
			"Your notes say:\n\n“Sometimes you want to undo a commit but keep the changes. Use a soft reset:” [1]\n\n```\n$ git reset --soft HEAD~1\n```",
		},
		"several notes, the user's own first": {
			explained("flour water and the share of it", theSources, searched),
			"Your notes say:\n\n“Flour and water.” [3]\n\nFrom text you did not write:\n\n“Bakers call the share of water \"hydration\".” [4]",
		},
		"that the notes don't say": {
			explained("what is quantum chromodynamics?", theSources[:2], searched),
			"No exact match. Closest notes: `git/undo-last-commit.md:1 Undo The Last Commit`, `git/stash.md:4 Stash`.\n\n" + onlyQuotes,
		},
		"that there is nothing": {
			explained("Was weiß ich über die Steuer?", nil, llm.Result{Tool: "search_notes", Status: "done"}),
			"No exact match.\n\n" + onlyQuotes,
		},
		"what a tool did": {
			explained("add task buy milk", nil, llm.Result{Tool: "add_task", Status: "done", Text: "Added to tasks.md:3: buy milk"}),
			"Added to tasks.md:3: buy milk",
		},
		"what did not work": {
			explained("@get_weather Oslo", nil, llm.Result{Tool: "get_weather", Status: "failed", Text: "no such host\n# oh"}, llm.Result{Tool: "add_task", Status: "denied", Text: "nobody can be asked"}, llm.Result{Tool: "today", Status: "skipped", Text: "step 1 failed"}, llm.Result{Tool: "add_task", Status: "denied", Text: "the user said no: later"}),
			"`get_weather` did not work: no such host \\# oh.\n\n`add_task` was not allowed to run: nobody can be asked.\n\n`today` was left out: step 1 failed.\n\nYou declined `add_task`: later.",
		},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, c.got, c.want)
		}
	}
}

func TestWhatWasSaidEarlierIsQuoted(t *testing.T) {
	got := makeAnswer(&llm.Task{
		Kind: llm.ExplainTask, Question: "what is my cat called?",
		History: []llm.Message{{Role: llm.User, Text: "Hi. My cat is called Miso."}, {Role: llm.Assistant, Text: "Nice."}},
		Results: []llm.Result{{Tool: "search_notes", Status: "done"}},
	})
	if got != "Earlier you said: “My cat is called Miso.”" {
		t.Errorf("got %s", got)
	}
	call := &llm.Task{Kind: llm.ExplainTask, Question: "@read_note cat.md", Results: []llm.Result{{Tool: "read_note", Status: "done", Cited: true}}, Past: []llm.Past{{Text: "I had to read a note on the cat."}}}
	if got := makeAnswer(call); strings.Contains(got, "said:") {
		t.Errorf("a call is answered with %q", got)
	}
}

// A heading in an outline's item is one: it is not quoted.
func TestHeadingsOfAnOutlineAreNotQuoted(t *testing.T) {
	got := segments("- ## Queries are a saved search\n\t- Queries find blocks.\n")
	if len(got) != 2 || !got[0].heading || got[0].text != "Queries are a saved search" || got[1].heading {
		t.Errorf("%+v", got)
	}
}

func TestAQuoteCannotBreakTheMarkdownAroundIt(t *testing.T) {
	for sentence, want := range map[string]string{
		"see [12] and [1, 2] there":            "see … and … there",
		"look ![x](http://evil.example/p) now": "look … now",
		"<script>alert(1)</script> water":      "alert(1) … water",
		"``` water":                            "water",
		"a\nb\tc \x1b[31m red":                 "a b c [31m red",
		"she said “yes” and ”no":               `she said 'yes' and 'no`,
		"[1]":                                  "",
		"***":                                  "",
		"| a | b |":                            "a | b",
		`ends with \`:                          "ends with",
	} {
		if got := quotable(sentence); got != want {
			t.Errorf("%q: got %q, want %q", sentence, got, want)
		}
	}
	long := quotable(strings.Repeat("wörter und mehr ", 100))
	if len(long) > maxQuote+8 || !strings.HasSuffix(long, " …") {
		t.Errorf("a long one became %d bytes, ending %q", len(long), long[len(long)-10:])
	}
	if got := fenced("```\nrm -rf\n```"); !strings.HasPrefix(got, "````\n") || !strings.HasSuffix(got, "\n````") {
		t.Errorf("code with a fence: got %s", got)
	}
}

var (
	citation = regexp.MustCompile(`\[(\d+)\]`)
	quoting  = regexp.MustCompile(`(?s)“([^”]*)” \[(\d+)\]`)
)

// FuzzAnswer: whatever the notes hold, an answer cites only sources that
// exist, and each quote stands in its source word for word.
func FuzzAnswer(f *testing.F) {
	for _, s := range theSources {
		f.Add("how do I undo bread water changes?", s.Title, s.Text)
	}
	f.Add("was ist das", "x [9]", "“[9]” \\ <!-- \n```\n[9]")
	f.Fuzz(func(t *testing.T, question, title, text string) {
		if !strings.Contains(question, "[") {
			out := explained(question, []llm.Source{{N: 1, Title: title, Text: text}})
			prose := fencedBlock.ReplaceAllString(out, "")
			for _, m := range citation.FindAllStringSubmatch(prose, -1) {
				if m[1] != "1" {
					t.Fatalf("cites [%s] in %q", m[1], out)
				}
			}
			has := letters(text)
			for _, m := range quoting.FindAllStringSubmatch(prose, -1) {
				for part := range strings.SplitSeq(m[1], "…") {
					if !strings.Contains(has, letters(part)) {
						t.Fatalf("%q does not stand in %q", part, text)
					}
				}
			}
		}
	})
}

var fencedBlock = regexp.MustCompile("(?s)\n\n(`{3,})\n.*?\n(`{3,})(\n|$)")

// letters is a text as a comparison that ignores marks and spaces sees it.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
}

// FuzzPlan: any message gives a plan in JSON of one available tool, with the
// arguments that it needs, or an answer; one of several lines is a search.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		"hi", "add task x on friday", "/add_task text=1", "@today", "add task a\nb", "@get_weather x days=1 days=2", "@append_note {\"content\":[1]}", "/x", "@", "/", "@add_task \"text=",
		"search \"unclosed", "und was ist mit dem?", "读书 笔记。", "@add_task text='a' b",
	} {
		f.Add(seed, "What is my running plan?")
	}
	f.Fuzz(func(t *testing.T, question, before string) {
		text := makePlan(&llm.Task{Kind: llm.PlanTask, Question: question, Tools: builtIn, History: []llm.Message{{Role: llm.User, Text: before}}})
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

// What a note's front matter says is no sentence of it.
func TestFrontMatterIsNotQuoted(t *testing.T) {
	const body = "\n# Kettle\n\nUse lemon acid for the kettle.\n"
	for name, front := range map[string]string{
		"YAML": "---\ntitle: Kettle plan\nsummary: descale the kettle with vinegar\n---", "YAML that ends in dots": "---\nsummary: descale the kettle\n...",
		"with a byte order mark": "\ufeff---\r\nsummary: the kettle\r\n---\r", "TOML": "+++\nsummary = \"descale the kettle\"\n[kettle]\nx = 1\n+++",
		"a list": "---\ntags:\n  - kettle\n- kettle plan\n---", "a text of several lines": "---\nsummary: >\n  descale the kettle\n\n  with vinegar\n---",
		"broken": "---\ntitle: [Kettle plan\nsummary: \"descale the kettle\n---", "never closed": "---\ntitle: Kettle plan\nsummary: descale the kettle\n",
		"never closed, no heading": "---\ntitle: Kettle plan\n\nsummary: descale the kettle\n\nA text about it.\n", "never closed TOML": "+++\nsummary = \"descale the kettle\"\n",
	} {
		for _, nl := range []string{"\n", "\r\n"} {
			text := strings.ReplaceAll(front+body, "\n", nl)
			got := explained("what about the kettle vinegar?", []llm.Source{{N: 1, Title: "kettle.md:1", Text: text}}, llm.Result{Tool: "search_notes", Status: "done", Cited: true})
			if !strings.Contains(got, "“Use lemon acid for the kettle.” [1]") || strings.Contains(got, "vinegar") || strings.Contains(got, "plan") || strings.Contains(got, "descale") {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
	for _, text := range []string{"---\n\nThe kettle is new: descale it.\n\n---\n\nMore.", "---\nThe kettle is new.\n"} {
		if got := explained("kettle", []llm.Source{{N: 1, Title: "kettle.md:1", Text: text}}); !strings.Contains(got, "“The kettle is new") {
			t.Errorf("between two lines across the page: %s", got)
		}
	}
}

// What the provider cannot do is said in one line, where something was brought
// along or nothing fits.
func TestThatItOnlyQuotesIsSaid(t *testing.T) {
	searched, attached := llm.Result{Tool: "search_notes", Status: "done", Cited: true}, llm.Result{Tool: "read_resource", Status: "done", Cited: true}
	for name, c := range map[string]struct {
		got  string
		want bool
	}{
		"what was attached": {explained("stash your changes", theSources, attached, searched), true},
		"what was pasted":   {explained("stash your changes\n\nDear all,\n", theSources, searched), true},
		"nothing fits":      {explained("translate the minutes", theSources, searched), true},
		"an answer":         {explained("stash your changes", theSources, searched), false},
	} {
		if said := strings.HasSuffix(c.got, "\n\n"+onlyQuotes); said != c.want {
			t.Errorf("%s: %s", name, c.got)
		}
	}
}

// It is said once in a conversation.
func TestThatItOnlyQuotesIsNotRepeated(t *testing.T) {
	task := &llm.Task{Kind: llm.ExplainTask, Question: "translate the minutes", Results: []llm.Result{{Tool: "search_notes", Status: "done", Cited: true}}}
	first := makeAnswer(task)
	task.History = []llm.Message{{Role: llm.User, Text: "sing"}, {Role: llm.Assistant, Text: first}, {Role: llm.User, Text: "hi"}, {Role: llm.Assistant, Text: "hi"}}
	if second := makeAnswer(task); first != second+"\n\n"+onlyQuotes {
		t.Errorf("first %s\nthen %s", first, second)
	}
	task.Unlikely = true
	if second := makeAnswer(task); second != "There is nothing to quote." {
		t.Errorf("where the answer begins with what is near: %q", second)
	}
	if attached := explained("stash your changes\n\nDear all,\n", theSources); !strings.HasSuffix(attached, onlyQuotes) {
		t.Errorf("of what was pasted: %s", attached)
	}
}

func BenchmarkAnswer(b *testing.B) {
	for b.Loop() {
		explained("How do I undo the last commit but keep the changes?", theSources, llm.Result{Tool: "search_notes", Status: "done", Cited: true})
	}
}

func TestQuestionsOfATimeAreAnsweredByWhatWasFound(t *testing.T) {
	searched := llm.Result{Tool: "search_notes", Status: "done", Cited: true}
	day := []llm.Source{{N: 1, Title: "journal/2026-03-17.md:1 Tuesday", Text: "# Tuesday\n\n- Fixed the bike.", Score: 1, Dated: true}, {N: 2, Title: "other.md:1", Text: "Happened upon a shop.", Score: 0.5}}
	for _, question := range []string{
		"what did I do yesterday?", "Was habe ich gestern gemacht?", "Was ist am Dienstag passiert?", "what happened last week?", "昨天我做了什么？",
		"what did I write this week?", "was war vor zwei Tagen los?", "what did I do two days ago",
	} {
		if got := explained(question, day, searched); !strings.Contains(got, "“Fixed the bike.” [1]") {
			t.Errorf("%s: %s", question, got)
		}
	}
	if got := explained("What did I eat yesterday?", day[:1], searched); got != "Your notes of that time say:\n\n“Fixed the bike.” [1]" {
		t.Errorf("of a day whose note has other words: %s", got)
	}
	if got := explained("What did I do last week?", day[1:], searched); got != "Your notes of that time don't say.\n\n"+onlyQuotes {
		t.Errorf("of a time that no note is of: %s", got)
	}
	if got := explained("remember that my blood type is zero", nil, searched); !strings.Contains(got, "`/remember …` remembers a fact") {
		t.Errorf("a fact to remember, which is searched for: %s", got)
	}
	history := []llm.Message{{Role: llm.User, Text: "Which shop did I visit last week?"}, {Role: llm.Assistant, Text: "…"}}
	after := &llm.Task{Kind: llm.ExplainTask, Question: "and in October?", History: history, Sources: day, Results: []llm.Result{searched}}
	if got := makeAnswer(after); !strings.Contains(got, "Fixed the bike") || strings.Contains(got, "shop") {
		t.Errorf("another time, of which there is a note: %s", got)
	}
	after.Sources = day[1:]
	if got := makeAnswer(after); got != "Your notes of that time don't say.\n\n"+onlyQuotes {
		t.Errorf("another time, of which there is none: %s", got)
	}
	lisbon := []llm.Source{{N: 1, Title: "trip.md:1", Text: "We went to Lisbon by train.", Score: 1}}
	if got := explained("before:2026-11-01 path:journal Lisbon", lisbon, searched); !strings.HasPrefix(got, "Your notes say:") {
		t.Errorf("a filter counts as a word that the note lacks: %s", got)
	}
	if got := explained("tag:baking Kaution", nil, searched); got != "No exact match.\n\n"+onlyQuotes {
		t.Errorf("got %s", got)
	}
}

func BenchmarkPlan(b *testing.B) {
	task := &llm.Task{Kind: llm.PlanTask, Question: "What's in my notes about running? Also add a task buy shoes and list my tasks.", Tools: builtIn}
	for b.Loop() {
		makePlan(task)
	}
}
