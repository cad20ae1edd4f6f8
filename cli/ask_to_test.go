//go:build unix

package cli

import (
	"bytes"
	"io"
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

// habit is LifeHub as started by cron: no terminal, no stdin, its own home.
type habit struct {
	*testing.T
	home, vault string
	script      *llmtest.Script
	server      string
}

func newHabit(t *testing.T, answers ...llmtest.Answer) *habit {
	t.Helper()
	h := &habit{T: t, home: t.TempDir(), vault: apptest.Vault(t), script: llmtest.NewScript(answers...)}
	h.server = llmtest.Serve(t, h.script)
	apptest.Write(t, h.config("prompts/week.md"), "---\ndescription: my week\ntools: [search_notes]\n---\nHow often "+
		"did I run in $1?\n")
	return h
}

func (h *habit) config(name string) string { return filepath.Join(h.home, ".lifehub", "config", name) }

func (h *habit) note(name string) string { return filepath.Join(h.vault, name) }

func (h *habit) allow(rule string) {
	apptest.Write(h.T, h.config("permissions.yaml"), "rules:\n  - "+rule+"\n")
}

func (h *habit) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append(args, "--notes", h.vault)...)
	cmd.Dir = h.home
	cmd.Env = asProgram(h.home, filepath.Join(h.home, ".lifehub"), "LIFEHUB_PROVIDER=ollama", "OLLAMA_HOST="+h.server,
		"LIFEHUB_MODEL="+llmtest.ServedModel, "LIFEHUB_MODE=plan", "LIFEHUB_EMBED_MODEL=none")
	return cmd
}

func (h *habit) run(args ...string) (code int, out string) {
	h.Helper()
	cmd := h.command(args...)
	text, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		h.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(text)
}

const (
	habitPlan = `{"steps":[{"id":"1","tool":"search_notes","input":{"query":"running"}},{"id":"2",` +
		`"tool":"add_task","input":{"text":"run more"}}]}`
	habitAnswer = "You run “three times a week” [1]."
	intoLog     = "{tool: append_note, args: {path: log/diary.md}, level: auto}"
)

func habitAnswers() []llmtest.Answer {
	return []llmtest.Answer{
		says(asksPlanner, habitPlan), says(asksPlanner, habitPlan),
		says(asksExplainer, habitAnswer),
	}
}

// A saved prompt runs without a terminal. Before asking it reports the missing rule; with that rule
// the answer is added to the note once, with the note's line ends, and can be undone. Tools that
// the prompt does not name do not run.
func TestAnswerOfAPromptGoesIntoANote(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	h := newHabit(t, habitAnswers()...)
	apptest.Write(t, h.note("log/diary.md"), "# Diary\r\n\r\nJanuary")
	ask := []string{"ask", "--prompt", "week", "--to", "log/diary.md", "the winter"}
	code, out := h.run(ask...)
	if code != app.ExitRefused || !strings.Contains(out, "- {tool: append_note, args: {path: 'log/diary.md'}, level: auto}") || len(h.script.Requests()) > 0 {
		t.Errorf("without a rule: exit %d, %d requests\n%s", code, len(h.script.Requests()), out)
	}
	h.allow(intoLog)
	code, out = h.run(ask...)
	want := "# Diary\r\n\r\nJanuary\r\n\r\nYou run “three times a week” [1].\r\n\r\n[1] running.md:"
	if got := apptest.Read(t, h.note("log/diary.md")); code != app.ExitDone || !strings.HasPrefix(got, want) ||
		strings.Count(strings.ReplaceAll(got, "\r\n", ""), "\n") > 0 {
		t.Errorf("exit %d, the note is %q\n%s", code, got, out)
	}
	if !strings.Contains(out, "changed log/diary.md (+") || strings.Contains(apptest.Read(t, h.note("tasks.md")),
		"run more") {
		t.Errorf("it did more, or did not say what: %s", out)
	}
	if asked := h.script.Requests()[0].Messages; !strings.Contains(asked[len(asked)-1].Text,
		"How often did I run in the winter?") {
		t.Errorf("asked was %q", asked[len(asked)-1].Text)
	}
	cmd := h.command("chat", "--plain", "-c")
	cmd.Stdin = strings.NewReader("/undo\n/quit\n")
	if out, err := cmd.CombinedOutput(); err != nil || apptest.Read(t,
		h.note("log/diary.md")) != "# Diary\r\n\r\nJanuary" {
		t.Errorf("undo: %v\n%s", err, out)
	}
}

func TestTodaysNoteIsCreatedForAnAnswer(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	h := newHabit(t, habitAnswers()...)
	code, out := h.run("ask", "--prompt", "week", "--to", "daily")
	if code != app.ExitRefused || !strings.Contains(out, "args: {path: 'daily/????-??-??.md'}") {
		t.Errorf("without a rule: exit %d\n%s", code, out)
	}
	h.allow("{tool: append_note, args: {path: 'daily/????-??-??.md'}, level: auto}")
	code, out = h.run("ask", "-q", "--prompt", "week", "--to", "daily")
	made, err := filepath.Glob(h.note("daily/*.md"))
	if err != nil || code != app.ExitDone || len(made) != 1 {
		t.Fatalf("exit %d, notes %v\n%s", code, made, out)
	}
	day := strings.TrimSuffix(filepath.Base(made[0]), ".md")
	if got := apptest.Read(t, made[0]); !strings.HasPrefix(got, "# "+day+"\n\n"+habitAnswer+"\n") {
		t.Errorf("the note is %q", got)
	}
}

