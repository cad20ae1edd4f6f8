//go:build unix

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"

	"lifehub/internal/testenv"
)

const seedQuestion = "What's in my notes about running? Also search the web for marathon training tips."

// says and calls return answers for the role that asks.
func says(who, text string) llmtest.Answer { return llmtest.Answer{Match: who, Text: text} }

func calls(who string, pairs ...string) llmtest.Answer {
	a := llmtest.Answer{Match: who}
	for i := 0; i < len(pairs); i += 2 {
		a.Calls = append(a.Calls, llm.ToolCall{
			ID: fmt.Sprintf("c%d", i/2+1), Name: pairs[i],
			Args: json.RawMessage(pairs[i+1]),
		})
	}
	return a
}

const (
	seedAnswer = "You run three times a week [1]. From the web: drink early, and run the long run slowly."
	seedPlan   = `{"reasoning":"notes and web","steps":[{"id":"1","tool":"search_notes","input":{"query":"running"},` +
		`"description":"what the notes say"},` +
		`{"id":"2","tool":"brave_web_search","input":{"query":"marathon training tips"},"description":"tips of the ` +
		`web"}],"answer":""}`
	passes = `{"passed":true,"score":0.9,"feedback":"It does the task."}`
)

var seedTeam = calls(asksLead,
	"delegate", `{"worker_type":"notes","task_description":"NOTES: what do the notes say about running?",`+
		`"success_criteria":"It names how often."}`,
	"delegate", `{"worker_type":"search","task_description":"WEB: find marathon training tips.",`+
		`"success_criteria":"It names two tips."}`)

// TestSeedStories runs the examples of the systems that LifeHub combines through the whole program:
// real notes, a real MCP server that searches, the journal, and the events of --stream-json. Only
// the model's text is scripted; its form is Ollama's.
func TestSeedStories(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, story := range map[string]struct {
		mode, question string
		words          []llmtest.Answer
	}{
		"notes and web by a plan": {"plan", seedQuestion, []llmtest.Answer{
			says(asksPlanner, seedPlan),
			says(asksExplainer, seedAnswer),
		}},
		"notes and web by a loop": {"loop", seedQuestion, []llmtest.Answer{
			calls(asksLoop, "search_notes", `{"query":"running"}`, "brave_web_search",
				`{"query":"marathon training tips"}`), says(asksLoop, seedAnswer),
		}},
		"notes and web by a team": {"team", seedQuestion, []llmtest.Answer{
			seedTeam, says(asksLead, seedAnswer), says(asksJudge, passes), says(asksJudge, passes),
			calls("NOTES", "search_notes", `{"query":"running"}`),
			calls("WEB", "brave_web_search", `{"query":"marathon training tips"}`),
			says("NOTES", "Three times a week (running.md:3)."),
			says("WEB", "Drink early; run the long run slowly (runs.example)."),
		}},
		"how many stories, by two searches": {"plan", "How many stories have the upstream keyword?", []llmtest.Answer{
			says(asksPlanner, `{"reasoning":"several aspects","tasks":[{"task_number":1,`+
				`"tool_name":"brave_web_search","tool_arguments":{"query":"upstream keyword"}},`+
				`{"task_number":2,"tool_name":"brave_web_search","tool_arguments":{"query":"upstream tag:backend"}}]}`),
			says(asksExplainer, "12 stories carry the keyword upstream, 5 of them the tag backend."),
		}},
		"hello at the lead": {"team", "hello, how are you", []llmtest.Answer{says(asksLead, "Hi! How can I help?")}},
		"search for AI news, to the search": {"team", "search for AI news", []llmtest.Answer{
			calls(asksLead, "delegate", `{"worker_type":"search","task_description":"WEB: find the latest AI news.",`+
				`"success_criteria":"It names one."}`),
			says(asksJudge, passes), says(asksLead, "Small models plan, call tools and check each other."),
			calls("WEB", "brave_web_search", `{"query":"AI news"}`),
			says("WEB", "Small models plan, call tools and check each other (news.example)."),
		}},
		"decide, search, decide again": {"loop", "What is machine learning?", []llmtest.Answer{
			calls(asksLoop, "search_notes", `{"query":"machine learning"}`),
			calls(asksLoop, "brave_web_search", `{"query":"machine learning"}`),
			says(asksLoop, "The web says: it finds rules from examples instead of being given them."),
		}},
		"a document made, by two workers": {"team", "帮我分析一下 Python 异步编程的最佳实践", []llmtest.Answer{
			calls(asksLead, "delegate", `{"worker_type":"search","task_description":"WEB: asyncio best practices",`+
				`"success_criteria":"两条"}`),
			calls(asksLead, "delegate", `{"worker_type":"general","task_description":"WRITE: a document of `+
				`{{1.text}}","success_criteria":"It is made."}`),
			says(asksJudge, passes), says(asksJudge, passes), says(asksLead, "文档 asyncio 已经写好了。"),
			calls("WRITE", "create_artifact", `{"name":"asyncio","text":"# asyncio\n\n- TaskGroup\n- timeouts\n",`+
				`"why":"用户要的分析"}`), says("WRITE", "The document asyncio is made."),
			calls("WEB", "brave_web_search", `{"query":"asyncio best practices"}`),
			says("WEB", "Prefer TaskGroup; set timeouts."),
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewScript(story.words...)
			golden.RequireEqual(t, storyOf(t, tellStory(t, llmtest.Serve(t, model), llmtest.ServedModel,
				story.mode, story.question)))
		})
	}
}

