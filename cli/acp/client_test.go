//go:build unix

package acp_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli"
	"lifehub/cli/acp"
	"lifehub/cli/app"
	"lifehub/cli/chatcmd"
	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// asProgram makes the test binary run as lifehub.
const asProgram = "LIFEHUB_TEST_RUN=1"

func TestMain(m *testing.M) {
	if os.Getenv("LIFEHUB_TEST_RUN") != "" {
		os.Exit(cli.Main("", nil))
	}
	os.Exit(m.Run())
}

// patience bounds waits on a busy machine.
const patience = time.Minute

const (
	asksPlanner   = llmtest.PlanMark
	asksExplainer = llmtest.AnswerMark
)

// editor is a client that records all it receives and answers requests.
type editor struct {
	*sdk.ClientSideConnection
	answer func(sdk.RequestPermissionRequest) string // the chosen option; "" cancels
	reads  io.Closer                                 // output of a process
	form   map[string]any                            // values for forms; nil declines them

	mu      sync.Mutex
	updates []sdk.SessionNotification
	asked   []sdk.RequestPermissionRequest
	wake    chan struct{}
	files   int // calls of methods that an editor need not support
}

func (e *editor) SessionUpdate(_ context.Context, n sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, n)
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return nil
}

func (e *editor) RequestPermission(_ context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	if option := e.answer(p); option != "" {
		return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(option))}, nil
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

func (e *editor) UnstableCreateElicitation(_ context.Context,
	p sdk.UnstableCreateElicitationRequest,
) (sdk.UnstableCreateElicitationResponse, error) {
	if e.form == nil {
		return sdk.NewUnstableCreateElicitationResponseDecline(), nil
	}
	return sdk.UnstableCreateElicitationResponse{Accept: &sdk.UnstableCreateElicitationAccept{
		Action:  "accept",
		Content: e.form,
	}}, nil
}

// showForms tells LifeHub whether this editor can show forms.
func (e *editor) showForms(t *testing.T, shows bool) {
	t.Helper()
	capable := sdk.ClientCapabilities{}
	if shows {
		capable.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.ElicitationFormCapabilities{}}
	}
	if _, err := e.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion:    1,
		ClientCapabilities: capable,
	}); err != nil {
		t.Fatal(err)
	}
}

func (e *editor) needless() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.files++
	return sdk.NewMethodNotFound("not there")
}

func (e *editor) ReadTextFile(context.Context, sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	return sdk.ReadTextFileResponse{}, e.needless()
}

func (e *editor) WriteTextFile(context.Context, sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	return sdk.WriteTextFileResponse{}, e.needless()
}

func (e *editor) CreateTerminal(context.Context, sdk.CreateTerminalRequest) (sdk.CreateTerminalResponse, error) {
	return sdk.CreateTerminalResponse{}, e.needless()
}

func (e *editor) KillTerminal(context.Context, sdk.KillTerminalRequest) (sdk.KillTerminalResponse, error) {
	return sdk.KillTerminalResponse{}, e.needless()
}

func (e *editor) TerminalOutput(context.Context, sdk.TerminalOutputRequest) (sdk.TerminalOutputResponse, error) {
	return sdk.TerminalOutputResponse{}, e.needless()
}

func (e *editor) ReleaseTerminal(context.Context, sdk.ReleaseTerminalRequest) (sdk.ReleaseTerminalResponse, error) {
	return sdk.ReleaseTerminalResponse{}, e.needless()
}

func (e *editor) WaitForTerminalExit(context.Context, sdk.WaitForTerminalExitRequest) (sdk.WaitForTerminalExitResponse, error) {
	return sdk.WaitForTerminalExitResponse{}, e.needless()
}

// told returns the updates of a session so far.
func (e *editor) told(id sdk.SessionId) (list []sdk.SessionUpdate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range e.updates {
		if n.SessionId == id {
			list = append(list, n.Update)
		}
	}
	return list
}

// forget discards the updates so far.
func (e *editor) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = nil
}

// await waits for an update.
func (e *editor) await(t *testing.T, id sdk.SessionId, what string, is func(sdk.SessionUpdate) bool) sdk.SessionUpdate {
	t.Helper()
	late := time.After(patience)
	for {
		for _, u := range e.told(id) {
			if is(u) {
				return u
			}
		}
		select {
		case <-e.wake:
		case <-late:
			t.Fatalf("no %s in %v; told: %s", what, patience, jsonOf(e.told(id)))
		}
	}
}

