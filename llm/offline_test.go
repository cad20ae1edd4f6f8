package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
)

func toolSpec(name, required, optional string) ToolSpec {
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
	return ToolSpec{Name: name, Schema: schema}
}

// builtIn are the built-in tools by their arguments.
var builtIn = []ToolSpec{
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

// aSaturday is the day of all plans here.
var aSaturday = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// planned writes a plan as "tool key=value …; tool …", or the beginning of its answer.
func planned(t testing.TB, task *Task) string {
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

func TestMessagesBecomePlans(t *testing.T) {
	for _, c := range [][2]string{
		// small talk
		{"Hi!", "“Hello! Ask me”"},
		{"hello there", "“Hello! Ask me”"},
		{"Good morning LifeHub", "“Hello! Ask me”"},
		{"thanks a lot", "“You're welcome.”"},
		{"bye", "“See you! `/quit`”"},
		{"who are you?", "“I am LifeHub,”"},
		{"help", "“I am LifeHub,”"},
		{"ok", "“All right. What”"},
		{"Hallo!", "“Hallo! Frag mich”"},
		{"Danke schön", "“Gern geschehen.”"},
		{"你好", "“Hello! Ask me”"},
		{"", "“Ask me anything”"},
		{"???", "“Ask me anything”"},

		// questions for the notes
		{"What do my notes say about running?", "search_notes query=running"},
		{"what did I write about sourdough hydration in March?", "search_notes query=sourdough hydration in March"},
		{"How do I undo the last commit but keep the changes?", "search_notes query=undo last commit keep changes"},
		{"find my passport number", "search_notes query=passport number"},
		{`search my notes for "to be or not" tag:hamlet`, `search_notes query="to be or not" tag=hamlet`},
		{"bread path:recipes after:2026-01-01", "search_notes after=2026-01-01 path=recipes query=bread"},
		{"which notes do I have about bread?", "search_notes query=bread"},
		{"Who is Ada?", "search_notes query=Ada"},
		{"running", "search_notes query=running"},
		{"was steht in meinen Notizen über Laufen?", "search_notes query=Laufen"},
		{"我的跑步计划是什么？", "search_notes query=我的跑步计划是什么？"},
		{"i went to Rome. what did I eat there?", "search_notes query=went Rome eat"},
		{"what did I note about the weather in Iceland?", "search_notes query=weather Iceland"},
		{"what do my notes say about task management?", "search_notes query=task management"},
		{"@fitness.md how often do I run?", "search_notes query=@fitness.md run"},
		{"complete guide to knots", "search_notes query=complete guide knots"},
		{"what is the date today in my notes about taxes", "search_notes query=taxes"},

		// tasks
		{"add a task buy milk", "add_task text=buy milk"},
		{"Add a task: call mum on Friday.", "add_task due=2026-11-27 text=call mum"},
		{"please add task pay rent by 2026-12-01", "add_task due=2026-12-01 text=pay rent"},
		{"add a task to home.md: fix the sink", "add_task note=home.md text=fix the sink"},
		{`add a task called "water the plants"`, "add_task text=water the plants"},
		{"add a task for tomorrow: call the bank", "add_task due=2026-11-22 text=call the bank"},
		{"todo: renew passport", "add_task text=renew passport"},
		{"remind me tomorrow to call the dentist", "add_task due=2026-11-22 text=call the dentist"},
		{"remind me to water the plants every monday", "add_task text=water the plants every monday"},
		{"remind me to pay taxes on 3 March", "add_task due=2027-03-03 text=pay taxes"},
		{"add buy oat milk to my todo list", "add_task text=buy oat milk"},
		{"Can you add a task to book flights in two weeks?", "add_task due=2026-12-05 text=book flights"},
		{"füge eine neue Aufgabe hinzu: Zahnarzt anrufen am Freitag", "add_task due=2026-11-27 text=Zahnarzt anrufen"},
		{"Erinnere mich morgen daran, die Blumen zu gießen", "add_task text=morgen daran, die Blumen zu gießen"},
		{"complete task buy milk", "complete_task task=buy milk"},
		{"mark call mum as done", "complete_task task=call mum"},
		{`tick off "renew passport"`, "complete_task task=renew passport"},
		{"done with the task fix the sink", "complete_task task=fix the sink"},
		{"hake Zahnarzt anrufen ab", "complete_task task=Zahnarzt anrufen"},
		{"what is due?", "list_tasks status=due"},
		{"list my tasks", "list_tasks status=open"},
		{"show overdue tasks", "list_tasks status=overdue"},
		{"which tasks are done", "list_tasks status=done"},
		{"what tasks do I have about the garden?", "list_tasks query=garden status=open"},
		{"what do I have to do today?", "list_tasks status=due"},
		{"welche Aufgaben sind fällig?", "list_tasks status=due"},

		// notes
		{`create a note titled "Lisbon trip": pack light. Take a hat.`, "create_note content=# Lisbon trip\n\npack light. Take a hat.\n path=lisbon-trip.md"},
		{"create a note called Ideas with content build a shed", "create_note content=# Ideas\n\nbuild a shed\n path=ideas.md"},
		{"make a note trips/rome.md: see the Forum", "create_note content=# rome\n\nsee the Forum\n path=trips/rome.md"},
		{"add to note lisbon: passport", "append_note content=passport path=lisbon"},
		{"append to trips/lisbon.md: buy tickets and book hotel", "append_note content=buy tickets and book hotel path=trips/lisbon.md"},
		{"append buy tickets to the note lisbon", "append_note content=buy tickets path=lisbon"},
		{"note: slept badly", "append_note content=slept badly"},
		{"note: slept badly. Dreamt of bread.", "append_note content=slept badly. Dreamt of bread."},
		{"note: slept badly\nand dreamt of bread\n\n- rye", "append_note content=slept badly\nand dreamt of bread\n\n- rye"},
		{"note: slept badly. What is due?", "append_note content=slept badly.; list_tasks status=due"},
		{"add to my journal: a good day", "append_note content=a good day"},
		{"recent notes", "list_notes"},
		{"show my last 3 notes", "list_notes limit=3"},
		{"list notes tagged #running", "list_notes tag=running"},
		{"show notes in recipes", "list_notes folder=recipes"},
		{"read note fitness", "read_note path=fitness"},
		{"open recipes/bread.md", "read_note path=recipes/bread.md"},

		// small things
		{"what's the weather in Berlin tomorrow?", "get_weather days=2 place=Berlin"},
		{"Will it rain in São Paulo this weekend", "get_weather days=7 place=São Paulo"},
		{"hourly weather in Oslo", "get_weather hours=24 place=Oslo"},
		{"What's the weather in Boston tomorrow, in Fahrenheit?", "get_weather days=2 place=Boston units=imperial"},
		{"weather Oslo", "get_weather place=Oslo"},
		{"wie wird das Wetter in Köln morgen?", "get_weather days=2 place=Köln"},
		{"weather?", "“For which place?”"},
		{"What is 15% of 80?", "calculate expression=15/100*80"},
		{"12 * (3+4)", "calculate expression=12 * (3+4)"},
		{"how much is 1,200 divided by 7", "calculate expression=1200 / 7"},
		{"2026-11-21", "search_notes query=2026-11-21"},
		{"what day is it?", "today"},
		{"what time is it in Tokyo", "today zone=Asia/Tokyo"},
		{"search the web for marathon tips", "brave_web_search query=marathon tips"},
		{"what links to running/plan.md?", "note_links path=running/plan.md"},
		{"Show me the backlinks of [[The Plan]]", "note_links path=[[The Plan]]"},
		{"Welche Notizen verweisen auf plan.md?", "note_links path=plan.md"},
		{"what links to better sleep?", "search_notes query=links better sleep"},
		{"Read https://tips.example/a?b=c#d.", "web_fetch url=https://tips.example/a?b=c#d"},
		{"summarize the page http://tips.example/ please", "web_fetch url=http://tips.example/"},
		{"what does https://tips.example/marathon say about drinking?", "web_fetch url=https://tips.example/marathon"},
		{"https://tips.example/", "web_fetch url=https://tips.example/"},
		{"lies den Artikel https://tips.example/a", "web_fetch url=https://tips.example/a"},
		{"crawl the docs at https://docs.example/start, and tell me how to begin", "crawl url=https://docs.example/start"},
		{"Search the web for marathon tips and read https://tips.example/x", "brave_web_search query=marathon tips; web_fetch url=https://tips.example/x"},
		{"add a task to read https://tips.example/", "add_task text=read https://tips.example/"},

		// a tool by name
		{"@search_notes garlic soup", "search_notes query=garlic soup"},
		{"/list_tasks status=overdue", "list_tasks status=overdue"},
		{`/add_task text="buy milk" due=2026-01-01`, "add_task due=2026-01-01 text=buy milk"},
		{`/get_weather {"place":"Oslo","days":3}`, "get_weather days=3 place=Oslo"},
		{"/read_note notes.md from=3", "read_note from=3 path=notes.md"},
		{"/add_task", "“`add_task` needs text.”"},
		{"/frobnicate x", "“There is no”"},

		// several requests at once
		{"What's in my notes about running? Also add a task buy shoes and list my tasks.", "search_notes query=running; add_task text=buy shoes; list_tasks status=open"},
		{"make a task to review the plan and then add a task to send it", "add_task text=review the plan; add_task text=send it after 1"},
		{"Thanks! Now list my tasks.", "list_tasks status=open"},
		{"hi, what is due?", "list_tasks status=due"},
		{"What's in my notes about running? Also search the web for marathon tips.", "search_notes query=running; brave_web_search query=marathon tips"},
		{`add a task "salt and then add a task pepper"`, "add_task text=salt and then add a task pepper"},
	} {
		if got := planned(t, &Task{Kind: PlanTask, Question: c[0], Today: aSaturday, Tools: builtIn}); got != c[1] {
			t.Errorf("%q\n got %s\nwant %s", c[0], got, c[1])
		}
	}
}

func TestAQuestionThatLeansTakesTheOneBeforeAlong(t *testing.T) {
	history := []Message{
		{Role: User, Text: "hello"},
		{Role: Assistant, Text: "Hello!"},
		{Role: User, Text: "What is my running plan?"},
		{Role: Assistant, Text: "Three times a week."},
	}
	for question, want := range map[string]string{
		"and in winter?":                    "search_notes query=running plan winter",
		"how long is it?":                   "search_notes query=running plan",
		"tell me more":                      "search_notes query=running plan",
		"what about shoes?":                 "search_notes query=running plan shoes",
		"When is the meeting with Ada?":     "search_notes query=meeting Ada",
		"what did I write about sourdough?": "search_notes query=sourdough",
	} {
		if got := planned(t, &Task{Kind: PlanTask, Question: question, Today: aSaturday, Tools: builtIn, History: history}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
}

func TestAPlanUsesOnlyWhatIsOffered(t *testing.T) {
	onlySearch := builtIn[:1]
	for question, want := range map[string]string{
		"add a task buy milk":      "search_notes query=add task buy milk",
		"what's 2+2?":              "search_notes query=2+2",
		"What do notes say of it?": "search_notes query=What do notes say of it",
	} {
		if got := planned(t, &Task{Kind: PlanTask, Question: question, Today: aSaturday, Tools: onlySearch}); got != want {
			t.Errorf("%q\n got %s\nwant %s", question, got, want)
		}
	}
	if got := planned(t, &Task{Kind: PlanTask, Question: "running", Today: aSaturday}); got != "“I am offline,”" {
		t.Errorf("with no tool: got %s", got)
	}
	// A tool of the same name that takes other arguments gets only those.
	other := []ToolSpec{toolSpec("get_weather", "place", "")}
	if got := planned(t, &Task{Kind: PlanTask, Question: "weather in Oslo tomorrow", Today: aSaturday, Tools: other}); got != "get_weather place=Oslo" {
		t.Errorf("got %s", got)
	}
}

func TestNoMessageTakesLongToPlan(t *testing.T) {
	for _, part := range []string{"a. ", "and ", "note: a. ", "add a task x and ", "1+", " ", "\"", "\n", "weather in ", "。", "what ", "@", "remind me "} {
		for _, size := range []int{maxRequestBytes, maxRuleBytes, 4 << 20} {
			begun := time.Now()
			makePlan(&Task{Kind: PlanTask, Question: strings.Repeat(part, size/len(part)), Today: aSaturday, Tools: builtIn})
			if took := time.Since(begun); took > time.Minute { // 0.3 s when nothing else runs, 14 s under the race detector beside much else
				t.Errorf("%d bytes of %q took %v", size, part, took)
			} else if took > 300*time.Millisecond {
				t.Logf("%d bytes of %q took %v", size, part, took)
			}
		}
	}
}

func TestDaysAreReadFromToday(t *testing.T) {
	for name, want := range map[string]string{
		"today": "2026-11-21", "tonight": "2026-11-21", "tomorrow": "2026-11-22", "the day after tomorrow": "2026-11-23",
		"saturday": "2026-11-28", "sunday": "2026-11-22", "next friday": "2026-11-27", "in 3 days": "2026-11-24", "in two weeks": "2026-12-05",
		"in a month": "2026-12-21", "next week": "2026-11-28", "2027-01-31": "2027-01-31", "3 March": "2027-03-03", "November 30th": "2026-11-30",
		"the 5th of december": "2026-12-05", "1.12.": "2026-12-01", "24.12.2027": "2027-12-24", "March 3, 2028": "2028-03-03",
		"morgen": "2026-11-22", "nächsten montag": "2026-11-23", "in 2 wochen": "2026-12-05", "3. märz": "2027-03-03",
	} {
		if got, ok := readDay(name, aSaturday); !ok || got != want {
			t.Errorf("%q: got %q, want %s", name, got, want)
		}
	}
	for _, none := range []string{"", "someday", "31 june", "in many days", "99", "32.13.2026", "monday tuesday wednesday"} {
		if got, ok := readDay(none, aSaturday); ok {
			t.Errorf("%q: got %q, want none", none, got)
		}
	}
}

// theSources are notes as a search brings them.
var theSources = []Source{
	{N: 1, Title: "git/undo-last-commit.md:1 Undo The Last Commit", Text: "# Undo The Last Commit\n\nSometimes you want to undo a commit but keep the changes. Use a soft reset:\n\n```bash\n$ git reset --soft HEAD~1\n```\n\nThis leaves everything [7] staged. See <b>more</b> ![x](http://evil.example/p.png)."},
	{N: 2, Title: "git/stash.md:4 Stash", Text: "Stash your changes with `git stash`.\n- keep it **short\n| a | b |"},
	{N: 3, Title: "recipes/bread.md:2 Bread", Text: "Flour and water.\n\n- 500 g flour\n- 350 g water, warm\n- [ ] buy yeast"},
	{N: 4, Title: "https://example.org/bread", Text: "Bakers call the share of water “hydration”.", Foreign: true},
}

func explained(question string, sources []Source, results ...Result) string {
	return makeAnswer(&Task{Kind: ExplainTask, Question: question, Sources: sources, Results: results})
}

func TestAnswersQuoteWhatFits(t *testing.T) {
	searched := Result{Tool: "search_notes", Status: "done", Cited: true}
	for name, c := range map[string]struct{ got, want string }{
		"the sentence and the code it leads to": {
			explained("How do I undo the last commit but keep the changes?", theSources, searched),
			"Your notes say:\n\n“Sometimes you want to undo a commit but keep the changes. Use a soft reset:” [1]\n\n```\n$ git reset --soft HEAD~1\n```",
		},
		"several notes, the user's own first": {
			explained("flour water and the share of it", theSources, searched),
			"This is in your notes:\n\n“Flour and water.” [3]\n\nFrom elsewhere:\n\n“Bakers call the share of water \"hydration\".” [4]",
		},
		"that the notes don't say": {
			explained("what is quantum chromodynamics?", theSources[:2], searched),
			"Your notes don't say anything about “quantum chromodynamics”.",
		},
		"that there is nothing": {
			explained("Was weiß ich über die Steuer?", nil, Result{Tool: "search_notes", Status: "done"}),
			"Das steht nicht in deinen Notizen: „weiß Steuer“.",
		},
		"what a tool did": {
			explained("add a task", nil, Result{Tool: "add_task", Status: "done", Text: "Added to tasks.md:3: buy milk"}),
			"Added to tasks.md:3: buy milk",
		},
		"what did not work": {
			explained("weather in Oslo", nil, Result{Tool: "get_weather", Status: "failed", Text: "no such host\n# oh"}, Result{Tool: "add_task", Status: "denied", Text: "nobody can be asked"}, Result{Tool: "today", Status: "skipped", Text: "step 1 failed"}),
			"`get_weather` did not work: no such host \\# oh.\n\n`add_task` was not allowed to run: nobody can be asked.\n\n`today` was left out: step 1 failed.",
		},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, c.got, c.want)
		}
	}
}

func TestWhatWasSaidEarlierIsQuoted(t *testing.T) {
	got := makeAnswer(&Task{
		Kind: ExplainTask, Question: "what is my cat called?",
		History: []Message{{Role: User, Text: "Hi. My cat is called Miso."}, {Role: Assistant, Text: "Nice."}},
		Results: []Result{{Tool: "search_notes", Status: "done"}},
	})
	if got != "Earlier you said: “My cat is called Miso.”" {
		t.Errorf("got %s", got)
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
			out := explained(question, []Source{{N: 1, Title: title, Text: text}})
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

// FuzzPlan: any message gives a plan in JSON of offered tools, with the
// arguments that they need and no others, or an answer.
func FuzzPlan(f *testing.F) {
	for _, seed := range []string{
		"hi", "add a task x on friday", "/add_task text=1", "@today", "note: a\nb. list my tasks", "weather in x", "1+1", "/x", "@", "/", "mark  as done",
		"create a note \"\": x", "remind me in 5 days to x and then add a task to y", "what time is it in ../etc", "search \"unclosed", "und was ist mit dem?", "读书 笔记。",
	} {
		f.Add(seed, "What is my running plan?")
	}
	f.Fuzz(func(t *testing.T, question, before string) {
		text := makePlan(&Task{Kind: PlanTask, Question: question, Today: aSaturday, Tools: builtIn, History: []Message{{Role: User, Text: before}}})
		var p plan
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if (p.Answer == "") == (len(p.Steps) == 0) {
			t.Fatalf("neither or both of answer and steps: %s", text)
		}
		if len(p.Steps) > maxPlanSteps {
			t.Fatalf("%d steps", len(p.Steps))
		}
		for i, s := range p.Steps {
			spec, ok := offered(builtIn, s.Tool)
			if !ok || s.ID != fmt.Sprint(i+1) {
				t.Fatalf("step %+v", s)
			}
			if fitted := fit(spec, s.Input); len(fitted) != len(s.Input) || fitted == nil {
				t.Fatalf("arguments %v of %s", s.Input, s.Tool)
			}
			for _, id := range s.After {
				if id >= s.ID && len(id) == len(s.ID) {
					t.Fatalf("step %s after %s", s.ID, id)
				}
			}
		}
	})
}

func BenchmarkAnswer(b *testing.B) {
	for b.Loop() {
		explained("How do I undo the last commit but keep the changes?", theSources, Result{Tool: "search_notes", Status: "done", Cited: true})
	}
}

func TestQuestionsOfATimeAreAnsweredByWhatWasFound(t *testing.T) {
	searched := Result{Tool: "search_notes", Status: "done", Cited: true}
	day := []Source{{N: 1, Title: "journal/2026-03-17.md:1 Tuesday", Text: "# Tuesday\n\n- Fixed the bike.", Score: 1, Dated: true}, {N: 2, Title: "other.md:1", Text: "Happened upon a shop.", Score: 0.5}}
	for _, question := range []string{
		"what did I do yesterday?", "Was habe ich gestern gemacht?", "Was ist am Dienstag passiert?", "what happened last week?", "昨天我做了什么？",
		"what did I write this week?", "was war vor zwei Tagen los?", "what did I do two days ago",
	} {
		if got := explained(question, day, searched); !strings.Contains(got, "“Fixed the bike.” [1]") {
			t.Errorf("%s: %s", question, got)
		}
	}
	if got := explained("What did I eat yesterday?", day[:1], searched); got != "Your notes don't say that in these words.\n\n“Fixed the bike.” [1]" {
		t.Errorf("of a day whose note has other words: %s", got)
	}
	if got := explained("What did I do last week?", day[1:], searched); got != "Your notes don't say anything about “last week”." {
		t.Errorf("of a time that no note is of: %s", got)
	}
	lisbon := []Source{{N: 1, Title: "trip.md:1", Text: "We went to Lisbon by train.", Score: 1}}
	if got := explained("before:2026-11-01 path:journal Lisbon", lisbon, searched); !strings.HasPrefix(got, "Your notes say:") {
		t.Errorf("a filter counts as a word that the note lacks: %s", got)
	}
	if got := explained("tag:baking Kaution", nil, searched); got != "Your notes don't say anything about “Kaution”." {
		t.Errorf("got %s", got)
	}
}
