package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/turn"
	"lifehub/internal/text"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/mcpclient/config"
)

// everyTool has a call of each tool of server-everything, and the expected
// result.
var everyTool = map[string]struct{ args, want string }{
	"echo":                  {`{"message":"hello"}`, "hello"},
	"get-annotated-message": {`{"messageType":"error","includeImage":true}`, "[image, image/png"},
	"get-env":               {``, "PATH"},
	"get-resource-links":    {`{"count":3}`, "[resource demo://"},
	"get-resource-reference": {
		`{"resourceType":"Blob","resourceId":2}`,
		"[resource demo://resource/dynamic/blob/2, text/plain",
	},
	"get-structured-content": {`{"location":"Chicago"}`, "temperature"},
	"get-sum":                {`{"a":40,"b":2}`, "42"},
	"get-tiny-image":         {``, "[image, image/png"},
	"get-roots-list":         {``, "file://"},
	"gzip-file-as-resource": {
		`{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`,
		"[resource demo://resource/session/a.gz, application/gzip",
	},
	"toggle-simulated-logging":       {``, "logging"},
	"toggle-subscriber-updates":      {``, "updates"},
	"trigger-elicitation-request":    {``, "Ana"},
	"trigger-long-running-operation": {`{"duration":0.4,"steps":4}`, "completed"},
	"trigger-sampling-request":       {`{"prompt":"why"}`, "because of 42"},
	"trigger-url-elicitation":        {`{"url":"https://x.org/login"}`, "accept"},
}

// performed calls a tool as a turn of the agent does, and returns its result and
// events.
func performed(t *testing.T, tool agent.Tool, args string) (string, []agent.Event) {
	t.Helper()
	if args == "" {
		args = "{}"
	}
	plan := fmt.Sprintf(`{"reasoning":"","steps":[{"id":"1","tool":%q,"input":%s}],"answer":""}`, tool.Spec().Name,
		args)
	a := turn.New(turn.Options{
		Model: llmtest.NewScript(llmtest.Answer{Match: "Plan for this", Text: plan},
			llmtest.Answer{Match: "Answer this message", Text: "Done."}),
		Tools:   agenttest.Tools(tool),
		History: agenttest.Forgetful{},
	})
	var events []agent.Event
	var result string
	for e := range a.Ask(t.Context(), "c", "do it") {
		events = append(events, e)
		switch b := e.Body.(type) {
		case agent.PermissionAsked:
			b.Reply(agent.Reply{Decision: agent.AllowOnce})
		case agent.ToolEnded:
			result = b.Output + b.Error
		case agent.StepChanged:
			if b.Reason != "" && result == "" {
				result = b.Reason
			}
		}
	}
	return result, events
}

func TestEveryFeatureOfServerEverythingWorks(t *testing.T) {
	t.Parallel()
	overEveryTransport(t, func(t *testing.T, entry config.Entry) {
		entry.Roots, entry.LogLevel = []string{t.TempDir()}, "debug"
		var mu sync.Mutex
		asked := map[string]int{}
		note := func(what string) { mu.Lock(); asked[what]++; mu.Unlock() }
		s := start(t, Options{Files: t.TempDir(), Logs: t.TempDir(), User: testUser{
			ask: func(ctx context.Context, form agent.Question) agent.Input {
				if agent.HostFrom(ctx) == nil {
					t.Error("the form is put to nobody")
				}
				if form.URL != "" {
					note("url " + form.URL)
					return agent.Input{Action: agent.InputAccepted}
				}
				note("form")
				return agent.Input{Action: agent.InputAccepted, Values: json.RawMessage(`{"name":"Ana"}`)}
			},
			sample: func(context.Context, string, llm.Request) (model, text string, err error) {
				note("sampling")
				return "tiny", "because of 42", nil
			},
		}}, entry)
		for _, tool := range s.Tools() {
			name := strings.TrimPrefix(tool.Spec().Name, "e_")
			call, known := everyTool[name]
			if !known {
				t.Errorf("%s is never called: give it a call", name)
				continue
			}
			got, events := performed(t, tool, call.args)
			if !strings.Contains(got, call.want) {
				t.Errorf("%s: got %q, want %q in it", name, text.Cut(got, 300), call.want)
			}
			if did := events[len(events)-1].Body.(agent.Ended).Effects.String(); did != "called e_"+name+" (e)" {
				t.Errorf("%s: the turn says that it did %q", name, did)
			}
			if name == "trigger-long-running-operation" {
				checkProgress(t, events)
			}
		}
		if entry.Transport == config.SSE { // over which the library handles no questions
			if len(asked) > 0 {
				t.Errorf("asked: %v", asked)
			}
		} else {
			checkAsked(t, s, asked)
		}
		waitFor(t, func() bool { return strings.Contains(s.State()[0].Stderr, "[") }) // the server keeps logging
		checkResources(t, s)
		checkPrompts(t, s)
	})
}

