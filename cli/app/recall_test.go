package app_test

import (
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
)

// The recall tool finds what was said in any saved conversation, though nothing of it left its
// window. The setting memory.scope decides only what comes back unasked, and with off it finds facts
// only. Nothing is found of the present turn.
func TestRecallSearchesAllConversations(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("The harbour has forty berths and a crane for masts. ", 200) +
		"Izola charges nineteen euros a night."
	for scope, want := range map[string]struct{ searched, unasked bool }{
		"conversation": {true, false}, "all": {true, true}, "off": {false, false},
	} {
		home := t.TempDir()
		apptest.Write(t, home+"/data/memory/memory.md", "- Ana sails a boat from May on\n")
		conversing := func(flags app.RunFlags, conversation, message, answer string, calls ...[2]string) (here string,
			results []string, unasked []agent.Recollection,
		) {
			a, err := app.Open(t.Context(), apptest.Process(home, "LIFEHUB_MODE=loop", "LIFEHUB_MEMORY_SCOPE="+scope),
				flags)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			a.Provider = &dictated{Provider: a.Provider, calls: calls, answer: answer}
			if here = conversation; here == "" {
				here = a.Store.NewConversation()
			}
			for e := range a.Agent().Ask(t.Context(), here, message) {
				switch body := e.Body.(type) {
				case agent.ToolEnded:
					results = append(results, body.Output+body.Error)
				case agent.Remembered:
					unasked = append(unasked, body.Exchanges...)
				case agent.Failed:
					t.Errorf("%s: the turn failed: %s", scope, body.Message)
				}
			}
			return here, results, unasked
		}
		conversing(app.RunFlags{}, "", "My boat is called Sirene.", "A fine name for a boat.")
		conversing(app.RunFlags{}, "", "What about berths abroad?", long)
		conversing(app.RunFlags{NoSave: true}, "", "The boat has a secret cupboard.", "Noted.")
		here, _, _ := conversing(app.RunFlags{}, "", "The sail of my boat is torn.", "A sailmaker mends it.")

		_, results, unasked := conversing(app.RunFlags{}, here,
			"What did I tell you of my boat?", "It is called Sirene.",
			callOf("recall", "query", "boat"), callOf("recall", "query", "euros a night in Izola"),
			callOf("recall", "query", "quantum chromodynamics"))
		if len(results) != 3 {
			t.Fatalf("%s: got %q", scope, results)
		}
		for i, said := range []string{"called Sirene", "nineteen euros a night"} {
			if strings.Contains(results[i], said) != want.searched ||
				strings.Contains(results[i], "memory.scope") == want.searched {
				t.Errorf("%s: recall found %q", scope, results[i])
			}
		}
		if found := results[0]; !strings.Contains(found, "from May on") ||
			strings.Contains(found, "sail of my boat is torn") != want.searched ||
			strings.Contains(found, "What did I tell you") || strings.Contains(found, "cupboard") {
			t.Errorf("%s: recall found %q", scope, found)
		}
		if strings.Contains(results[2], "memory.scope") == want.searched {
			t.Errorf("%s: nothing found is told as %q", scope, results[2])
		}
		if (len(unasked) > 0) != want.unasked {
			t.Errorf("%s: unasked came back %+v", scope, unasked)
		}
		if _, results, _ = conversing(app.RunFlags{NoSave: true}, "", "And my boat?", "I do not know.",
			callOf("recall", "query", "boat")); len(results) != 1 || !strings.Contains(results[0], "not searched") {
			t.Errorf("%s: without saving, recall found %q", scope, results)
		}
	}
}
