//go:build unix

package acp_test

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"lifehub/internal/apptest"
	"lifehub/llm"
	"lifehub/llm/llmtest"
)

// An answer to a permission request has no field for a reason, so an editor that shows forms is asked for it in one.
func TestReasonOfADenialReachesTheModel(t *testing.T) {
	model := llmtest.NewScript(
		llmtest.Answer{Match: asksPlanner, Text: `{"steps":[{"id":"1","tool":"add_task","input":{"text":"call ` +
			`Ines"}},{"id":"2","tool":"search_notes","input":{"query":"Ines"}}]}`, Always: true},
		llmtest.Answer{Match: asksExplainer, Text: "So not.", Always: true},
	)
	env := environ(t, t.TempDir(), model)
	vault := indexed(t, env)
	e, _ := inside(t, env, vault)
	e.answer = func(sdk.RequestPermissionRequest) string { return "no_because" }
	e.form = map[string]any{"reason": "Ines is away until May"}
	id := e.begin(t, vault)
	for _, shows := range []bool{false, true} {
		e.showForms(t, shows)
		e.ask(t, id, text("remind me to call Ines"))
		asked := e.asked[len(e.asked)-1]
		offered := slices.ContainsFunc(asked.Options, func(o sdk.PermissionOption) bool { return o.OptionId == "no_because" })
		requests := model.Requests()
		if reached := strings.Contains(jsonOf(requests[len(requests)-1]), "Ines is away until May"); offered != shows ||
			reached != shows {
			t.Errorf("forms %v: offered %v, reached the model %v", shows, offered, reached)
		}
	}
	if strings.Contains(apptest.Read(t, filepath.Join(vault, "tasks.md")), "Ines") {
		t.Error("a denied call ran")
	}
}

func TestImageOfAPromptReachesTheModel(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	model := runs()
	env := environ(t, t.TempDir(), model, "vision")
	vault := indexed(t, env)
	apptest.Write(t, filepath.Join(vault, "pictures", "plan.png"), picture.String())
	e, leave := inside(t, env, vault)
	id := e.begin(t, t.TempDir())
	for name, block := range map[string]sdk.ContentBlock{
		"embedded": sdk.ImageBlock(base64.StdEncoding.EncodeToString(picture.Bytes()), "image/png"),
		"linked":   sdk.ResourceLinkBlock("plan.png", "file://"+vault+"/pictures/plan.png"),
	} {
		e.forget()
		e.ask(t, id, text("what is on this?"), block)
		requests := model.Requests()
		if !slices.ContainsFunc(requests[len(requests)-1].Messages, func(m llm.Message) bool {
			return slices.ContainsFunc(m.Images, func(data []byte) bool { return bytes.Equal(data, picture.Bytes()) })
		}) {
			t.Errorf("%s: the model did not see the image; told: %s", name, jsonOf(e.told(id)))
		}
	}
	stored, err := filepath.Glob(filepath.Join(temporary, "lifehub-images-*", "*.png"))
	if err != nil || len(stored) == 0 {
		t.Fatalf("the image is at %v: %v", stored, err)
	}
	leave()
	if _, err := os.Stat(stored[0]); err == nil {
		t.Errorf("%v is left", stored)
	}
}

// A server of the editor is added only if the user agrees, and asked about once for a connection.
func TestServerOfTheEditorNeedsAYes(t *testing.T) {
	home := t.TempDir()
	env := environ(t, home, nil)
	vault := indexed(t, env)
	mark := filepath.Join(t.TempDir(), "started")
	server := func(name, arg string) sdk.McpServer {
		return sdk.McpServer{Stdio: &sdk.McpServerStdio{
			Name: name, Command: "touch", Args: []string{arg},
			Env: []sdk.EnvVariable{{Name: "KEY", Value: "hidden-value"}},
		}}
	}
	open := func(e *editor, server sdk.McpServer) string {
		got, err := e.NewSession(t.Context(), sdk.NewSessionRequest{Cwd: vault, McpServers: []sdk.McpServer{server}})
		if err != nil {
			t.Fatal(err)
		}
		e.ask(t, got.SessionId, text("hello"))
		return asides(e.told(got.SessionId))
	}
	for _, answer := range []string{"no", "", "once", "always"} { // only the last is an offered yes
		e, leave := inside(t, env, vault)
		e.answer = func(sdk.RequestPermissionRequest) string { return answer }
		said := open(e, server("own", mark))
		open(e, server("own", mark))
		if len(e.asked) != 1 || !strings.HasSuffix(*e.asked[0].ToolCall.Title, "own? touch "+mark) {
			t.Fatalf("%q: asked %s", answer, jsonOf(e.asked))
		}
		if question := jsonOf(e.asked[0]); !strings.Contains(question, "KEY") ||
			strings.Contains(question, "hidden-value") {
			t.Errorf("the question is %s", question)
		}
		file, err := os.ReadFile(filepath.Join(home, "lh", "config", "mcp.json"))
		if added := err == nil && strings.Contains(string(file), mark); added != (answer == "always") ||
			added != strings.Contains(said, "review its tools") {
			t.Errorf("%q: mcp.json is %s; told %s", answer, file, said)
		}
		if _, err := os.Stat(mark); err == nil && answer != "always" {
			t.Errorf("%q started it", answer)
		}
		leave()
	}
	e, _ := inside(t, env, vault)
	for _, known := range []struct {
		server sdk.McpServer
		says   string
	}{{server("own", mark), ""}, {server("odd", "$"+"{HOME}"), "contains"}} {
		if said := open(e, known.server); strings.Contains(said, "not used") != (known.says != "") ||
			!strings.Contains(said, known.says) {
			t.Errorf("%s: told %s", jsonOf(known.server), said)
		}
	}
	e, _ = inside(t, env, vault)
	if said := open(e, server("own", "other")); !strings.Contains(said, "that name") || len(e.asked) > 0 {
		t.Errorf("another server of the same name: asked %d times, told %s", len(e.asked), said)
	}
}

func TestEmptySessionIsLoadedAgain(t *testing.T) {
	env := environ(t, t.TempDir(), nil)
	vault := indexed(t, env)
	e, _ := inside(t, env, vault)
	id := e.begin(t, vault)
	load(t, e, id, vault)
	if _, err := e.ResumeSession(t.Context(), sdk.ResumeSessionRequest{SessionId: id, Cwd: vault}); err != nil {
		t.Error(err)
	}
	if e.ask(t, id, text("hello")); !strings.Contains(answered(e.told(id)), "No model") {
		t.Errorf("told %s", jsonOf(e.told(id)))
	}
}

func TestListHasAllConversations(t *testing.T) {
	home := t.TempDir()
	env := environ(t, home, nil)
	vault := indexed(t, env)
	e, leave := inside(t, env, vault)
	e.ask(t, e.begin(t, vault), text("hello"))
	leave()
	db, err := sql.Open("sqlite", filepath.Join(home, "lh", "data", "lifehub.db"))
	if err == nil {
		_, err = db.Exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
			INSERT INTO conversations (id, title, created, updated) SELECT 'old-' || i, 'old', 1, 1 FROM n`)
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	e, _ = inside(t, env, vault)
	for _, cwd := range []*string{nil, &vault} {
		if got, err := e.ListSessions(t.Context(), sdk.ListSessionsRequest{Cwd: cwd}); err != nil ||
			len(got.Sessions) != 301 {
			t.Errorf("%d of 301 conversations: %v", len(got.Sessions), err)
		}
	}
}
