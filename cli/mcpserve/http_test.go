package mcpserve

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/internal/apptest"
)

// startHTTP starts a server on a free port and returns its address and its other output.
func startHTTP(t *testing.T, args ...string) (address, stderr string) {
	t.Helper()
	return startHTTPWith(t, exec.Command(os.Args[0], append([]string{"--http", "127.0.0.1:0"}, args...)...))
}

func startHTTPWith(t *testing.T, cmd *exec.Cmd) (address, said string) {
	t.Helper()
	cmd.Env = append(os.Environ(), environ(t.TempDir())...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewReader(stderr)
	for said = ""; strings.Count(said, "\n") < 2; {
		line, err := lines.ReadString('\n')
		if said += line; err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	first, rest, _ := strings.Cut(said, "\n")
	return strings.TrimPrefix(first, "serving on "), rest
}

func TestHTTPServesProgramsWithTheToken(t *testing.T) {
	t.Parallel()
	address, stderr := startHTTP(t, "--notes", vault(t))
	token := strings.TrimPrefix(strings.TrimSpace(stderr), "Authorization: Bearer ")
	c, err := client.NewStreamableHttpClient(address, transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + token}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Initialize(t.Context(), mcp.InitializeRequest{}); err != nil {
		t.Fatal(err)
	}
	if text, result := call(t, c, "search_notes", map[string]any{"query": "Brisk Lane"}); result.IsError || !strings.Contains(text, "431 km") {
		t.Errorf("search: %s", text)
	}
	for name, c := range map[string]struct {
		header, value, host string
		want                int
	}{
		"no token":         {"Authorization", "", "", 401},
		"another token":    {"Authorization", "Bearer " + token[1:] + "x", "", 401},
		"part of it":       {"Authorization", "Bearer " + token[:10], "", 401},
		"no bearer":        {"Authorization", token, "", 401},
		"a page":           {"Origin", "https://evil.example", "", 403},
		"a hidden page":    {"Origin", "null", "", 403},
		"a rebound name":   {"", "", "evil.example", 403},
		"its port":         {"", "", "evil.example:80", 403},
		"a name like ours": {"Origin", "http://localhost.evil.example", "", 403},
		"a huge message":   {"X-Huge", "yes", "", 400},
		"a page of ours":   {"Origin", "http://localhost:3000", "", 200},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
		if c.header == "X-Huge" {
			body = strings.Repeat("[", maxLine+1)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Authorization", "Bearer "+token)
		if c.header != "" {
			r.Header.Set(c.header, c.value)
		}
		if c.host != "" {
			r.Host = c.host
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := io.ReadAll(answer.Body)
		if answer.Body.Close(); answer.StatusCode != c.want {
			t.Errorf("%s: %d %.200s", name, answer.StatusCode, text)
		}
	}
}

func TestTokenInAFileStays(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	_, stderr := startHTTP(t, "--token-file", file, "--notes", vault(t))
	first := apptest.Read(t, file)
	if strings.Contains(stderr, strings.TrimSpace(first)) || len(first) < 32 {
		t.Errorf("the token is %q, said was %s", first, stderr)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v: the file's mode is %v", err, info.Mode())
	}
	startHTTP(t, "--token-file", file, "--notes", vault(t))
	if second := apptest.Read(t, file); second != first {
		t.Errorf("it was %q and is %q", first, second)
	}
	if err := os.Chmod(file, 0o644); err != nil || runtime.GOOS == "windows" {
		t.Skip("the system knows no modes: ", err)
	}
	cmd := exec.Command(os.Args[0], "--http", "127.0.0.1:0", "--token-file", file, "--notes", vault(t))
	cmd.Env = append(os.Environ(), environ(t.TempDir())...)
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "readable by others: chmod 600") {
		t.Errorf("a token that others can read: %v %s", err, out)
	}
}

func TestOnlyThisMachineIsServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{":8765", "0.0.0.0:8765", "[::]:8765", "example.org:80", "127.0.0.1", "192.168.1.5:80"} {
		cmd := exec.Command(os.Args[0], "--http", address, "--notes", vault(t))
		cmd.Env = append(os.Environ(), environ(t.TempDir())...)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "address of this machine") {
			t.Errorf("%s: %v %s", address, err, out)
		}
	}
}
