//go:build unix

package cli

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// TestRealOllamaInLoopAndTeam asks the seeds' question with a real Ollama server: native tool
// calls, thinking apart from the answer, and structured decisions, each as the server's parsers
// return them for a tiny model's output.
func TestRealOllamaInLoopAndTeam(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	server := llmtest.StartEmptyOllama(t)
	server.Create(llmtest.Minds("scripted-minds"))
	for _, mode := range []string{"loop", "team"} {
		t.Run(mode, func(t *testing.T) {
			events := tellStory(t, server.URL, "scripted-minds", mode, seedQuestion, "LIFEHUB_THINK=on")
			if mode == "loop" {
				if !bytes.Contains(events, []byte(`"type":"thinking"`)) {
					t.Error("no thought was told")
				}
				if n := strings.Count(string(events), `"type":"token"`); n < 3 {
					t.Errorf("the answer came in %d pieces", n)
				}
			}
			golden.RequireEqual(t, storyOf(t, inOneOrder(events)))
		})
	}
}

var delegated = regexp.MustCompile(`\{(\\*"[a-z_]+\\*":\\*"[^"\\]*\\*",?){3}\}`)

// inOneOrder sorts the arguments of delegate, which Ollama keeps in a map.
func inOneOrder(events []byte) []byte {
	return delegated.ReplaceAllFunc(events, func(object []byte) []byte {
		pairs := strings.Split(strings.Trim(string(object), "{}"), ",")
		slices.Sort(pairs)
		return []byte("{" + strings.Join(pairs, ",") + "}")
	})
}
