//go:build unix

package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/llm/llmtest"
)

const asksSecondReader = "You compare sentences with passages"

// readsTwice serves a model that answers with a paraphrase and a quotation, and then judges its
// answer.
func readsTwice(t *testing.T) (server string) {
	script := llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}}]}`, Always: true},
		llmtest.Answer{Match: asksExplainer, Text: "You train often [1]. You said: “I run three times a week” [1].", Always: true},
		llmtest.Answer{Match: asksSecondReader, Text: `{"verdicts":[{"sentence":1,"verdict":"supported"}]}`, Always: true},
		llmtest.Answer{Text: "Running", Always: true},
	)
	return llmtest.Serve(t, script)
}

// The model's judgement of its answer is in `ask --check`, in JSON, and in the conversation.
// Without --check there is none.
func TestAskCheckPrintsTheModelsVerdicts(t *testing.T) {
	t.Parallel()
	vault, run := apptest.Vault(t), commandsOver(t, readsTwice(t))
	verdicts := func(args ...string) (list []agent.Verdict, conversation string) {
		out, _ := run(append([]string{"ask", "--json", "--notes", vault, "how often do I run?"}, args...)...)
		var result askResult
		if err := json.Unmarshal([]byte(out), &result); err != nil {
			t.Fatal(err)
		}
		for _, c := range result.Citations {
			list = append(list, c.Verdict)
		}
		return list, result.Conversation
	}
	if got, _ := verdicts(); jsonOf(got) != jsonOf([]agent.Verdict{agent.Cites, agent.Verified}) {
		t.Errorf("unasked it says %v", got)
	}
	got, conversation := verdicts("--check")
	if jsonOf(got) != jsonOf([]agent.Verdict{agent.Supported, agent.Verified}) {
		t.Errorf("asked it says %v", got)
	}
	_, stderr := run("ask", "--check", "--notes", vault, "how often do I run?")
	exported, _ := run("chats", "export", conversation)
	for name, where := range map[string]string{"told": stderr, "exported": exported} {
		if !strings.Contains(where, "model: supported") {
			t.Errorf("%s is\n%s", name, where)
		}
	}
}

// /check, and its key on an answer, show the model's judgement in the chat.
func TestModelChecksAnAnswerInTheChat(t *testing.T) {
	t.Parallel()
	env := []string{"LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST=" + readsTwice(t), "LIFEHUB_MODEL=" + llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none"}
	for name, c := range map[string]struct {
		arg   []string
		check string
	}{
		"the command":        {nil, "/check\r"},
		"the key":            {nil, "\tc"},
		"the command, plain": {[]string{"--plain"}, "/check\r"},
	} {
		t.Run(name, func(t *testing.T) {
			term := startTerminal(t, 100, 40, env, append([]string{"chat", "--notes", apptest.Vault(t)}, c.arg...)...)
			if c.arg == nil {
				term.sees("2 notes")
			} else {
				term.sees("/help lists the commands")
			}
			term.types("how often do I run?\r")
			term.sees("You train often", "✓", "changed nothing") // the turn is over
			if strings.Contains(term.sent(), "model: ") {
				t.Error("the model was asked unasked")
			}
			term.types(c.check)
			term.sees("model: supported")
		})
	}
}
