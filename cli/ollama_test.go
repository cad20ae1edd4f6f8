//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/llm/llmtest"
)

// event is the part of a --stream-json line that the tests use.
type event struct {
	Type        string    `json:"type"`
	Seq         int       `json:"seq"`
	Time        time.Time `json:"time"`
	Step        string    `json:"step"`
	Name        string    `json:"name"`
	Status      string    `json:"status"`
	Content     string    `json:"content"`
	Message     string    `json:"message"`
	Hint        string    `json:"hint"`
	Verdict     string    `json:"verdict"`
	Interrupted bool      `json:"interrupted"`
	ModelCalls  int       `json:"model_calls"`
	Steps       []struct{ ID, Tool string }
}

// program is a running command.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	lines  *bufio.Scanner
	stderr bytes.Buffer
	events []event
}

// startProgram runs lifehub in an empty home with a model server.
func startProgram(t *testing.T, server *llmtest.Server, model string, arg ...string) *program {
	t.Helper()
	home := t.TempDir()
	p := &program{t: t, cmd: exec.Command(os.Args[0], arg...)}
	p.cmd.Dir = home
	p.cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+server.URL,
		"LIFEHUB_MODEL="+model, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=tiny-bow", "LIFEHUB_CONTEXT=16384")
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	p.lines = bufio.NewScanner(out)
	p.lines.Buffer(nil, 1<<20)
	return p
}

// next reads one event, or returns false at the end.
func (p *program) next() (event, bool) {
	p.t.Helper()
	if !p.lines.Scan() {
		return event{}, false
	}
	var e event
	if err := json.Unmarshal(p.lines.Bytes(), &e); err != nil {
		p.t.Fatalf("%q is not an event: %v", p.lines.Text(), err)
	}
	p.events = append(p.events, e)
	return e, true
}

// until reads events up to the first of a type.
func (p *program) until(kind string) event {
	p.t.Helper()
	for {
		e, ok := p.next()
		if !ok {
			_ = p.cmd.Wait()
			p.t.Fatalf("no event %s; stderr:\n%s", kind, p.stderr.String())
		}
		if e.Type == kind {
			return e
		}
	}
}

