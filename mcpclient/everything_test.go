package mcpclient

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/mcpclient/config"
)

// npm returns the entry of a real server from npm.
func npm(t *testing.T, name, pkg string, args ...string) config.Entry {
	t.Helper()
	return config.Entry{
		Name: name, Transport: config.Stdio, Command: testenv.Npm(t, pkg),
		Args: args, Level: agent.Confirm,
	}
}

func TestServerEverythingWorksAsATool(t *testing.T) {
	files := t.TempDir()
	s := start(t, Options{Version: "test", Files: files}, npm(t, "everything",
		"@modelcontextprotocol/server-everything"))
	var names []string
	for _, tool := range s.Tools() {
		names = append(names, tool.Spec().Name)
		if !json.Valid(tool.Spec().Schema) || tool.Spec().Description == "" ||
			tool.Properties().Level != agent.Confirm {
			t.Errorf("%+v", tool.Spec())
		}
	}
	if len(names) < 10 {
		t.Fatalf("got tools %v", names)
	}
	for name, c := range map[string]struct{ args, want string }{
		"everything_echo":                   {`{"message":"Grüße, 世界"}`, "Grüße, 世界"},
		"everything_get-sum":                {`{"a":9007199254740993,"b":0}`, "900719925474099"},
		"everything_get-tiny-image":         {``, ".png"},
		"everything_get-structured-content": {`{"location":"Chicago"}`, "temperature"},
		"everything_get-resource-reference": {
			`{"resourceType":"Text","resourceId":1}`,
			"[resource demo://resource/dynamic/text/1]",
		},
		"everything_get-resource-links": {`{"count":2}`, "[resource demo://"},
	} {
		result, err := one(t, s, name).Run(t.Context(), json.RawMessage(c.args))
		if err != nil || !strings.Contains(result.Text, c.want) || !result.Untrusted {
			t.Errorf("%s: got %+v, %v, want %q in it", name, result, err, c.want)
		}
	}
	if _, err := one(t, s, "everything_get-sum").Run(t.Context(), json.RawMessage(`{"a":"x"}`)); err == nil ||
		!strings.Contains(err.Error(), "a") {
		t.Errorf("wrong arguments: got %v", err)
	}
	// The child's environment contains only what its entry declares.
	t.Setenv("LIFEHUB_TEST_SECRET", "hunter2")
	result, err := one(t, s, "everything_get-env").Run(t.Context(), nil)
	if err != nil || strings.Contains(result.Text, "hunter2") || !strings.Contains(result.Text, "PATH") {
		t.Errorf("got %.300s, %v", result.Text, err)
	}
	images, _ := filepath.Glob(filepath.Join(files, "everything_get-tiny-image-*.png"))
	if len(images) != 1 {
		t.Errorf("got images %v", images)
	}
	if st := s.State()[0]; st.Status != Running || st.About == "" || st.Tokens == 0 || st.Calls != 8 {
		t.Errorf("got state %+v", st)
	}
}

func TestResourcesAndPromptsAreListedAndRead(t *testing.T) {
	t.Parallel()
	logs := t.TempDir()
	s := start(t, Options{Logs: logs}, npm(t, "everything", "@modelcontextprotocol/server-everything"),
		bad("bad", "ok"))
	var text, template string
	for _, r := range s.Resources() {
		if r.Server != "everything" || r.Name == "" {
			t.Errorf("got %+v", r)
		}
		switch {
		case r.Template && strings.Contains(r.URI, "text"):
			template = r.URI
		case text == "" && !r.Template:
			text = r.URI
		}
	}
	if text == "" || template == "" {
		t.Fatalf("got resources %+v", s.Resources())
	}
	for _, uri := range []string{text, strings.NewReplacer("{resourceId}", "3").Replace(template)} {
		if r, err := s.ReadResource(t.Context(), "everything", uri); err != nil ||
			!strings.HasPrefix(r.Text, "[resource "+uri+"]") || !r.Untrusted {
			t.Errorf("%s: got %+v, %v", uri, r, err)
		}
	}
	if _, err := s.ReadResource(t.Context(), "everything", "demo://nothing"); err == nil {
		t.Error("read what is not there")
	}
	if _, err := s.ReadResource(t.Context(), "nobody", "x://y"); err == nil ||
		!strings.Contains(err.Error(), `no MCP server "nobody"`) {
		t.Errorf("got %v", err)
	}

	prompts := map[string]Prompt{}
	for _, p := range s.Prompts() {
		prompts[p.Name] = p
	}
	if p := prompts["args-prompt"]; len(p.Args) != 2 || !p.Args[0].Required || p.Args[0].Name != "city" {
		t.Fatalf("got prompts %+v", s.Prompts())
	}
	messages, err := s.FillPrompt(t.Context(), "everything", "args-prompt", map[string]string{"city": "Hamburg"})
	if err != nil || len(messages) != 1 || !strings.Contains(messages[0].Text, "Hamburg") {
		t.Errorf("got %+v, %v", messages, err)
	}
	if _, err := s.FillPrompt(t.Context(), "everything", "args-prompt", nil); err == nil {
		t.Error("a required blank was left out")
	}
	if log, err := os.ReadFile(filepath.Join(logs, "everything.log")); err != nil || len(log) == 0 {
		t.Errorf("the log holds %q, %v", log, err)
	}
}

func TestServerFilesystemReadsOnlyItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan.md"), []byte("run on Sunday"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := start(t, Options{}, npm(t, "files", "@modelcontextprotocol/server-filesystem", dir))
	read := one(t, s, "files_read_text_file")
	args, _ := json.Marshal(map[string]string{"path": filepath.Join(dir, "plan.md")})
	if result, err := read.Run(t.Context(), args); err != nil || !strings.Contains(result.Text, "run on Sunday") {
		t.Errorf("got %+v, %v", result, err)
	}
	if _, err := read.Run(t.Context(), json.RawMessage(`{"path":"/etc/passwd"}`)); err == nil ||
		!strings.Contains(err.Error(), "denied") {
		t.Errorf("got %v", err)
	}
}

func TestServersNeedTheirCredentialsToStart(t *testing.T) {
	brave := npm(t, "brave", "@brave/brave-search-mcp-server")
	brave.Env = map[string]string{"BRAVE_API_KEY": "${LIFEHUB_TEST_BRAVE}"}
	s := start(t, Options{}, brave)
	if st := s.State()[0]; st.Status != Off || st.Reason != "needs LIFEHUB_TEST_BRAVE" || len(s.Tools()) != 0 {
		t.Errorf("without its key: %+v", st)
	}
	t.Setenv("LIFEHUB_TEST_BRAVE", "dummy")
	s = start(t, Options{}, brave)
	one(t, s, "brave_web_search")
}
