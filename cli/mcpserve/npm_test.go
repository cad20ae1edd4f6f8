package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

func TestClientInAnotherLanguage(t *testing.T) {
	t.Parallel()
	modules := filepath.Dir(filepath.Dir(testenv.Npm(t, "@modelcontextprotocol/server-everything")))
	dir := vault(t)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "testdata/client.js",
		filepath.Join(modules, "@modelcontextprotocol", "sdk"), dir, os.Args[0], "--writes", "--notes", dir)
	cmd.Env = append(os.Environ(), environ(t.TempDir())...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var got struct {
		Tools, Resources, Templates, Completed, Prompts, Asked []string
		Found                                                  passage
		Checked                                                []Verdict
		Added, Read, Prompt, Cancelled, Changed                string
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for what, holds := range map[string]bool{
		"tools":     len(got.Tools) == 12 && slices.Contains(got.Tools, "check_citations"),
		"found":     got.Found.Path == "running/plan.md" && strings.Contains(got.Found.Text, "three times a week"),
		"checked":   len(got.Checked) == 1 && got.Checked[0].Verdict == "verified" && got.Checked[0].Line == 3,
		"added":     strings.HasPrefix(got.Added, "added to tasks.md:4"),
		"asked":     len(got.Asked) == 1 && strings.Contains(got.Asked[0], "+ - [ ] buy laces"),
		"resources": len(got.Resources) == 5 && slices.Contains(got.Resources, "note:///shoes.md"),
		"templates": slices.Equal(got.Templates, []string{"note:///{+path}"}),
		"read":      strings.HasPrefix(got.Read, "# Running plan\n"),
		"completed": slices.Equal(got.Completed, []string{"shoes.md"}),
		"prompts":   len(got.Prompts) == 3 && strings.Contains(got.Prompt, "How far?"),
		"cancelled": got.Cancelled == "cancelled",
		"changed":   got.Changed == "yes",
	} {
		if !holds {
			t.Errorf("%s: %s", what, out)
		}
	}
}

// The official inspector lists, calls and reads in both protocol versions.
func TestInspectorWorks(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	inspector, dir := testenv.Inspector(t), vault(t)
	server := []string{os.Args[0], "--writes", "--notes", dir}
	for _, variable := range environ(t.TempDir()) { // it passes few variables on
		server = append(server, "-e", variable)
	}
	for _, c := range []struct {
		args string
		want string
	}{
		{"--protocol-era legacy --method tools/list --strict", `"name": "check_citations"`},
		{
			"--protocol-era modern --method tools/call --tool-name search_notes --tool-arg query=Brisk",
			`"path": "shoes.md"`,
		},
		{"--protocol-era legacy --method tools/call --tool-name check_citations --tool-args-json " +
			"{\"text\":\"“The·Brisk·Lane·have·431·km.”·[shoes.md:3]\"}", `"verdict": "verified"`},
		{"--protocol-era modern --method resources/read --uri note:///shoes.md", "The Brisk Lane have 431 km."},
		{
			"--protocol-era modern --method prompts/get --prompt-name weekly_review --prompt-args day=2026-11-19",
			"from 2026-11-16 to 2026-11-22",
		},
	} {
		t.Run(c.args, func(t *testing.T) {
			args := []string{inspector, "--cli"}
			for arg := range strings.FieldsSeq(c.args) {
				args = append(args, strings.ReplaceAll(arg, "·", " "))
			}
			cmd := exec.Command("node", append(append(args, "--connect-timeout", "0"), server...)...)
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%v: %.2000s", err, out)
			}
		})
	}
}

// scripted is a model server that makes its client search the notes and then quotes the result. It
// sends its client's requests to asked.
func scripted(t *testing.T, asked chan<- string) *httptest.Server {
	sentence := regexp.MustCompile(`I run three times a week[^.]*\.`)
	answers := func(body []byte) (delta map[string]any, why string) {
		var request struct {
			Tools []struct {
				Function struct{ Name string }
			}
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err := json.Unmarshal(body, &request); err != nil || len(request.Messages) == 0 {
			return map[string]any{"content": "?"}, "stop"
		}
		last := request.Messages[len(request.Messages)-1]
		if last.Role == "tool" {
			found := sentence.FindString(string(last.Content))
			asked <- "result " + found
			return map[string]any{"content": "Your plan says “" + found + "” [running/plan.md]"}, "stop"
		}
		for _, tool := range request.Tools {
			if strings.HasSuffix(tool.Function.Name, "search_notes") {
				asked <- "tool " + tool.Function.Name
				call := map[string]any{
					"index": 0, "id": "call_1", "type": "function",
					"function": map[string]any{
						"name":      tool.Function.Name,
						"arguments": `{"query":"how often do I run each week"}`,
					},
				}
				return map[string]any{"role": "assistant", "tool_calls": []any{call}}, "tool_calls"
			}
		}
		return map[string]any{"content": "Running"}, "stop" // a title
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		delta, why := answers(body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, choice := range []map[string]any{
			{"index": 0, "delta": delta},
			{"index": 0, "delta": map[string]any{}, "finish_reason": why},
		} {
			chunk, _ := json.Marshal(map[string]any{
				"id": "1", "object": "chat.completion.chunk", "created": 1,
				"model": "scripted", "choices": []any{choice},
			})
			fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRealProgramAnswersFromTheNotes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	program := testenv.Opencode(t)
	home, project := t.TempDir(), t.TempDir()
	asked := make(chan string, 100)
	model := scripted(t, asked)
	print := exec.Command(os.Args[0], "--print-config", "cursor", "--notes",
		filepath.Join(testenv.Root(t), "examples", "notes"))
	print.Env = append(os.Environ(), environ(home)...)
	entry, err := print.Output()
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ McpServers map[string]run }
	if err := json.Unmarshal(entry, &file); err != nil {
		t.Fatal(err)
	}
	own := file.McpServers["lifehub"]
	config := map[string]any{
		"autoupdate": false, "model": "own/scripted",
		"mcp": map[string]any{"lifehub": map[string]any{
			"type": "local", "command": append([]string{own.Command}, own.Args...), "environment": own.Env, "enabled": true,
		}},
	}
	config["provider"] = map[string]any{"own": map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "Own",
		"options": map[string]any{"baseURL": model.URL + "/v1", "apiKey": "x"},
		"models":  map[string]any{"scripted": map[string]any{"name": "Scripted"}},
	}}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, filepath.Join(home, ".config", "opencode", "opencode.json"), string(text))
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "run", "-m", "own/scripted", "How often do I run each week?")
	cmd.Dir = project
	cmd.Env = append(environ(home), "PATH="+os.Getenv("PATH"), "OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "I run three times a week: intervals on Tuesday") {
		t.Errorf("%v\n%s", err, out)
	}
	close(asked)
	var steps []string
	for step := range asked {
		steps = append(steps, step)
	}
	if !slices.Contains(steps, "tool lifehub_search_notes") {
		t.Errorf("the model was asked %q", steps)
	}
}
