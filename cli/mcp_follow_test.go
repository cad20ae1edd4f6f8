//go:build unix

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/internal/testenv"
	"lifehub/mcpclient"
	"lifehub/mcpclient/config"
)

// ownServer returns the entry of a server run by this test binary.
func ownServer(mode string, env ...string) map[string]any {
	variables := map[string]string{mcptest.Mode: mode, "GORACE": "atexit_sleep_ms=0"}
	for i := 0; i+1 < len(env); i += 2 {
		variables[env[i]] = env[i+1]
	}
	return map[string]any{"command": os.Args[0], "env": variables}
}

// configure writes an mcp.json.
func configure(t *testing.T, file string, servers map[string]any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	apptest.Write(t, file, string(text))
}

// followedTwice reads mcp.json twice, as needed to apply it.
func followedTwice(t *testing.T, a *app.App) string {
	t.Helper()
	if text := a.LookAtServers(); text != "" {
		t.Errorf("a file that may be in the middle of being written is applied: %s", text)
	}
	return a.LookAtServers()
}

// untilState waits for a state of the only server.
func untilState(t *testing.T, a *app.App, name string, is func(mcpclient.ServerState) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		for _, s := range a.Servers.State() {
			if s.Name == name && is(s) {
				return
			}
		}
	}
	t.Fatalf("got %+v", a.Servers.State())
}

func running(s mcpclient.ServerState) bool { return s.Status == mcpclient.Running && len(s.Tools) == 1 }

func TestServersFollowTheirFile(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	a := apptest.Open(t)
	file := a.Paths.ServersFile()
	if text := followedTwice(t, a); text != "" {
		t.Errorf("without a file: %s", text)
	}
	servers := map[string]any{"a": ownServer("ok", "API_KEY", "hunter2-hunter2")}
	configure(t, file, servers)
	if got := followedTwice(t, a); got != "mcp.json has changed: added a." {
		t.Errorf("got %q", got)
	}
	if got := a.Secrets.Known("hunter2-hunter2"); strings.Contains(got, "hunter2") {
		t.Errorf("its secret is told: %s", got)
	}
	// Not typed by the user, so it starts only after a review, here or in another LifeHub.
	untilState(t, a, "a", func(s mcpclient.ServerState) bool {
		return s.Status == mcpclient.Off &&
			app.Unseen(s) != ""
	})
	seen := a.Servers.Unseen("a")
	other, err := config.OpenTrust(a.Paths.TrustFile())
	if err != nil {
		t.Fatal(err)
	}
	config, err := config.Read(file)
	if err == nil {
		err = other.Typed(config.Servers[0])
	}
	if err != nil || len(seen) == 0 {
		t.Fatal(seen, err)
	}
	_ = a.LookAtServers()
	untilState(t, a, "a", running)

	// An unreadable file changes nothing and is reported once.
	before := a.Servers.State()[0]
	apptest.Write(t, file, "{\n  \"mcpServers\": {\"a\": {\"command\":")
	got := followedTwice(t, a)
	if !strings.Contains(got, "mcp.json:2: not valid JSON") {
		t.Errorf("got %q", got)
	}
	for range 3 {
		if got := a.LookAtServers(); got != "" {
			t.Errorf("said again: %s", got)
		}
	}
	if got := a.Secrets.Known("hunter2-hunter2"); strings.Contains(got, "hunter2") {
		t.Errorf("while the file cannot be read its secret is told: %s", got)
	}
	configure(t, file, servers)
	if got := followedTwice(t, a); got != "" {
		t.Errorf("as before: %s", got)
	}
	if after := a.Servers.State()[0]; after.Since != before.Since {
		t.Errorf("it was disturbed: %+v, then %+v", before, after)
	}

	// A switch in the panel takes effect at once, without a notice.
	for _, on := range []bool{false, true} {
		if err := a.SwitchServer("a", on); err != nil {
			t.Fatal(err)
		}
		untilState(t, a, "a", func(s mcpclient.ServerState) bool {
			return running(s) == on &&
				(on || s.Status == mcpclient.Off)
		})
		if got := a.LookAtServers() + a.LookAtServers(); got != "" {
			t.Errorf("got %q", got)
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := followedTwice(t, a); got != "mcp.json has changed: removed a." {
		t.Errorf("got %q", got)
	}
	if got := a.Secrets.Known("hunter2-hunter2"); strings.Contains(got, "hunter2") {
		t.Errorf("the secret of a server that is gone is told: %s", got)
	}
}

// asking runs `lifehub ask` in a home with one server, and calls do once stderr contains a text.
func asking(t *testing.T, server map[string]any, once string, do func(), arg ...string) string {
	t.Helper()
	home := t.TempDir()
	configure(t, filepath.Join(home, "lh", "config", "mcp.json"), map[string]any{"late": server})
	cmd := exec.Command(os.Args[0], append([]string{"ask"}, arg...)...)
	cmd.Env = asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_PROVIDER=offline")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	var stderr strings.Builder
	for in := bufio.NewReader(read); ; {
		line, err := in.ReadString('\n')
		stderr.WriteString(line)
		if strings.Contains(line, once) {
			do()
		}
		if err == io.EOF {
			break
		}
	}
	_ = cmd.Wait() // the caller checks the output instead
	return stderr.String()
}

func TestQuestionWaitsForTheNamedServer(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	tools := filepath.Join(t.TempDir(), "tools")
	const tool = `{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`
	do := func() { apptest.Write(t, tools, tool) }
	stderr := asking(t, ownServer("late", mcptest.Given, tools), " to start: late.", do, "--allow", "late_echo",
		"@late_echo text=marmalade")
	if !strings.Contains(stderr, "{\"text\":\"marmalade\"}") || !strings.Contains(stderr, "called late_echo") {
		t.Errorf("got\n%s", stderr)
	}
}

// A server that hangs is given up after 10 s. If it is still starting when the answer arrives, the
// answer did not wait for it.
func TestQuestionDoesNotWaitForAHangingServer(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	stderr := asking(t, ownServer("sleep"), "\x00", nil, "@calculate expression=6*7")
	if !strings.Contains(stderr, "started yet: late.") || !strings.Contains(stderr, "42") {
		t.Errorf("got\n%s", stderr)
	}
}

// If ask has waited for a server in vain, its turn does not wait again.
func TestMessageWaitsOnceForNamedServers(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	a := apptest.Open(t)
	configure(t, a.Paths.ServersFile(), map[string]any{"late": ownServer("sleep")})
	followedTwice(t, a)
	untilState(t, a, "late", func(s mcpclient.ServerState) bool { return s.Status == mcpclient.Off })
	if err := a.Servers.Accept("late", a.Servers.Unseen("late")); err != nil {
		t.Fatal(err)
	}
	untilState(t, a, "late", func(s mcpclient.ServerState) bool { return s.Status == mcpclient.Starting })
	ctx, stop := context.WithCancel(t.Context())
	var lines []string
	say := func(text string) { lines = append(lines, text); stop() }
	a.Prepare(ctx, "ask late", say)
	a.Waited = true
	a.Prepare(t.Context(), "ask late", say)
	if len(lines) != 1 || !strings.Contains(lines[0], "late") {
		t.Errorf("got %q", lines)
	}
}