// answered returns the text of the answer, which is the message with the turn's ID.
func answered(list []sdk.SessionUpdate) string {
	var b strings.Builder
	for _, u := range list {
		if m := u.AgentMessageChunk; m != nil && m.MessageId != nil &&
			!strings.Contains(strings.SplitAfterN(*m.MessageId, ".", 2)[1], ".") {
			b.WriteString(m.Content.Text.Text)
		}
	}
	return b.String()
}

// asides returns the messages other than the answer.
func asides(list []sdk.SessionUpdate) string {
	var b strings.Builder
	for _, u := range list {
		if m := u.AgentMessageChunk; m != nil && (m.MessageId == nil || strings.Count(*m.MessageId, ".") > 1 ||
			strings.HasPrefix(*m.MessageId, ".")) {
			b.WriteString(m.Content.Text.Text)
		}
	}
	return b.String()
}

func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func connect(t *testing.T, in io.Writer, out io.Reader) *editor {
	t.Helper()
	e := &editor{wake: make(chan struct{}, 1), answer: func(sdk.RequestPermissionRequest) string { return "no" }}
	e.ClientSideConnection = sdk.NewClientSideConnection(e, in, out)
	e.SetLogger(slog.New(slog.DiscardHandler))
	got, err := e.Initialize(t.Context(), sdk.InitializeRequest{ProtocolVersion: sdk.ProtocolVersionNumber})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.AgentCapabilities; got.ProtocolVersion != 1 || !c.LoadSession ||
		!c.PromptCapabilities.EmbeddedContext || !c.PromptCapabilities.Image || len(got.AuthMethods) > 0 ||
		c.SessionCapabilities.List == nil {
		t.Errorf("initialized with %s", jsonOf(got))
	}
	t.Cleanup(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.files > 0 {
			t.Errorf("%d calls of the editor's files or terminals: the notes are on this disk", e.files)
		}
	})
	return e
}

// environ returns the environment of a home with a scripted model, or none if model is nil. can are
// further capabilities of the model.
func environ(t *testing.T, home string, model llm.Model, can ...string) []string {
	env := []string{
		asProgram, "GORACE=atexit_sleep_ms=0", "HOME=" + home, "LIFEHUB_HOME=" + filepath.Join(home, "lh"),
		"PATH=" + os.Getenv("PATH"),
	}
	if model == nil {
		return append(env, "LIFEHUB_PROVIDER=offline")
	}
	return append(env, "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+llmtest.Serve(t, model, can...),
		"LIFEHUB_MODEL="+llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none")
}

// inside returns an editor connected to LifeHub in this process. leave closes the pipe and waits
// for LifeHub.
func inside(t *testing.T, env []string, vaults ...string) (e *editor, leave func()) {
	t.Helper()
	f := chatcmd.NewFlags(&app.Process{Environment: apptest.Environment(env)})
	f.RunFlags.Notes = vaults
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- f.Serve(context.Background(), func(ctx context.Context, a *app.App, o chat.Options) error {
			return acp.Serve(ctx, a, o, inR, outW)
		})
		outW.Close()
	}()
	leave = sync.OnceFunc(func() {
		inW.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("it does not end with its input")
		}
	})
	t.Cleanup(leave)
	return connect(t, inW, outR), leave
}

// program returns an editor connected to a LifeHub process.
func program(t *testing.T, env []string, args ...string) (*editor, *exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"acp"}, args...)...)
	cmd.Env = env
	cmd.Stderr = t.Output()
	in, out := mcptest.Start(t, cmd)
	e := connect(t, in, out)
	e.reads = out
	return e, cmd, in
}

func (e *editor) begin(t *testing.T, cwd string) sdk.SessionId {
	t.Helper()
	got, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: cwd, McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	if m := got.Modes; m == nil || m.CurrentModeId != "auto" && m.CurrentModeId != "plan" ||
		len(m.AvailableModes) != len(agent.Modes()) {
		t.Errorf("the modes are %s", jsonOf(got.Modes))
	}
	return got.SessionId
}

func (e *editor) ask(t *testing.T, id sdk.SessionId, blocks ...sdk.ContentBlock) sdk.StopReason {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := e.Prompt(ctx, sdk.PromptRequest{SessionId: id, Prompt: blocks})
	if err != nil {
		t.Fatalf("prompt: %v; told: %s", err, jsonOf(e.told(id)))
	}
	return got.StopReason
}

func text(s string) sdk.ContentBlock { return sdk.TextBlock(s) }

// indexed returns an indexed vault.
func indexed(t *testing.T, env []string) string {
	t.Helper()
	vault := apptest.Vault(t)
	run(t, env, "index", vault)
	return vault
}

// run runs another command in the same home.
func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = env
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != app.ExitRefused {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}
