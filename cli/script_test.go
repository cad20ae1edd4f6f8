package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"lifehub/internal/mcptest"
	"lifehub/llm/llmtest"

	"lifehub/internal/testenv"
)

// repositoryVariable makes the test binary run as lifehub, with the examples of the repository that it names.
const repositoryVariable = "LIFEHUB_TEST_RUN"

// repository is the folder above this package, in which its tests start.
var repository = func() string {
	folder, err := filepath.Abs("..")
	if err != nil {
		panic(err) // the working directory is gone
	}
	return folder
}()

// asProgram is the environment in which the test binary runs as lifehub: see TestMain. Its data is in
// the folder data, or where it is for a user if data is empty. It exits at once under the race
// detector, and few collections halve the cost of a short-lived program: the tests start a thousand.
func asProgram(home, data string, more ...string) []string {
	env := []string{
		repositoryVariable + "=" + repository, "GORACE=atexit_sleep_ms=0", "GOGC=400",
		"HOME=" + home, "PATH=" + os.Getenv("PATH"),
	}
	if data != "" {
		env = append(env, "LIFEHUB_HOME="+data)
	}
	return append(env, more...)
}

func TestMain(m *testing.M) {
	mcptest.Main()
	testenv.Parallel(4)
	if os.Getenv(repositoryVariable) != "" {
		beforeMain()
		os.Exit(lifehub())
	}
	testscript.Main(m, map[string]func(){
		"lifehub": func() { os.Exit(lifehub()) },
	})
}

// lifehub runs the program, in any working directory, without the text of the licences.
func lifehub() int { return Main("", os.DirFS(os.Getenv(repositoryVariable))) }

// patience bounds each wait for the program, so that a test fails rather than hangs. It is not a
// speed limit: the machine may be busy.
const patience = 90 * time.Second

// The beginnings of the prompts, by which a scripted model recognises its role.
const (
	asksPlanner   = llmtest.PlanMark
	asksExplainer = llmtest.AnswerMark
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
			path := "PATH=" + env.Getenv("PATH") // with the program in it
			env.Vars = append(env.Vars, asProgram(env.WorkDir, filepath.Join(env.WorkDir, ".lifehub"), path,
				"OLLAMA_HOST=127.0.0.1:1", "STARTER="+starter, "EDITOR=", "VISUAL=")...) // nothing listens there
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
