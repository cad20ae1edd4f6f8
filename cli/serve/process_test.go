//go:build unix

package serve

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/llm/llmtest"
)

// planned is the plan of each turn.
const planned = `{"reasoning":"look, then add it","steps":[
	{"id":"0","tool":"search_notes","input":{"query":"running"}},
	{"id":"1","tool":"add_task","input":{"text":"Buy running socks"}}
]}`

// What the model answers: at first, and later. A page that takes it for markup fetches the image.
const (
	answered = "You wrote: “I run three times a week” [1]. It is on your **list** now:\n\n- Buy running socks\n- " +
		"call the plumber"
	hostile = "Not on your **list**.\n\n- <img src=x onerror=alert(1)>"
)

// home is a home with notes, and a model that adds a task whatever it is asked.
type home struct {
	t           *testing.T
	dir         string // LIFEHUB_HOME
	vault, file string
	env         []string
}

func newHome(t *testing.T) home {
	t.Helper()
	dir := t.TempDir()
	h := home{t: t, dir: filepath.Join(dir, "lh"), vault: apptest.Vault(t)}
	h.file = filepath.Join(h.vault, "tasks.md")
	model := llmtest.NewScript(
		llmtest.Answer{Match: llmtest.PlanMark, Text: planned, Always: true},
		llmtest.Answer{Match: llmtest.AnswerMark, Text: answered},
		llmtest.Answer{Match: llmtest.AnswerMark, Text: hostile, Always: true},
	)
	h.env = []string{
		"LIFEHUB_TEST_RUN=1", "GORACE=atexit_sleep_ms=0", "HOME=" + dir, "LIFEHUB_HOME=" + h.dir,
		"PATH=" + os.Getenv("PATH"),
		"LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST=" + llmtest.Serve(t, model), "LIFEHUB_MODEL=" + llmtest.ServedModel,
		"LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none",
	}
	return h
}

// paths are those of the process, as another one sees them.
func (h home) paths() settings.Paths { return settings.Paths{State: filepath.Join(h.dir, "state")} }

// serve starts `lifehub serve` and returns its page.
func (h home) serve(args ...string) (*page, *exec.Cmd) {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"serve", "--notes", h.vault}, args...)...)
	cmd.Env, cmd.Stderr = h.env, h.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	link, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		h.t.Fatalf("it printed %q: %v", link, err)
	}
	p := pageOf(h.t, strings.TrimSpace(link))
	p.enter(p.link)
	return p, cmd
}

// state returns the conversation once it is not the version seen.
func (p *page) state(seen string) (state struct {
	Version int
	Running string
	Turns   []saved
},
) {
	p.t.Helper()
	answer := p.send("GET", "/api/conversation?seen="+seen, "", nil)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || json.Unmarshal(text, &state) != nil {
		p.t.Fatalf("%v: the conversation is %s", err, text)
	}
	return state
}

// untilAsked reads the running turn up to a question.
func (p *page) untilAsked(last string) (turn, id string, asked *ask) {
	p.t.Helper()
	for turn == "" {
		turn = p.state("-1").Running
	}
	stream := p.watch(turn, last)
	for {
		e, more := stream.next()
		if !more {
			p.t.Fatal("it asks nothing")
		}
		if e.Show.Ask != nil {
			stream.answer.Body.Close()
			return turn, e.id, e.Show.Ask
		}
	}
}

func (p *page) allow(turn string, asked *ask) {
	p.t.Helper()
	given := `{"id":"` + asked.ID + `","hash":"` + asked.Hash + `","decision":"once"}`
	if got := p.post("/api/turns/"+turn+"/resume", given); got != 204 {
		p.t.Fatalf("allow: %d", got)
	}
}

// The process is killed while a call waits for its permission. Another one serves what was saved, and resumes the turn;
// the call runs once.
func TestServerKilledInTheMiddleOfATurn(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	p, cmd := h.serve()
	const message = "put running socks on my list"
	if got := p.post("/api/chat", `{"text":"`+message+`"}`); got != 202 {
		t.Fatalf("chat: %d", got)
	}
	turn, last, _ := p.untilAsked("")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()

	p, cmd = h.serve("-c")
	answer := p.send("GET", "/api/turns/"+turn+"/events", "", nil)
	answer.Body.Close()
	if answer.StatusCode != 404 {
		t.Errorf("the turn of the process that is gone: %s", answer.Status)
	}
	saved := p.state("-1")
	if n := len(saved.Turns); n != 1 || !saved.Turns[0].Resume ||
		saved.Turns[0].Question != message || saved.Running != "" {
		t.Errorf("saved is %+v", saved)
	}
	if got := p.post("/api/turns/"+turn+"/resume", `{}`); got != 202 {
		t.Fatalf("resume: %d", got)
	}
	again, _, asked := p.untilAsked(last)
	if again != turn || len(asked.Lines) == 0 || !strings.Contains(asked.Lines[0].Text, "tasks.md") {
		t.Errorf("turn %s asks %+v, before it was turn %s", again, asked, turn)
	}
	stream := p.watch(turn, "")
	p.allow(turn, asked)
	stream.rest()
	if n := strings.Count(apptest.Read(t, h.file), "Buy running socks"); n != 1 {
		t.Errorf("the task was written %d times", n)
	}
	for saved = p.state("-1"); saved.Running != ""; {
		saved = p.state("-1")
	}
	if len(saved.Turns) != 1 || saved.Turns[0].Resume || !strings.Contains(saved.Turns[0].Answer, "**list**") {
		t.Errorf("at the end: %+v", saved)
	}

	// Another process prints the next link, and leaves the port to this one.
	second := exec.Command(os.Args[0], "serve")
	second.Env = h.env
	link, err := second.Output()
	if err != nil || !strings.HasPrefix(string(link), p.base+"/#") || strings.TrimSpace(string(link)) == p.link {
		t.Errorf("%v: the second prints %s, the first serves %s", err, link, p.link)
	}
	pageOf(t, strings.TrimSpace(string(link))).enter(strings.TrimSpace(string(link)))

	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if _, err := os.Stat(h.paths().Served()); err == nil {
		t.Error("the file of the link stays")
	}
}
