package turn

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"lifehub/agent/prompt"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"

	"lifehub/internal/testenv"
)

// tokenizers count like those of several kinds of models.
var tokenizers = map[string]func(string) int{
	"four bytes a token": func(s string) int { return (len(s) + 3) / 4 },
	"three bytes":        func(s string) int { return (len(s) + 2) / 3 },
	"two bytes":          func(s string) int { return (len(s) + 1) / 2 },
	"a word and a half":  func(s string) int { return len(strings.Fields(s)) * 3 / 2 },
}

// Whatever the size of a prompt and however the server counts, everything that was sent
// arrives, including the canary at its beginning, or the user is notified.
func TestNoPromptIsCutInSilence(t *testing.T) {
	testenv.WithoutRace(t)
	const window = 4096
	for _, protocol := range []string{"ollama", "openai"} {
		for name, count := range tokenizers {
			t.Run(protocol+", "+name, func(t *testing.T) {
				whole, notified, silent, sizes := 0, 0, 0, testenv.Rounds(12, 30)
				if name == "four bytes a token" || name == "two bytes" { // the usual case and the worst case
					sizes = testenv.Rounds(40, 100)
				}
				for i := range sizes {
					words := int(float64(window) * math.Pow(2, -2+4*float64(i)/float64(sizes))) // from a quarter of the window to four windows
					switch arrived, reported := askLong(t, protocol, count, window, 0, words); {
					case arrived && !reported:
						whole++
					case reported:
						notified++
					default:
						silent++
						t.Errorf("%d words: a part is missing and nobody was told", words)
					}
				}
				t.Logf("%d prompts: %d whole, %d cut and told, %d cut in silence", sizes, whole, notified, silent)
			})
		}
	}
}

// A server with OpenAI's protocol may hide its window: Ollama's default is 4096. What it
// drops of a prompt that is longer by more than a third is noticed.
func TestServersOwnLittleWindowIsFound(t *testing.T) {
	testenv.WithoutRace(t)
	sizes := testenv.Rounds(40, 100)
	whole, notified := 0, 0
	for i := range sizes {
		words := int(4096 * math.Pow(2, -2+4*float64(i)/float64(sizes)))
		switch arrived, reported := askLong(t, "openai", tokenizers["four bytes a token"], 16384, 4096, words); {
		case reported:
			notified++
		case arrived:
			whole++
		case words > 2600:
			t.Errorf("%d words: cut in silence", words)
		}
	}
	t.Logf("%d prompts: %d whole, %d cut and told", sizes, whole, notified)
}

// askLong asks a new agent a long question in a long conversation, with a canary at the
// beginning of each prompt. It reports whether every prompt arrived complete, and
// whether the user was notified otherwise. own is the server's window if it differs
// from the requested one.
func askLong(t *testing.T, protocol string, count func(string) int, window, own, words int) (arrived, reported bool) {
	t.Helper()
	server := &llmtest.Truncating{Count: count, Window: own, Answer: func(system string) string {
		if strings.Contains(system, "You plan") {
			return searchStep
		}
		return "Done."
	}}
	if own == 0 && protocol == "openai" {
		server.Window = window
	}
	server.Start(t)
	settings := llm.Settings{Provider: protocol, OllamaHost: server.URL, OpenAIURL: server.URL + "/v1", Model: llmtest.FaultModel, Window: window}
	provider, err := servers.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer provider.Close()
	kept := &shelf{}
	for i := range 3 {
		kept.messages = append(kept.messages, llm.Message{Role: llm.User, Text: manyWords(words/8, i)}, llm.Message{Role: llm.Assistant, Text: manyWords(words/8, -i)})
	}
	found := &fakeTool{name: "search_notes", result: agent.Result{Text: manyWords(words/2, 7)}}
	a := New(Options{
		Model: provider, Server: prompt.ServerOf(provider), History: kept, Tools: tools(found), Instructions: "CANARY",
	})
	events := collect(a.Ask(t.Context(), "c1", "What of this? "+manyWords(words/4, 3)), nil)
	ended(t, events)
	for _, n := range bodies[agent.Noticed](events) {
		reported = reported || strings.Contains(n.Text, "truncated the prompt")
	}
	arrived = server.Cuts() == 0
	for _, prompt := range server.Seen() {
		arrived = arrived && strings.HasPrefix(prompt, "CANARY")
	}
	return arrived, reported
}

// manyWords returns this many words, all slightly different.
func manyWords(words, seed int) string {
	list := strings.Fields("the boiler in cellar was mended on Tuesday by Ines who wrote that pressure had fallen below one bar again and a valve leaked")
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "%s ", list[(i*7+seed*3+i/len(list)+len(list)*8)%len(list)])
	}
	return b.String()
}

// A window in which no prompt fits is reported once, however often it is tried.
func TestOmissionsOfPromptsAreReportedOnce(t *testing.T) {
	kept := &shelf{}
	for range 6 {
		kept.messages = append(kept.messages, llm.Message{Role: llm.User, Text: "and then?"}, llm.Message{Role: llm.Assistant, Text: strings.Repeat("all that was said ", 200)})
	}
	model := &failing{fault: line{err: &llm.StatusError{Code: 400, Message: "too long"}}}
	events := collect(New(Options{Model: model, History: kept, Tools: tools(search()), Server: &agenttest.Server{Tokens: 900}}).Ask(t.Context(), "c1", "go"), nil)
	counts := map[string]int{}
	for _, n := range bodies[agent.Noticed](events) {
		if counts[n.Text]++; counts[n.Text] > 1 {
			t.Errorf("told again: %s", n.Text)
		}
	}
	if len(counts) < 2 {
		t.Errorf("told %v", counts)
	}
}
