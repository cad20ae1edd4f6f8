package app_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/openai"
	"lifehub/rag"
)

// Tokens a second of a small model on two cores, rounded down.
const (
	reads  = 60
	writes = 10
)

// asked are questions on the sample notes, each with the sentence that answers it.
var asked = [][2]string{
	{"How much salt did a mule carry?", "A mule carried about 120 kg of salt, and a caravan made 25 km a day."},
	{"Where is the key of Jonas' cabin?", "The key is in the blue watering can."},
	{"What should the pressure of the boiler be?", "Pressure should be between 1.2 and 1.6 bar when cold."},
	{"When is Marta's birthday?", "Birthday on 8 December."},
	{
		"When do I run intervals?",
		"I run three times a week: intervals on Tuesday, an easy hour on Thursday, the long run on Sunday.",
	},
	{"When did the garlic go in?", "Garlic went in on 2026-10-24, four rows, 15 cm apart."},
	{"How much is the rent of the allotment?", "The rent of 96 € a year is due on 1 March."},
	{"How long does the sourdough bake?", "Bake at 250 °C with the lid on for 25 minutes, then at 220 °C without it " +
		"for 20."},
	{"Which size of the Brisk Lane should I order?", "The Brisk Lane come half a size too small: order 43, not 42.5."},
	{"How often does the monstera get water?", "Monstera: water once a week, every ten days in winter."},
}

// waited is how long a user waited for an answer, and what it cost.
type waited struct {
	first, whole            time.Duration // from Enter to the first and last word of the answer
	plainFirst, plainWhole  time.Duration // of one request with the same passages and nothing else
	calls                   int
	prompt, cached, written int // tokens
	right                   bool
}

// times returns how many times as long as the plain request the whole answer took.
func (w waited) times() float64 { return w.whole.Seconds() / w.plainWhole.Seconds() }

