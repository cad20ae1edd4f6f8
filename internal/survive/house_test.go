//go:build unix

package survive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/agenttest"
	"lifehub/agent/tools"
	"lifehub/agent/turn"
	"lifehub/llm"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/store"

	"lifehub/internal/testenv"
)

// orders configure a child.
type orders struct {
	Dir string // folder of the database, the notes and the logs of servers
	// chat: turns until killed; steer: one turn to which a message is sent while it runs; six: one turn with six
	// effects; mail: one mail; write: turns of one of several processes
	Work   string
	Name   string // of the conversation
	Turns  int    // number of turns; 0: until killed
	Steps  string // plan of six: "chain" in sequence, "graph" in parallel
	KillAt int64  // number of the boundary at which it kills itself; 0: none
	Skip   bool   // skip calls with an unknown outcome, instead of checking
	Agree  bool   // repeat calls with an unknown outcome, without checking
	SMTP   int    // port of the mail server
	Fault  string // expected fault; empty: none
	Files  int    // limit of open files; 0: none
	User   int    // user to run as; 0: unchanged

	Strace []string        `json:"-"` // command to run it under; may be nil
	KillOn <-chan struct{} `json:"-"` // killed when this is closed; may be nil
}

const (
	ordersEnv  = "LIFEHUB_SURVIVE"
	counterEnv = "LIFEHUB_SURVIVE_COUNTER" // file in which the MCP server counts
)