// rest reads all remaining events and returns the exit code.
func (p *program) rest() int {
	for {
		if _, ok := p.next(); !ok {
			break
		}
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func (p *program) ofType(kind string) []event {
	var list []event
	for _, e := range p.events {
		if e.Type == kind {
			list = append(list, e)
		}
	}
	return list
}

func (p *program) answer() string {
	var b strings.Builder
	for _, e := range p.ofType("token") {
		b.WriteString(e.Content)
	}
	return b.String()
}

func TestRealOllamaPlansWorksAndExplains(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	p := startProgram(t, server, "scripted-plan", "ask", "--stream-json", "--notes", apptest.Vault(t),
		"running, and open tasks")
	if code := p.rest(); code != 0 {
		t.Fatalf("exit code %d; stderr:\n%s", code, p.stderr.String())
	}
	if first, last := p.events[0], p.events[len(p.events)-1]; first.Type != "start" || last.Type != "end" {
		t.Errorf("first event %s, last %s; want start and end", first.Type, last.Type)
	}
	plans := p.ofType("plan")
	if len(plans) != 1 || len(plans[0].Steps) != 2 {
		t.Fatalf("want one plan of two steps, got %+v", plans)
	}
	started, ended := p.ofType("tool_start"), p.ofType("tool_end")
	if len(started) != 2 || len(ended) != 2 || started[0].Name == started[1].Name {
		t.Errorf("want both tools to be called; started %+v, ended %+v", started, ended)
	}
	if p.answer() != llmtest.ScriptedExplanation {
		t.Errorf("answer %q, want %q", p.answer(), llmtest.ScriptedExplanation)
	}
	if len(p.ofType("token")) < 3 {
		t.Errorf("the answer came in %d pieces; it was not streamed", len(p.ofType("token")))
	}
	if cited := p.ofType("citation"); len(cited) == 0 || cited[0].Verdict != "cited" {
		t.Errorf("want a citation with a verdict, got %+v", cited)
	}
	if end := p.events[len(p.events)-1]; end.ModelCalls != 2 {
		t.Errorf("%d model calls, want 2", end.ModelCalls)
	}
}

func TestRealOllamaCancelledKeepsWhatArrived(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	p := startProgram(t, server, "scripted-endless", "ask", "--stream-json", "--notes",
		apptest.Vault(t), "how often do I run?")
	p.until("token")
	asked := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if code := p.rest(); code != app.ExitInterrupted {
		t.Errorf("exit code %d, want %d; stderr:\n%s", code, app.ExitInterrupted, p.stderr.String())
	}
	last := p.events[len(p.events)-1]
	if last.Type != "end" || !last.Interrupted {
		t.Errorf("last event %+v, want an interrupted end", last)
	}
	t.Logf("end came %v after the interrupt", last.Time.Sub(asked).Round(time.Millisecond))
	if shown := p.shows(t); !strings.Contains(shown, strings.TrimSpace(p.answer())) ||
		!strings.Contains(shown, "(stopped)") {
		t.Errorf("what arrived was not kept and marked:\n%s", shown)
	}
}

// shows prints the last conversation in the program's home.
func (p *program) shows(t *testing.T) string {
	t.Helper()
	run := func(arg ...string) string {
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Env, cmd.Dir = p.cmd.Env, p.cmd.Dir
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("lifehub %v: %v", arg, err)
		}
		return string(out)
	}
	list := run("chats", "list")
	id, _, _ := strings.Cut(list, " ")
	return run("chats", "show", id)
}

func TestRealOllamaKilledGivesACutAnswer(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	p := startProgram(t, server, "scripted-endless", "ask", "--stream-json", "--notes",
		apptest.Vault(t), "how often do I run?")
	p.until("token")
	server.Kill()
	if code := p.rest(); code != app.ExitFailed && code != app.ExitUnreachable {
		t.Errorf("exit code %d, want a failure; stderr:\n%s", code, p.stderr.String())
	}
	last := p.events[len(p.events)-1]
	if last.Type != "error" || last.Message == "" {
		t.Errorf("last event %+v, want an error", last)
	}
	if shown := p.shows(t); !strings.Contains(shown, strings.TrimSpace(p.answer())) {
		t.Errorf("what arrived was not kept:\n%s", shown)
	}
}

func TestMissingModelOffersAPull(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	p := startProgram(t, server, "no-such-model", "ask", "--stream-json", "--notes",
		apptest.Vault(t), "how often do I run?")
	if code := p.rest(); code != app.ExitFailed {
		t.Errorf("exit code %d, want %d", code, app.ExitFailed)
	}
	if last := p.events[len(p.events)-1]; last.Type != "error" ||
		!strings.Contains(last.Hint, "lifehub models pull no-such-model") {
		t.Errorf("last event %+v, want an error that names the pull", last)
	}

	term := startTerminal(t, 100, 30, []string{
		"LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST=" + server.URL,
		"LIFEHUB_MODEL=no-such-model",
	}, "chat", "--notes", apptest.Vault(t))
	term.sees("2 notes")
	term.types("how often do I run?\r")
	term.sees("no-such-model", "pull")
}

func TestChatSwitchesWhenOllamaStarts(t *testing.T) {
	t.Parallel()
	server := llmtest.StartOllama(t)
	server.Stop()
	term := startTerminal(t, 110, 30, []string{
		"OLLAMA_HOST=" + server.URL, "LIFEHUB_MODEL=scripted-plan",
		"LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=tiny-bow",
	}, "chat", "--notes", apptest.Vault(t))
	term.sees("no model")
	server.Restart()
	term.sees("scripted-plan")
	term.types("how often do I run?\r")
	term.sees("Your notes speak of running")
}

// Indexed notes keep their model when a better one is installed, which is offered with the commands.
func TestRealOllamaIndexKeepsItsModel(t *testing.T) {
	t.Parallel()
	server := llmtest.StartEmptyOllama(t)
	server.Create(llmtest.Embedding("nomic-embed-text"))
	home, vault := t.TempDir(), apptest.Vault(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := programIn(t, home, "", args...)
		cmd.Env = append(cmd.Env, "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+server.URL)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("index", vault)
	server.Create(llmtest.Embedding("embeddinggemma"))
	run("index", "--rebuild")
	const command = "lifehub config set embed_model embeddinggemma"
	if out := run("index", "--status"); !strings.Contains(out, command) {
		t.Errorf("the change is not offered:\n%s", out)
	}
	if out := run("search", "--json", "jog"); !strings.Contains(out, `"embedder":"ollama/nomic-embed-text:latest@`) {
		t.Errorf("another model was taken:\n%s", out)
	}
	run("config", "set", "embed_model", "embeddinggemma")
	run("index")
	run("config", "set", "embed_model", "")
	if out := run("search", "--json", "jog"); !strings.Contains(out, `"embedder":"ollama/embeddinggemma:latest@`) {
		t.Errorf("the model that was chosen was not kept:\n%s", out)
	}
	if out := run("index", "--status"); strings.Contains(out, command) {
		t.Errorf("the best model is offered in its own place:\n%s", out)
	}
}