// tellStory asks a question in a new home with notes and the search server, and returns the events.
func tellStory(t *testing.T, ollama, model, mode, question string, env ...string) []byte {
	t.Helper()
	return tellIn(t, aHome(t), apptest.Vault(t), ollama, model, mode, question, env...)
}

// aHome returns a home with the search server in its mcp.json.
func aHome(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"brave": map[string]any{
		"command": os.Args[0], "env": map[string]string{
			mcptest.Mode: mcptest.SearchMode,
			"GORACE":     "atexit_sleep_ms=0",
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(home, ".lifehub", "config", "mcp.json"), string(config))
	return home
}

// tellIn asks a question in a home.
func tellIn(t *testing.T, home, vault, ollama, model, mode, question string, env ...string) []byte {
	t.Helper()
	cmd := exec.Command(os.Args[0], "ask", "--stream-json", "--mode", mode, "--allow", "brave_web_search",
		"--notes", vault, question)
	cmd.Dir = home
	cmd.Env = append(asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+ollama,
		"LIFEHUB_MODEL="+model, "LIFEHUB_EMBED_MODEL=none", "LIFEHUB_CONTEXT=16384"), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, stderr.String(), out)
	}
	return out
}

// untold matches what differs between runs or machines.
var untold = []struct {
	what *regexp.Regexp
	with string
}{
	{regexp.MustCompile(`,"(?:turn|seq|time|date|conversation)":(?:"[^"]*"|\d+)`), ""},
	{regexp.MustCompile(`,"(?:took_ms|latency_ms|first_token_ms|prompt_tokens|generating_ms|tokens_per_second|score|` +
		`age_s)":[\d.e+-]+`), ""},
	{regexp.MustCompile(`"vault":"[^"]*"`), `"vault":"VAULT"`},
	{regexp.MustCompile(`"(system|history|question|sources|results|tools|repair|memory|used)":\d+`), `"$1":0`},
	{regexp.MustCompile(`«[0-9a-f]{8}»`), "«»"},
}

// storyOf converts events to a story: pieces of text are joined, variable parts are removed, and
// parallel events are sorted in the order of the plan.
func storyOf(t *testing.T, events []byte) string {
	t.Helper()
	var lines []string
	var keys []string // sort keys of parallel events; "" for others
	said, thought, parallel := "", "", false
	for line := range strings.Lines(string(events)) {
		var e struct {
			Type, Content, Step, Under, Agent string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q is no event: %v", line, err)
		}
		switch {
		case e.Type == "notice" && strings.Contains(line, "The model is loading"):
			continue // depends on the load of the machine
		case e.Type == "token":
			said += e.Content
			continue
		case e.Type == "thinking":
			thought += e.Content
			continue
		}
		for _, text := range []struct {
			kind string
			of   *string
		}{{"thinking", &thought}, {"token", &said}} {
			if *text.of != "" {
				lines, keys = append(lines, fmt.Sprintf("{\"type\":%q,\"content\":%q}\n", text.kind, *text.of)),
					append(keys, "")
				*text.of = ""
			}
		}
		switch {
		case e.Type == "step":
			parallel = true
		case e.Step == "" && e.Under == "":
			parallel = false
		}
		key := ""
		if parallel {
			key, _, _ = strings.Cut(e.Step+e.Under, ".")
		}
		for _, u := range untold {
			line = u.what.ReplaceAllString(line, u.with)
		}
		lines, keys = append(lines, line), append(keys, key)
	}
	return strings.Join(inOrder(lines, keys), "")
}

// inOrder sorts each run of lines that have keys.
func inOrder(lines, keys []string) []string {
	order := make([]int, len(lines))
	for i := range order {
		order[i] = i
	}
	for from := 0; from < len(order); from++ {
		to := from
		for to < len(order) && keys[order[to]] != "" {
			to++
		}
		slices.SortStableFunc(order[from:to], func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
		from = to
	}
	sorted := make([]string, len(lines))
	for i, at := range order {
		sorted[i] = lines[at]
	}
	return sorted
}