func TestMain(m *testing.M) {
	testenv.Parallel(4)
	if file := os.Getenv(counterEnv); file != "" {
		exitOn(serveCounter(file))
	}
	if text := os.Getenv(ordersEnv); text != "" {
		var o orders
		err := json.Unmarshal([]byte(text), &o)
		if err == nil {
			err = obey(o)
		}
		exitOn(err)
	}
	os.Exit(m.Run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// house is LifeHub without a user interface.
type house struct {
	orders
	store   *store.Store
	folder  *notes.Folder
	servers *mcpclient.Client
	agent   *turn.Agent
	hooks   *hooks
}

func database(dir string) string { return filepath.Join(dir, "lifehub.db") }
func vault(dir string) string    { return filepath.Join(dir, "vault") }

// mailbox and counter are where the servers record what they receive.
func mailbox(dir string) string { return filepath.Join(dir, "mails") }
func counter(dir string) string { return filepath.Join(dir, "counted") }

// furnish creates an empty vault.
func furnish(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(vault(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"tasks.md": "# Tasks\n", "memory.md": "# Memory\n", "log.md": "# Log\n"} {
		if err := os.WriteFile(filepath.Join(vault(dir), name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func openHouse(o orders) (*house, error) {
	h := &house{orders: o, hooks: &hooks{killAt: o.KillAt}}
	log, err := os.OpenFile(filepath.Join(o.Dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	if h.store, err = store.Open(database(o.Dir)); err != nil {
		return nil, err
	}
	if h.folder, err = notes.Open(vault(o.Dir)); err != nil {
		return nil, err
	}
	list := tools.All(tools.Deps{
		Search: nowhere{}, Changes: h.store, Facts: tools.Facts{Place: h, Path: "memory.md"},
		Vaults: h, Now: time.Now,
		Artifacts: h.store,
		Mail:      tools.MailAccount{Host: "127.0.0.1", Port: o.SMTP, From: "ana@example.org", TLS: "none"},
	})
	if o.Work == "six" {
		config, err := config.Read(filepath.Join(o.Dir, "mcp.json"))
		if err != nil {
			return nil, err
		}
		h.servers = mcpclient.Start(context.Background(), config, mcpclient.Options{})
		if err := h.servers.Wait(context.Background()); err != nil {
			return nil, err
		}
		list = append(list, h.servers.Tools()...)
	}
	for i, tool := range list {
		list[i] = h.hooks.tool(tool)
	}
	h.agent = turn.New(turn.Options{
		Model: narrator{h.hooks, o.Steps}, History: history{h.store, h.hooks}, Journal: journal{h.store, h.hooks},
		Tools: agenttest.Tools(list...),
		Trace: tracing{h.store},
	})
	return h, nil
}

// tracing begins traces in a store.
type tracing struct{ to *store.Store }

func (t tracing) Begin(turn string) io.WriteCloser { return t.to.Traces.Begin(turn, store.Limits{}) }

// Folders implements [tools.Vaults].
func (h *house) Folders() []*notes.Folder { return []*notes.Folder{h.folder} }

// FactsFolder implements [tools.FactsPlace].
func (h *house) FactsFolder() (*notes.Folder, error) { return h.folder, nil }

func (h *house) Close() error {
	h.servers.Close()
	if err := h.folder.Close(); err != nil {
		return err
	}
	return h.store.Close()
}

// nowhere is a search without results.
type nowhere struct{}

func (nowhere) Search(context.Context, rag.Query) (rag.Found, error) { return rag.Found{}, nil }

// hooks count the boundaries that a turn passes, and kill the process at one of
// them.
type hooks struct {
	reached atomic.Int64
	killAt  int64
}

func (h *hooks) pass() {
	if h.reached.Add(1) == h.killAt {
		die()
	}
}

// history, journal, narrator and the tools are the real ones, with a boundary
// before and after each call.
type history struct {
	*store.Store
	hooks *hooks
}

func (h history) Begin(ctx context.Context, conversation, message string) (string, error) {
	h.hooks.pass()
	defer h.hooks.pass()
	return h.Store.Begin(ctx, conversation, message)
}

func (h history) Finish(ctx context.Context, turn string, answer agent.Answer) error {
	h.hooks.pass()
	defer h.hooks.pass()
	return h.Store.Finish(ctx, turn, answer)
}

type journal struct {
	*store.Store
	hooks *hooks
}

func (j journal) Record(ctx context.Context, turn string, entries ...agent.Entry) error {
	j.hooks.pass()
	defer j.hooks.pass()
	return j.Store.Record(ctx, turn, entries...)
}

func (j journal) Reopen(ctx context.Context, conversation, turn string) (agent.Unfinished, error) {
	defer j.hooks.pass()
	return j.Store.Reopen(ctx, conversation, turn)
}

type hookedTool struct {
	agent.Tool
	hooks *hooks
}

func (t hookedTool) Run(ctx context.Context, args json.RawMessage) (agent.Result, error) {
	t.hooks.pass()
	defer t.hooks.pass()
	return t.Tool.Run(ctx, args)
}

type hookedPreparer struct {
	agent.Preparer
	hooks *hooks
}

func (p hookedPreparer) Prepare(ctx context.Context, args json.RawMessage) (agent.Change, error) {
	change, err := p.Preparer.Prepare(ctx, args)
	return hookedChange{change, p.hooks}, err
}

type hookedChange struct {
	agent.Change
	hooks *hooks
}

func (c hookedChange) Apply(ctx context.Context) (agent.Result, error) {
	c.hooks.pass()
	defer c.hooks.pass()
	return c.Change.Apply(ctx)
}

type reader interface{ ReadOnly() bool }

// tool adds boundaries to a tool, preserving the optional interfaces that it
// implements.
func (h *hooks) tool(tool agent.Tool) agent.Tool {
	hooked := hookedTool{tool, h}
	previewer, shows := tool.(agent.Previewer)
	preparer, prepares := tool.(agent.Preparer)
	checker, checks := tool.(agent.Checker)
	harmless, reads := tool.(reader)
	switch {
	case checks && prepares:
		return struct {
			hookedTool
			agent.Preparer
			agent.Checker
		}{hooked, hookedPreparer{preparer, h}, checker}
	case shows:
		return struct {
			hookedTool
			agent.Previewer
		}{hooked, previewer}
	case reads:
		return struct {
			hookedTool
			reader
		}{hooked, harmless}
	}
	return hooked
}

// narrator is the model: it plans what the question names, and answers.
type narrator struct {
	hooks *hooks
	steps string
}

func (n narrator) Stream(_ context.Context, req llm.Request) iter.Seq2[llm.Delta, error] {
	text := "This is the answer to " + req.Task.Question + ", told at some length so that a kill may come in the " +
		"middle of it."
	if req.Task.Kind == llm.PlanTask {
		text = planOf(req.Task.Question, n.steps)
	}
	return func(yield func(llm.Delta, error) bool) {
		n.hooks.pass()
		for i, piece := range strings.SplitAfter(text, " ") {
			if !yield(llm.Delta{Text: piece}, nil) {
				return
			}
			if i == 3 {
				n.hooks.pass()
			}
		}
		yield(llm.Delta{Usage: &llm.Usage{Prompt: 1, Answer: 1, Stopped: llm.StopEnd}}, nil)
	}
}

func answerTo(question string) string {
	return "This is the answer to " + question + ", told at some length so that a kill may come in the middle of it."
}

// planOf returns the plan for a question such as "chat 7" or "six 7". All its
// effects are named after the question.
func planOf(question, steps string) string {
	kind, _, _ := strings.Cut(question, " ")
	list := []agent.Step{
		{ID: "1", Tool: "add_task", Input: arguments("text", "do "+question)},
		{ID: "2", Tool: "append_note", Input: arguments("path", "log.md", "content", "- log "+question)},
		{ID: "3", Tool: "create_note", Input: arguments("path", "made/"+question+".md", "content", "about "+question)},
		{ID: "4", Tool: "complete_task", Input: arguments("task", "do "+question), After: []string{"1"}},
		{ID: "5", Tool: "remember", Input: arguments("text", "The fact of "+question+" is kept.")},
	}
	if kind == "six" {
		list = []agent.Step{
			{ID: "1", Tool: "append_note", Input: arguments("path", "log.md", "content", "- log "+question)},
			{ID: "2", Tool: "add_task", Input: arguments("text", "do "+question)},
			{ID: "3", Tool: "send_email", Input: mailTo(question)},
			{ID: "4", Tool: "counter_count", Input: arguments("what", "count "+question)},
			{ID: "5", Tool: "create_note", Input: arguments("path", "made/"+question+".md",
				"content", "about "+question)},
			{ID: "6", Tool: "complete_task", Input: arguments("task", "do "+question), After: []string{"2"}},
		}
	}
	if kind == "steer" {
		list = list[:2]
		list[0].After = []string{"2"}
	}
	if _, instead, steered := strings.Cut(question, "instead "); steered {
		list = []agent.Step{{ID: "1", Tool: "add_task", Input: arguments("text", "do instead "+instead)}}
	}
	if kind == "mail" {
		list = []agent.Step{{ID: "1", Tool: "send_email", Input: mailTo(question)}}
	}
	// the answer is the model's: not of a turn that only wrote
	list = append(list, agent.Step{ID: "7", Tool: "today", Input: arguments()})
	if steps == "chain" {
		for i := range list[1:] {
			list[i+1].After = []string{list[i].ID}
		}
	}
	text, err := json.Marshal(map[string]any{"reasoning": "", "steps": list})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func mailTo(question string) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"to":["bob@example.com"],"subject":"mail %s","body":"text"}`, question))
}

func arguments(pairs ...string) json.RawMessage {
	object := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		object[pairs[i]] = pairs[i+1]
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return text
}

// traces are the effects of a question on files and servers.
type traces struct {
	Task, Ticked, Note, Log, Fact, Mail, Count int
}

// look counts the effects.
func look(dir, question string) (traces, error) {
	var found traces
	for _, place := range []struct {
		file, line string
		into       *int
	}{
		{filepath.Join(vault(dir), "tasks.md"), "] do " + question, &found.Task},
		{filepath.Join(vault(dir), "tasks.md"), "[x] do " + question, &found.Ticked},
		{filepath.Join(vault(dir), "log.md"), "- log " + question, &found.Log},
		{filepath.Join(vault(dir), "memory.md"), "The fact of " + question + " is kept.", &found.Fact},
		{filepath.Join(vault(dir), "made", question+".md"), "about " + question, &found.Note},
		{mailbox(dir), "mail " + question, &found.Mail},
		{counter(dir), "count " + question, &found.Count},
	} {
		file, err := os.Open(place.file)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return found, err
		}
		lines := bufio.NewScanner(file)
		for lines.Scan() {
			line, _, _ := strings.Cut(lines.Text(), " ✅")
			if strings.HasSuffix(line, place.line) || place.into == &found.Fact && strings.Contains(line, place.line) {
				*place.into++
			}
		}
		file.Close()
	}
	return found, nil
}

// did reports whether the call of a tool had its effect.
func (t traces) did(tool string) bool {
	return map[string]int{
		"add_task": t.Task, "complete_task": t.Ticked, "create_note": t.Note, "append_note": t.Log, "remember": t.Fact,
		"send_email": t.Mail, "counter_count": t.Count,
	}[tool] > 0
}

// sayer writes lines unbuffered: once written, they count as shown to the user.
type sayer struct{ mu sync.Mutex }

func (s *sayer) say(words ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintln(os.Stdout, words...)
}
