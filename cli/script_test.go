package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lifehub/internal/mcptest"

	"lifehub/internal/testenv"
)

// runAsProgram makes the test binary run as lifehub: see TestMain.
const runAsProgram = "LIFEHUB_TEST_RUN=1"

// quickExit avoids a wait of one second before each exit under the race detector.
const quickExit = "GORACE=atexit_sleep_ms=0"

// fewCollections halves the cost of starting a short-lived program; the tests start it a thousand
// times.
const fewCollections = "GOGC=400"

func TestMain(m *testing.M) {
	mcptest.Main()
	testenv.Parallel(4)
	if os.Getenv("LIFEHUB_TEST_RUN") != "" {
		beforeMain()
		os.Exit(lifehub())
	}
	testscript.Main(m, map[string]func(){
		"lifehub": func() { os.Exit(lifehub()) },
	})
}

// lifehub runs the program, in any working directory, without the text of the licences.
func lifehub() int {
	_, file, _, _ := runtime.Caller(0)
	return Main("", os.DirFS(filepath.Join(filepath.Dir(file), "..")))
}

// patience bounds each wait for the program, so that a test fails rather than hangs. It is not a
// speed limit: the machine may be busy.
const patience = 90 * time.Second

// The beginnings of the prompts, by which a scripted model recognises its role.
const (
	asksPlanner   = "Plan for this message"
	asksExplainer = "Answer this message of the user now"
	asksLoop      = "You answer the user's last message. The tools"
	asksLead      = "You lead a team"
	asksJudge     = "You judge whether"
)

// beforeMain is called before the program begins.
var beforeMain = func() {}

// TestCommandLine runs testdata/script: the whole program, each script in an empty home, without a
// model server.
func TestCommandLine(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	starter, err := filepath.Abs("../examples/notes")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, quickExit, fewCollections)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("LIFEHUB_HOME", filepath.Join(env.WorkDir, ".lifehub"))
			env.Setenv("OLLAMA_HOST", "127.0.0.1:1") // nothing listens there
			env.Setenv("STARTER", starter)
			env.Setenv("EDITOR", "")
			env.Setenv("VISUAL", "")
			return nil
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func jsonOf(value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		return "{}"
	}
	return string(raw)
}
