package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/internal/webtest"
	"lifehub/llm/llmtest"
)

// askWeb runs the real command, with the test's web. The test fails unless there is an answer, or
// the exit code reports that every step failed.
func askWeb(t *testing.T, web *webtest.Server, more []string, args ...string) (out []byte, said string) {
	t.Helper()
	home := t.TempDir()
	cmd := exec.Command(os.Args[0], append([]string{"ask"}, args...)...)
	cmd.Env = append(asProgram(home, filepath.Join(home, "lh"), "LIFEHUB_WEB_SEARCH_URL="+web.URL+"/html/"), more...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if failed := strings.Contains(stderr.String(), "every step failed"); err != nil && !failed || err == nil && failed {
		t.Fatalf("%v: %s%s", err, out, stderr.String())
	}
	return out, stderr.String()
}

func TestAskSearchesTheWebAndCitesIt(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	web := webtest.New(t)
	model := llmtest.NewFaults(t)
	page := web.URL + "/marathon"
	steps, err := json.Marshal(map[string]any{"reasoning": "the web knows", "steps": []agent.Step{
		{ID: "1", Tool: "web_search", Input: json.RawMessage(`{"query":"marathon training tips"}`)},
		// URLs in search results may be opened
		{ID: "2", Tool: "web_fetch", Input: json.RawMessage(`{"url":"` + page + `"}`), After: []string{"1"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const quoted = "Raise it by ten percent each week, and shorten it by half in every fourth week, so that legs and " +
		"tendons get the rest they need."
	model.Play(string(steps), "“"+quoted+"” [4] [1]")
	env := []string{
		"LIFEHUB_MODE=plan", "LIFEHUB_PROVIDER=openai", "OPENAI_BASE_URL=" + model.URL + "/v1",
		"LIFEHUB_MODEL=" + llmtest.FaultModel,
	}
	out, stderr := askWeb(t, web, env, "--json", "Search the web for marathon training tips, and read the best page.")
	var answered struct {
		Citations []agent.Citation
		Metrics   agent.Metrics
		Exit      int
	}
	if err := json.Unmarshal(out, &answered); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if answered.Exit != 0 || answered.Metrics.ToolCalls != 2 || answered.Metrics.ToolsDenied != 0 {
		t.Errorf("exit %d, %+v\n%s", answered.Exit, answered.Metrics, stderr)
	}
	i := slices.IndexFunc(answered.Citations, func(c agent.Citation) bool { return c.N == 4 })
	if i < 0 || answered.Citations[i].Path != page || answered.Citations[i].Verdict != agent.Verified ||
		answered.Citations[i].Quote != quoted {
		t.Errorf("the citations are %+v", answered.Citations)
	}
	if want := []string{"/html/?q=marathon+training+tips", "/marathon"}; !slices.Equal(web.Asked(), want) {
		t.Errorf("the web was asked %v, want %v", web.Asked(), want)
	}
	if _, stderr := askWeb(t, web, env, "Search the web for marathon training tips, and read the best page."); !strings.Contains(stderr, "[4] "+page+" ✓") {
		t.Errorf("the citations read\n%s", stderr)
	}
}

func TestWithoutAModelTheWebIsSearchedByName(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	web := webtest.New(t)
	out, stderr := askWeb(t, web, []string{"LIFEHUB_PROVIDER=offline"}, "@web_search marathon training tips")
	if !strings.Contains(string(out), " · not written") || !strings.Contains(stderr, "[1] "+web.URL+"/marathon") {
		t.Errorf("it says\n%s\n%s", out, stderr)
	}
	out, stderr = askWeb(t, web, []string{"LIFEHUB_PROVIDER=offline"}, "@web_search query=captcha")
	if !strings.Contains(string(out), "asks for a captcha") {
		t.Errorf("a captcha: it says\n%s\n%s", out, stderr)
	}
	before := len(web.Asked())
	for _, prose := range []string{
		"Search the web for marathon training tips",
		"Look up the internet password in my notes", "Read " + web.URL + "/marathon",
	} {
		askWeb(t, web, []string{"LIFEHUB_PROVIDER=offline"}, prose)
	}
	if len(web.Asked()) != before {
		t.Errorf("prose asked the web for %v", web.Asked()[before:])
	}
	before = len(web.Asked())
	out, _ = askWeb(t, web, []string{"LIFEHUB_PROVIDER=offline", "LIFEHUB_TOOLS_OFF=web_*"}, "@web_search marathon")
	if len(web.Asked()) != before {
		t.Errorf("it was switched off, and asked %v:\n%s", web.Asked()[before:], out)
	}
}
