//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/llm/llmtest"
)

// writtenDocument returns a home in which a team wrote a document from a web search and changed it,
// and a vault.
func writtenDocument(t *testing.T) (home, vault string, run func(arg ...string) (string, int)) {
	t.Helper()
	vault = apptest.Vault(t)
	model := llmtest.NewScript(
		calls(asksLead, "delegate", `{"worker_type":"search","task_description":"WEB: asyncio",`+
			`"success_criteria":"x"}`),
		calls(asksLead, "delegate", `{"worker_type":"general","task_description":"WRITE it","success_criteria":"x"}`),
		says(asksJudge, passes), says(asksJudge, passes), says(asksLead, "The document is made."),
		calls("WRITE", "create_artifact", `{"name":"asyncio tips","text":"# asyncio\n\n- TaskGroup\n- timeouts\n- `+
			`timeouts\n","why":"first draft"}`),
		calls("WRITE", "update_artifact", `{"name":"asyncio tips","old_text":"- timeouts\n","new_text":""}`),
		calls("WRITE", "update_artifact", `{"name":"asyncio tips","old_text":"- TaskGroup","new_text":"- prefer `+
			`TaskGroup","why":"said plainer"}`),
		says("WRITE", "Made and changed."),
		calls("WEB", "brave_web_search", `{"query":"asyncio"}`), says("WEB", "Prefer TaskGroup."),
	)
	home = aHome(t)
	out := tellIn(t, home, vault, llmtest.Serve(t, model), llmtest.ServedModel, "team", "asyncio best practices?")
	if !strings.Contains(string(out), "matches 2 times") {
		t.Errorf("the model was not told that the passage is not unique:\n%s", out)
	}
	return home, vault, func(arg ...string) (string, int) {
		cmd := exec.Command(os.Args[0], append([]string{"artifacts"}, arg...)...)
		cmd.Env = asProgram(home, filepath.Join(home, ".lifehub"), "LIFEHUB_PROVIDER=offline")
		cmd.Dir = home
		out, _ := cmd.CombinedOutput()
		return string(out), cmd.ProcessState.ExitCode()
	}
}

func TestDocumentsAreListedShownComparedAndExported(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home, _, run := writtenDocument(t)
	for _, each := range []struct {
		arg  []string
		code int
		want []string
	}{
		{[]string{"list"}, app.ExitDone, []string{"asyncio tips  version 2", "by general"}},
		{[]string{"list", "--json"}, app.ExitDone, []string{
			`{"artifacts":[{`, `"version":2`, `"by":"general"`,
			`"why":"said plainer"`,
		}},
		{[]string{"list", "--chat", "none", "--json"}, app.ExitDone, []string{`{"artifacts":[]}`}},
		{[]string{"show", "asyncio tips"}, app.ExitDone, []string{"# asyncio\n\n- prefer TaskGroup\n"}},
		{[]string{"show", "asyncio tips", "1"}, app.ExitDone, []string{"# asyncio\n\n- TaskGroup\n"}},
		{[]string{"show", "asyncio tips", "3"}, app.ExitNothing, []string{"no such artifact"}},
		{[]string{"show", "asyncio tips", "0"}, app.ExitUsage, []string{`"0" is not a version`}},
		{[]string{"show", "asyncio tips", "two"}, app.ExitUsage, []string{`"two" is not a version`}},
		{[]string{"show", "other"}, app.ExitNothing, []string{`"other"`, "artifacts list"}},
		{[]string{"show"}, app.ExitUsage, []string{"artifacts show --help"}},
		{[]string{"diff", "asyncio tips"}, app.ExitDone, []string{
			"version 1, ", "by general  first draft",
			"+# asyncio", "version 2, ", "said plainer", "-- TaskGroup\n+- prefer TaskGroup",
		}},
		{[]string{"diff", "asyncio tips", "2"}, app.ExitDone, []string{"--- 1\n+++ 2", "+- prefer TaskGroup"}},
		{[]string{"export", "asyncio tips", "out.md"}, app.ExitDone, nil},
		{[]string{"export", "asyncio tips", "out.md"}, app.ExitFailed, []string{"export asyncio tips", "exists"}},
		{[]string{"export", "--force", "asyncio tips", "out.md"}, app.ExitDone, nil},
		{
			[]string{"export", "asyncio tips", "no/such/folder.md"},
			app.ExitFailed,
			[]string{"no such file or directory"},
		},
		{[]string{"export", "nothing", "x.md"}, app.ExitNothing, []string{`"nothing"`}},
	} {
		out, code := run(each.arg...)
		if code != each.code {
			t.Errorf("%q ended with %d, want %d:\n%s", each.arg, code, each.code, out)
		}
		for _, want := range each.want {
			if !strings.Contains(strings.ToLower(out), strings.ToLower(want)) {
				t.Errorf("%q does not say %q:\n%s", each.arg, want, out)
			}
		}
	}
	if got := apptest.Read(t, filepath.Join(home, "out.md")); got != "---\nsource: [\"the MCP server "+
		"brave\"]\n---\n\n# asyncio\n\n- prefer TaskGroup\n- timeouts\n- timeouts\n" {
		t.Errorf("the file holds\n%s", got)
	}
}

func TestDocumentBecomesANoteInTheChat(t *testing.T) {
	t.Parallel()
	home, vault, _ := writtenDocument(t)
	term := startTerminal(t, 110, 36, []string{
		"LIFEHUB_HOME=" + filepath.Join(home, ".lifehub"),
		"LIFEHUB_PROVIDER=offline",
	}, "chat", "-c", "--notes", vault)
	term.sees("2 notes", "The document is made.")
	term.types("/artifacts\r")
	term.sees("asyncio tips", "2 versions")
	term.types("\r")
	term.sees("asyncio tips: versions", "said plainer", "first draft")
	term.types("\r")
	term.sees("version 2 of 2, by general", "+- prefer TaskGroup")
	term.types("\x1b")
	term.waits(func(screen string) bool {
		return strings.Contains(screen, "Ask anything") && !strings.Contains(screen, "version 2 of 2")
	}, "is without the document") // half a frame may still show the message box below it
	term.types("/export asyncio tips ideas/asyncio.md\r")
	term.sees("Allow once", "ideas/asyncio.md", "the MCP server brave")
	note := filepath.Join(vault, "ideas", "asyncio.md")
	if _, err := os.Stat(note); err == nil {
		t.Fatal("the note was made before anyone said yes")
	}
	<-time.After(700 * time.Millisecond) // the dialog ignores keys for 500 ms of real time
	term.types("y\r")
	term.sees("created ideas/asyncio.md")
	if got := apptest.Read(t, note); !strings.Contains(got, "- prefer TaskGroup") {
		t.Errorf("the note is\n%s", got)
	}
}
