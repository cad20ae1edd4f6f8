//go:build unix

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

const (
	asksForValue = "You write an answer down as a JSON value"
	runsSchema   = `{"type":"object","properties":{"times":{"type":"integer"},"days":{"type":"array",` +
		`"items":{"type":"string"}}},"required":["times","days"],"additionalProperties":false}`
	howOften  = "how often do I run?"
	runsValue = `{"times":3,"days":["Tuesday","Thursday","Sunday"]}`
)

// withSchema asks a question with a schema, of a model that gives these values. It returns the
// requests for a value.
func withSchema(t *testing.T, question string, values []string,
	args ...string,
) (stdout, stderr string, code int, requests []llm.Request) {
	t.Helper()
	script := llmtest.NewScript(
		says(asksPlanner, `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"`+question+`"}}]}`),
		says(asksExplainer, "You wrote “I run three times a week” [1]."),
	)
	for _, v := range values {
		script.Say(v)
	}
	home := t.TempDir()
	schema := filepath.Join(home, "schema.json")
	apptest.Write(t, schema, runsSchema)
	cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{
		"ask", "--schema", schema, "--notes",
		apptest.Vault(t), question,
	}, args...)...)
	cmd.Dir = home
	cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=ollama", "LIFEHUB_MODE=plan",
		"OLLAMA_HOST="+llmtest.Serve(t, script), "LIFEHUB_MODEL="+llmtest.ServedModel, "LIFEHUB_MODE=plan",
		"LIFEHUB_EMBED_MODEL=none")
	var out, told strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &told
	_ = cmd.Run() // the exit code says it
	for _, r := range script.Requests() {
		if strings.HasPrefix(r.Messages[0].Text, asksForValue) {
			requests = append(requests, r)
		}
	}
	return out.String(), told.String(), cmd.ProcessState.ExitCode(), requests
}

func TestAskPrintsAValueThatFitsTheSchema(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, c := range map[string]struct {
		values []string
		asked  int
	}{
		"at once":        {[]string{runsValue}, 1},
		"in a block":     {[]string{"```json\n" + runsValue + "\n```"}, 1},
		"after a repair": {[]string{`{"times":"thrice"}`, "Here it is: " + runsValue}, 2},
	} {
		out, stderr, code, requests := withSchema(t, howOften, c.values)
		if code != 0 || out != runsValue+"\n" || !strings.Contains(stderr, "[1] running.md") {
			t.Errorf("%s: exit %d, stdout %q, stderr %s", name, code, out, stderr)
		}
		if len(requests) != c.asked {
			t.Fatalf("%s: %d requests, want %d", name, len(requests), c.asked)
		}
		last := requests[c.asked-1]
		if string(last.Schema) != runsSchema {
			t.Errorf("%s: the server was asked for %s", name, last.Schema)
		}
		if text := last.Messages[len(last.Messages)-1].Text; c.asked == 2 &&
			!strings.Contains(text, "missing property 'days'") {
			t.Errorf("%s: the model was told %q", name, text)
		}
	}
}

func TestAskJSONHasAnswerCitationsAndValue(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	out, stderr, code, _ := withSchema(t, howOften, []string{runsValue}, "--json")
	var got askResult
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, stderr)
	}
	if string(got.Value) != runsValue || got.Answer != "You wrote “I run three times a week” [1]." ||
		len(got.Citations) != 1 || got.Citations[0].Verdict != agent.Verified {
		t.Errorf("it prints %s", out)
	}
}

func TestAskFailsWithoutAValueThatFits(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	out, stderr, code, requests := withSchema(t, howOften, []string{"three times", `{"times":3}`})
	if code != 1 || out != "" || len(requests) != 2 || !strings.Contains(stderr, "missing property 'days'") {
		t.Errorf("exit %d, %d requests, stdout %q, stderr %s", code, len(requests), out, stderr)
	}
	out, _, code, _ = withSchema(t, howOften, []string{"three times", `{"times":3}`}, "--json")
	var got askResult
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 1 || got.Exit != 1 || got.Value != nil ||
		got.Answer == "" || !strings.Contains(got.Error, "no value") {
		t.Errorf("as JSON: exit %d, %v: %s", code, err, out)
	}
}

func TestAskHasNoValueWhereTheNotesDontSay(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	out, stderr, code, requests := withSchema(t, "which zebra did Ptolemy photograph running past the museum harbour "+
		"of Ulaanbaatar?", []string{runsValue})
	if code != 1 || out != "" || len(requests) != 0 || !strings.Contains(stderr, "no value") {
		t.Errorf("exit %d, %d requests, stdout %q, stderr %s", code, len(requests), out, stderr)
	}
}

func TestAskRefusesASchemaThatExpandsTooFar(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	defs := `"a28":{}`
	for i := range 28 {
		defs += fmt.Sprintf(`,"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%[2]d"}]}`, i, i+1)
	}
	for _, text := range []string{`{"$ref":"#/$defs/a0","$defs":{` + defs + `}}`, `{"minimum":1e999999999}`} {
		file := filepath.Join(t.TempDir(), "schema.json")
		apptest.Write(t, file, text)
		err := (&askCommand{schemaFile: file}).readSchema(t.Context())
		var usage settings.UsageError
		if !errors.As(err, &usage) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.40s: got %v", text, err)
		}
	}
}

func TestAskReadsASchemaWithinBounds(t *testing.T) {
	t.Parallel()
	large := filepath.Join(t.TempDir(), "schema.json")
	apptest.Write(t, large, `{"description":"`+strings.Repeat("x", 2<<20)+`"}`)
	var usage settings.UsageError
	for _, file := range []string{large, large + ".none"} {
		if err := (&askCommand{schemaFile: file}).readSchema(t.Context()); !errors.As(err, &usage) ||
			!strings.Contains(err.Error(), "--schema") {
			t.Errorf("%s: got %v", file, err)
		}
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&askCommand{schemaFile: pipe}).readSchema(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a pipe that nobody writes to: got %v", err)
	}
}