// checkAsked checks what the calls of everyTool have asked, and that a server can
// request a page in the other way, too: with an error, then the same call again.
func checkAsked(t *testing.T, s *Client, asked map[string]int) {
	t.Helper()
	got, _ := performed(t, one(t, s, "e_trigger-url-elicitation"), `{"url":"https://x.org/then","errorPath":true}`)
	if !strings.Contains(got, "completed") || len(asked) != 5 {
		t.Errorf("got %q; asked: %v", got, asked)
	}
	for what, want := range map[string]int{
		"form": 1, "sampling": 1, "url https://x.org/login": 1,
		"url https://x.org/then": 1,
	} {
		if asked[what] != want {
			t.Errorf("%s was asked %d times, want %d", what, asked[what], want)
		}
	}
}

func checkProgress(t *testing.T, events []agent.Event) {
	t.Helper()
	var last agent.Progress
	n := 0
	for _, e := range events {
		if p, ok := e.Body.(agent.ToolProgressed); ok {
			n++
			last = p.Progress
		}
	}
	if n == 0 || last.Done != 4 || last.Total != 4 {
		t.Errorf("%d messages of progress, the last %+v", n, last)
	}
}

// checkResources reads every listed resource, and one of each template.
func checkResources(t *testing.T, s *Client) {
	t.Helper()
	n := 0
	for _, r := range s.Resources() {
		uri := strings.NewReplacer("{resourceId}", "7").Replace(r.URI)
		if got, err := s.ReadResource(t.Context(), "e", uri); err != nil ||
			!strings.Contains(got.Text, uri) || !got.Untrusted {
			t.Errorf("%s: got %q, %v", uri, text.Cut(got.Text, 100), err)
		}
		n++
	}
	if n < 9 {
		t.Errorf("%d resources are listed", n)
	}
}

// checkPrompts fills in every listed prompt.
func checkPrompts(t *testing.T, s *Client) {
	t.Helper()
	args := map[string]map[string]string{
		"simple-prompt":      nil,
		"args-prompt":        {"city": "Hamburg"},
		"completable-prompt": {"department": "Engineering", "name": "Alice"},
		"resource-prompt":    {"resourceType": "Text", "resourceId": "1"},
	}
	for _, p := range s.Prompts() {
		given, known := args[p.Name]
		if !known {
			t.Errorf("%s is never filled in", p.Name)
		}
		if messages, err := s.FillPrompt(t.Context(), "e", p.Name, given); err != nil ||
			len(messages) == 0 || messages[0].Text == "" {
			t.Errorf("%s: got %+v, %v", p.Name, messages, err)
		}
		delete(args, p.Name)
	}
	if len(args) > 0 {
		t.Errorf("not listed: %v", args)
	}
}

func TestServerMemoryRemembers(t *testing.T) {
	t.Parallel()
	entry := npm(t, "memory", "@modelcontextprotocol/server-memory")
	entry.Env = map[string]string{"MEMORY_FILE_PATH": t.TempDir() + "/memory.jsonl"}
	s := start(t, Options{}, entry)
	if n := len(s.Tools()); n < 9 {
		t.Errorf("%d tools are listed", n)
	}
	create := one(t, s, "memory_create_entities")
	if _, err := create.Run(t.Context(), json.RawMessage(`{"entities":[{"name":"Ines","entityType":"person",`+
		`"observations":["rows on Sundays"]}]}`)); err != nil {
		t.Fatal(err)
	}
	if got, err := one(t, s, "memory_read_graph").Run(t.Context(), nil); err != nil ||
		!strings.Contains(got.Text, "rows on Sundays") {
		t.Errorf("got %+v, %v", got, err)
	}
}