// An incomplete answer is not written, and the exit code reports that.
func TestOnlyACompleteAnswerIsWritten(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, tc := range map[string]struct {
		answers []llmtest.Answer
		note    string // note with the passage; "": the user's own
		to      string
		code    int
		says    string
	}{
		"the model fails": {
			[]llmtest.Answer{says(asksPlanner, habitPlan), says(asksPlanner, habitPlan)},
			"",
			"log/diary.md", app.ExitFailed, "",
		},
		"declined": {[]llmtest.Answer{
			says(asksPlanner,
				`{"steps":[{"id":"1","tool":"search_notes","input":{"query":"quantum chromodynamics"}}]}`),
			says("", "Nothing."), says("", "Nothing."),
		}, "", "log/diary.md", app.ExitFailed, "no note"},
		"untrusted text": {habitAnswers(), "---\nsource: https://example.org\n---\nThe running club runs three " +
			"times a week.\n", "log/diary.md", app.ExitRefused, "--allow-untrusted 'append_note path=log/diary.md'"},
		"no such note":      {nil, "", "nowhere.md", app.ExitUsage, "nowhere.md"},
		"outside the notes": {nil, "", "../runs.md", app.ExitUsage, "../runs.md"},
		"what is no note":   {nil, "", "running.txt", app.ExitUsage, "running.txt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHabit(t, tc.answers...)
			h.allow("{tool: append_note, level: auto}")
			if tc.note != "" {
				apptest.Write(t, h.note("running.md"), tc.note)
			}
			if name == "declined" {
				apptest.Write(t, h.config("prompts/week.md"),
					"---\ndescription: my week\n---\nWhat is quantum chromodynamics about?\n")
			}
			code, out := h.run("ask", "--prompt", "week", "--to", tc.to)
			if _, err := os.Stat(h.note("log/diary.md")); err == nil || code != tc.code ||
				!strings.Contains(out, tc.says) {
				t.Errorf("exit %d, want %d; written: %t\n%s", code, tc.code, err == nil, out)
			}
			if tc.code == app.ExitRefused { // the suggested flag works
				h := newHabit(t, habitAnswers()...)
				apptest.Write(t, h.note("running.md"), tc.note)
				if code, out := h.run("ask", "--prompt", "week", "--to", tc.to, "--allow-untrusted",
					"append_note path=log/diary.md"); code != app.ExitDone ||
					!strings.Contains(out, "log/diary.md (+") {
					t.Errorf("allowed: exit %d\n%s", code, out)
				}
			}
		})
	}
}

// Killed between the answer and the note, and run again: the note contains the answer once, and
// what was written to it meanwhile.
func TestKilledHabitWritesOnce(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	hold := make(chan struct{})
	first := says(asksExplainer, habitAnswer)
	first.Hold, first.HoldAfter = hold, len(strings.SplitAfter(habitAnswer, " "))
	h := newHabit(t, says(asksPlanner, habitPlan), says(asksPlanner, habitPlan), first,
		says(asksExplainer, habitAnswer))
	h.allow(intoLog)
	apptest.Write(t, h.note("log/diary.md"), "# Diary\n")
	ask := []string{"ask", "--prompt", "week", "--to", "log/diary.md", "May"}
	killed := h.command(ask...)
	pipe, err := killed.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(); err != nil {
		t.Fatal(err)
	}
	var output bytes.Buffer
	for !strings.Contains(output.String(), "week") { // all of the answer except its end
		if _, err := io.CopyN(&output, pipe, 1); err != nil {
			t.Fatalf("%v\n%s", err, output.String())
		}
	}
	_ = killed.Process.Kill()
	_ = killed.Wait() // it reports that it was killed
	close(hold)
	apptest.Write(t, h.note("log/diary.md"), "# Diary\n\nwritten meanwhile\n")

	code, out := h.run(ask...)
	got := apptest.Read(t, h.note("log/diary.md"))
	if code != app.ExitDone || !strings.Contains(out, "resuming") || strings.Count(got, habitAnswer) != 1 ||
		!strings.Contains(got, "written meanwhile\n\n") {
		t.Errorf("exit %d, the note is %q\n%s", code, got, out)
	}
	if plans := len(h.script.Requests()); plans != 4 {
		t.Errorf("%d requests; the plan was kept", plans)
	}
}

// Text written to the note while the model answers is preserved.
func TestConcurrentChangeOfTheNoteIsKept(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	hold := make(chan struct{})
	answers := habitAnswers()
	answers[2].Hold = hold
	h := newHabit(t, answers...)
	h.allow(intoLog)
	apptest.Write(t, h.note("log/diary.md"), "# Diary\n")
	cmd := h.command("ask", "-q", "--prompt", "week", "--to", "log/diary.md")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); len(h.script.Requests()) < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not ask for the answer")
		}
	}
	apptest.Write(t, h.note("log/diary.md"), "# Diary\n\nwritten meanwhile\n")
	close(hold)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := apptest.Read(t, h.note("log/diary.md")); !strings.HasPrefix(got,
		"# Diary\n\nwritten meanwhile\n\n"+habitAnswer+"\n") {
		t.Errorf("the note is %q", got)
	}
}
