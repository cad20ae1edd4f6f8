//go:build unix

package cli

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
	"lifehub/internal/mcptest"
	"lifehub/llm/llmtest"

	"lifehub/internal/testenv"
)

// planted are secrets by the place in which each is planted.
var planted = map[string]string{
	"the key of the model server":            "sk-live-Qv7oKey1aaaa",
	"the key of a named server":              "named-Key-2f2f2f",
	"the key that a program prints":          "printed-Key-3a3a3a",
	"the password of mail":                   "mail+Pass/w0rd&2b",
	"the environment of an MCP server":       "env~Token~3c?x=y",
	"the header of an MCP server":            "Bearer-4d/+=xyzzy",
	"the pass of an MCP server":              "pass.access.5e5e5e",
	"the address of an MCP server":           "url-Pass-6f6f",
	"the address of the vector store":        "chroma-Pass-7a7a",
	"LifeHub's own environment":              "environ-Key-8b8b",
	"the arguments of an MCP server":         "arg-Token-9c9c9",
	"the pass of an MCP server, to renew it": "pass.refresh.1e1e",
}

// seenIn returns the secrets that occur in a text, in any encoding.
func seenIn(text string) (found []string) {
	for place, secret := range planted {
		forms := map[string]string{
			"plain": secret, "query": url.QueryEscape(secret), "path": url.PathEscape(secret),
			"hex":  hex.EncodeToString([]byte(secret)),
			"JSON": strings.Trim(string(must(json.Marshal(secret))), `"`),
		}
		for before := range 3 { // its middle in base64, at each offset
			encoded := base64.StdEncoding.EncodeToString(append(make([]byte, before), secret...))
			forms[fmt.Sprint("base64 ", before)] = encoded[4 : len(encoded)-4]
			forms[fmt.Sprint("base64 of URLs ", before)] = strings.NewReplacer("+", "-", "/",
				"_").Replace(encoded[4 : len(encoded)-4])
		}
		for form, written := range forms {
			if strings.Contains(text, written) {
				found = append(found, place+", "+form)
			}
		}
	}
	return found
}