// askAtPace asks the first n questions in one conversation on the notes in vault, of a server that has read nothing,
// or, if warm, what the chat has it read before.
func askAtPace(t *testing.T, vault, mode string, n int, warm bool) (list []waited) {
	t.Helper()
	answers := map[string]string{}
	for _, q := range asked {
		answers[q[0]] = q[1]
	}
	server := llmtest.StartPaced(t, reads, writes, answers)
	process := apptest.Process(t.TempDir(), "LIFEHUB_PROVIDER=openai",
		"OPENAI_BASE_URL="+server.URL, "LIFEHUB_MODE="+mode)
	a, err := app.Open(t.Context(), process, app.RunFlags{Notes: []string{vault}, NoSave: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if err := a.Ready(t.Context(), "", &app.Bar{}); err != nil {
		t.Fatal(err)
	}
	follower := server.Follow(a.Provider)
	a.Provider = follower
	if err := a.Provider.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	assistant, conversation := a.Agent(), a.Store.NewConversation()
	if warm {
		a.Warm(t.Context(), assistant, conversation)
	}
	for _, q := range asked[:n] {
		enter, before := server.Now(), len(server.Requests())
		var w waited
		var sources []agent.Source
		for e := range assistant.Ask(t.Context(), conversation, q[0]) {
			switch body := e.Body.(type) {
			case agent.Said:
				w.whole = follower.At(e.Time) - enter
				w.first = cmp.Or(w.first, w.whole)
			case agent.ToolEnded:
				sources = append(sources, body.Sources...)
			case agent.Failed:
				t.Errorf("%s, %s: %s", mode, q[0], body.Message)
			case agent.Ended:
				sources = append(sources, body.Sources...)
				w.right = strings.Contains(body.Answer, q[1])
			}
		}
		requests := server.Requests()[before:]
		for _, r := range requests {
			w.calls++
			w.prompt, w.cached, w.written = w.prompt+r.Prompt, w.cached+r.Cached, w.written+r.Generated
		}
		if len(requests) > 0 {
			w.plain(t, answers, q[0], passages(t, a, q[0], sources, requests[len(requests)-1].Rendered))
		}
		list = append(list, w)
	}
	return list
}

// passages returns the sources that a prompt holds; if it holds none by themselves, what a search finds first.
func passages(t *testing.T, a *app.App, question string, sources []agent.Source, prompt string) (texts []string) {
	t.Helper()
	for _, s := range sources {
		if strings.Contains(prompt, s.Text) && !slices.Contains(texts, s.Text) {
			texts = append(texts, s.Text)
		}
	}
	if len(texts) > 0 {
		return texts
	}
	found, err := a.Search(t.Context(), rag.Query{Text: question, Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found.Passages {
		texts = append(texts, p.Text)
	}
	return texts
}

// plain asks with one request that holds the passages and the question, of a server that has read nothing.
func (w *waited) plain(t *testing.T, answers map[string]string, question string, passages []string) {
	t.Helper()
	server := llmtest.StartPaced(t, reads, writes, answers)
	p, err := openai.New(llm.Settings{OpenAIURL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	message := question
	for i := len(passages) - 1; i >= 0; i-- {
		message = fmt.Sprintf("[%d] %s\n\n%s", i+1, passages[i], message)
	}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: message}}}
	if _, _, err := llm.Collect(p.Stream(t.Context(), req)); err != nil {
		t.Fatal(err)
	}
	r := server.Requests()[0]
	w.plainFirst, w.plainWhole = r.First, r.Ended
}

// mostTimesPlain bounds how many times as long as one plain request the first question and the following ones
// take in auto.
var mostTimesPlain = [...]float64{2.5, 1.75}

// The cost of a whole answer is bounded by that of one request with the same passages.
func TestAnAnswerTakesLittleLongerThanOneRequest(t *testing.T) {
	t.Parallel()
	list := askAtPace(t, sampleNotes(t, 0), "auto", 2, false)
	for i, w := range list {
		t.Logf("%.1f s, %.1f s in all, %.2f times a plain request; %d calls, %d of %d tokens cached",
			w.first.Seconds(), w.whole.Seconds(), w.times(), w.calls, w.cached, w.prompt)
		if !w.right {
			t.Errorf("%s: the answer is not %q", asked[i][0], asked[i][1])
		}
		if w.times() > mostTimesPlain[i] {
			t.Errorf("%s: %.2f times a plain request, at most %.2f are allowed", asked[i][0],
				w.times(), mostTimesPlain[i])
		}
	}
}

// After a warm start, the first question in the chat costs as much as the second, in any mode.
func TestTheFirstQuestionAfterAWarmStartCostsAsMuchAsTheSecond(t *testing.T) {
	t.Parallel()
	vault := sampleNotes(t, 0)
	for _, mode := range []string{"auto", "plan", "loop"} {
		list := askAtPace(t, vault, mode, 2, true)
		first, second := list[0].prompt-list[0].cached, list[1].prompt-list[1].cached
		t.Logf("%s: %d and %d tokens are read", mode, first, second)
		if list[0].calls != list[1].calls || float64(first) > 1.1*float64(second) {
			t.Errorf("%s: the first question has the model read %d tokens in %d calls, the second %d in %d", mode,
				first, list[0].calls, second, list[1].calls)
		}
	}
}

// sampleNotes copies the sample notes into a folder and fills it up to so many notes with notes of another subject.
func sampleNotes(t *testing.T, size int) string {
	t.Helper()
	vault := t.TempDir()
	if err := os.CopyFS(vault, os.DirFS(filepath.Join(testenv.Root(t), "examples", "notes"))); err != nil {
		t.Fatal(err)
	}
	if size == 0 {
		return vault
	}
	have := notesIn(t, os.DirFS(vault))
	others := os.DirFS(testenv.Shared(t, "data/corpora/til-jbranchaud"))
	for _, path := range notesIn(t, others)[:size-len(have)] {
		note, err := fs.ReadFile(others, path)
		if err != nil {
			t.Fatal(err)
		}
		apptest.Write(t, filepath.Join(vault, "learned", path), string(note))
	}
	return vault
}

func notesIn(t *testing.T, dir fs.FS) (paths []string) {
	t.Helper()
	err := fs.WalkDir(dir, ".", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// latencyHeading begins the part of docs/figures/latency.md that TestLatency writes.
const latencyHeading = "## Now\n"

// TestLatency asks the ten questions in each mode, on the sample notes and among 1,866, and writes the tables of
// docs/figures/latency.md (make latency).
func TestLatency(t *testing.T) {
	if os.Getenv("LIFEHUB_LATENCY") == "" {
		t.Skip("LIFEHUB_LATENCY=1 measures how long a user waits (make latency)")
	}
	var turns, sums bytes.Buffer
	for _, size := range []int{0, 1866} {
		vault := sampleNotes(t, size)
		notes := text.Count(len(notesIn(t, os.DirFS(vault))), "note")
		for _, mode := range []string{"auto", "plan", "loop"} {
			list := askAtPace(t, vault, mode, len(asked), false)
			for _, i := range []int{0, len(list) - 1} {
				w := list[i]
				fmt.Fprintf(&turns, "| %s, %s, question %d | %.1f | %.1f | %.1f | %.1f | %.2f | %d | %s | %.0f %% | %d |\n",
					notes, mode, i+1, w.first.Seconds(), w.plainFirst.Seconds(), w.whole.Seconds(),
					w.plainWhole.Seconds(), w.times(),
					w.calls, text.Thousands(w.prompt), 100*float64(w.cached)/float64(w.prompt), w.written)
			}
			if mode == "auto" {
				w := askAtPace(t, vault, mode, 1, true)[0]
				fmt.Fprintf(&turns, "| %s, %s, question 1 after a warm start | %.1f | %.1f | %.1f | %.1f | %.2f | %d "+
					"| %s | %.0f %% | %d |\n",
					notes, mode, w.first.Seconds(), w.plainFirst.Seconds(), w.whole.Seconds(),
					w.plainWhole.Seconds(), w.times(),
					w.calls, text.Thousands(w.prompt), 100*float64(w.cached)/float64(w.prompt), w.written)
			}
			var once, right, calls, prompt, cached int
			var times []float64
			for i, w := range list {
				calls, prompt, cached = calls+w.calls, prompt+w.prompt, cached+w.cached
				if w.right {
					right++
				}
				if w.calls == 1 {
					once++
				}
				if i > 0 {
					times = append(times, w.times())
				}
				t.Logf("%s, %s, %s: %+v", notes, mode, asked[i][0], w)
			}
			slices.Sort(times)
			n := len(list)
			fmt.Fprintf(&sums, "| %s, %s | %d | %d | %.1f | %s | %.0f %% | %.2f | %.2f |\n",
				notes, mode, right, once, float64(calls)/float64(n), text.Thousands(prompt/n),
				100*float64(cached)/float64(prompt), times[len(times)/2], times[len(times)-1])
		}
	}
	file := filepath.Join(testenv.Root(t), "docs", "figures", "latency.md")
	kept, _, found := strings.Cut(apptest.Read(t, file), latencyHeading)
	if !found {
		t.Fatalf("%s has no heading %q", file, latencyHeading)
	}
	apptest.Write(t, file, kept+latencyHeading+
		"\n| turn | first word, s | plain | whole, s | plain | times plain | calls | prompt tokens | cached | "+
		"written |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"+turns.String()+
		"\n| ten questions | right | in one call | calls a turn | prompt tokens a turn | cached | times plain, 2 to "+
		"10 | at most |\n"+
		"|---|---:|---:|---:|---:|---:|---:|---:|\n"+sums.String())
}