// With an obeying model, a server that prints all it was started with, and every command that
// prints something, no secret is printed, saved or sent.
func TestPlantedSecretsNeverLeak(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home, vault := t.TempDir(), t.TempDir()
	at := func(name ...string) string { return filepath.Join(append([]string{home, "lh"}, name...)...) }
	started := filepath.Join(t.TempDir(), "started")
	model := llmtest.NewFaults(t)
	call := string(must(json.Marshal(map[string]string{"text": planted["the environment of an MCP server"] + " and " +
		base64.StdEncoding.EncodeToString([]byte(planted["the password of mail"]))})))
	model.Play(`{"steps":[{"id":"1","tool":"leaky_echo","input":`+call+
		`},{"id":"2","tool":"search_notes","input":{"query":"run"}}]}`, "You run three times a week.")
	// its error contains what it received
	angry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "no: %v %s", r.Header, r.URL)
	}))
	defer angry.Close()

	apptest.Write(t, filepath.Join(vault, "run.md"), "# Running\n\nI run three times a week.\n")
	apptest.Write(t, filepath.Join(home, "mail-password"), planted["the password of mail"]+"\n")
	apptest.Write(t, filepath.Join(home, "named-key"), planted["the key of a named server"]+"\n")
	apptest.Write(t, filepath.Join(home, "print-key.sh"), "echo "+planted["the key that a program prints"]+"\n")
	apptest.Write(t, at("config", "config.yaml"), "provider: openai\nmode: plan\nmodel: "+llmtest.FaultModel+
		"\nnotes: ["+vault+"]\nopenai:\n  base_url: "+model.URL+"/v1\n  api_key: "+
		planted["the key of the model server"]+
		"\nmail: {host: 127.0.0.1, port: 1, from: ana@example.org, user: ana, password_file: "+
		filepath.Join(home, "mail-password")+
		"}\nrag: {store: chroma, chroma_url: \"http://ana:"+
		planted["the address of the vector store"]+"@127.0.0.1:1\"}\n"+
		"providers:\n  named: {kind: openai, url: \""+angry.URL+
		"/v1\", key_file: ~/named-key}\n  printed: {kind: ollama, url: \""+angry.URL+"\", key_command: [sh, "+
		filepath.Join(home, "print-key.sh")+"]}\n")
	if err := os.Chmod(at("config", "config.yaml"), 0o644); err != nil {
		t.Fatal(err)
	}
	servers := map[string]any{"mcpServers": map[string]any{
		"leaky": map[string]any{
			"command": os.Args[0], "args": []string{"--api-key", planted["the arguments of an MCP server"]},
			"env": map[string]string{
				mcptest.Mode: "leaky", mcptest.Started: started,
				"SERVICE_TOKEN": planted["the environment of an MCP server"], "GORACE": "atexit_sleep_ms=0",
			},
		},
		"far": map[string]any{
			"url":     angry.URL + "/mcp?api_key=" + planted["the address of an MCP server"],
			"headers": map[string]string{"Authorization": "Bearer " + planted["the header of an MCP server"]},
		},
		"pass": map[string]any{"url": angry.URL + "/mcp"},
	}}
	apptest.Write(t, at("config", "mcp.json"), string(must(json.Marshal(servers))))
	apptest.Write(t, at("data", "mcp-passes", "pass.json"), `{"url":"`+angry.URL+
		`/mcp","client_id":"c","token":{"access_token":"`+planted["the pass of an MCP server"]+
		`","token_type":"Bearer","refresh_token":"`+planted["the pass of an MCP server, to renew it"]+`"}}`)

	run := func(arg ...string) string {
		t.Helper()
		cmd := exec.Command(os.Args[0], arg...)
		cmd.Dir = vault
		cmd.Env = asProgram(home, at(), "OTHER_API_KEY="+planted["LifeHub's own environment"])
		out, err := cmd.CombinedOutput()
		if err != nil && cmd.ProcessState == nil {
			t.Fatal(err)
		}
		if found := seenIn(string(out)); len(found) > 0 {
			t.Errorf("lifehub %v prints %q:\n%s", arg, found, out)
		}
		return string(out)
	}
	answer := run("ask", "--allow", "leaky_*", "--stream-json", "what does the leaky server say?")
	if !strings.Contains(answer, "three times a week") || !strings.Contains(answer, "SERVICE_TOKEN=[redacted]") {
		t.Errorf("the server was not asked, or nothing was taken out:\n%s", answer)
	}
	run("ask", "--allow", "leaky_*", "what does the leaky server say?")
	// the turn saves the user's text
	run("ask", "my key is "+planted["the key of the model server"]+", what do you say?")
	// LifeHub searches for these words automatically
	run("ask", "--mode", "loop", "my key is "+planted["the key of the model server"]+", what do you say?")
	run("chat", "--plain", "how often do I run?")
	// the errors of their servers contain the keys they received
	for _, model := range []string{"named/m", "printed/m"} {
		if out := run("ask", "-m", model, "how often do I run?"); !strings.Contains(out, "[redacted]") {
			t.Errorf("the server of %s was not asked:\n%s", model, out)
		}
	}
	for _, command := range []string{
		"doctor", "doctor --json", "config show", "config show --json", "config path", "mcp list", "mcp logs leaky",
		"mcp test far", "mcp test leaky", "tools", "tools leaky_echo", "stats", "chats list",
		"search run", "index", "index --rebuild", "permissions list", "permissions test leaky_echo", "trace list",
		"models list", "memory list",
	} {
		run(strings.Fields(command)...)
	}
	for _, line := range strings.Split(strings.TrimSpace(run("trace", "list")), "\n") {
		turn, _, _ := strings.Cut(line, " ")
		run("trace", "show", turn)
		for _, format := range []string{"md", "json", "html"} {
			run("chats", "export", strings.Split(turn, ".")[0], "--format", format)
		}
	}
	apptest.Write(t, at("config", "config.yaml.broken"), "openai: {api_key: "+
		planted["the key of the model server"]+"\n  x\n")

	kept := map[string]bool{
		at("config", "config.yaml"): true, at("config", "config.yaml.broken"): true,
		at("config", "mcp.json"): true, at("data", "mcp-trust.json"): true, at("data", "mcp-passes", "pass.json"): true,
	}
	files := 0
	err := filepath.WalkDir(at(), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || kept[path] {
			return err
		}
		files++
		for _, found := range seenIn(contents(t, path)) {
			// the user's own message
			if !(strings.HasPrefix(found, "the key of the model server") && strings.Contains(path, "lifehub.db")) {
				t.Errorf("%s holds %s", path, found)
			}
		}
		return nil
	})
	if err != nil || files < 5 {
		t.Errorf("%d files were searched: %v", files, err)
	}
	for _, body := range model.Bodies() {
		if found := seenIn(strings.ReplaceAll(string(body), "my key is "+
			planted["the key of the model server"], "")); len(found) > 0 {
			t.Errorf("the model was told %q:\n%s", found, body)
		}
	}
	child := contents(t, started)
	for _, found := range seenIn(child) {
		if !strings.HasPrefix(found, "the environment of an MCP server,") &&
			!strings.HasPrefix(found, "the arguments of an MCP server,") {
			t.Errorf("a server was started with %s", found)
		}
	}
	if info, err := os.Stat(at("config", "config.yaml")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the settings with a key stay open to others: %v, %v", info, err)
	}
}

// An error in the log is redacted as well.
func TestErrorsInTheLogAreRedacted(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	var log strings.Builder
	c := settings.Defaults()
	c.OpenAI.APIKey = planted["the key of the model server"]
	logger := slog.New(slog.NewTextHandler(app.CleanLog{Writer: &log, Secrets: &settings.Redaction{Config: c}}, nil))
	logger.Error("background work", "fault", fmt.Errorf("bad header %q", "Bearer "+c.OpenAI.APIKey), "stack",
		"main.f(\"https://ana:hunter2pass@example.org/?key="+url.QueryEscape(c.OpenAI.APIKey)+"\")")
	if found := seenIn(log.String()); len(found) > 0 || strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log holds %q:\n%s", found, log.String())
	}
}

// The error of a broken settings file does not include the lines around it.
func TestSettingsErrorsShowNoKey(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	err := settings.Defaults().ReadFile("config.yaml", []byte("openai:\n  api_key: swordfish-in-the-file\n : {\n"))
	if err == nil || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("got %v", err)
	}
}

// A settings file that others can read is made private, and that is reported.
func TestOpenSettingsAreMadePrivate(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	p := settings.Paths{Config: t.TempDir(), Data: t.TempDir(), State: t.TempDir()}
	for _, file := range []string{p.ConfigFile(), p.PermissionsFile(), p.ServersFile()} {
		apptest.Write(t, file, "")
		if err := os.Chmod(file, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	notices, err := app.MakePrivate(p, settings.Defaults())
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "config.yaml, permissions.yaml, mcp.json") {
		t.Errorf("got %q, %v", notices, err)
	}
	for _, file := range []string{p.ConfigFile(), p.PermissionsFile(), p.ServersFile()} {
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info.Mode(), err)
		}
	}
	if notices, err := app.MakePrivate(p, settings.Defaults()); err != nil || notices != nil {
		t.Errorf("the second time: %q, %v", notices, err)
	}
}
