//go:build unix

package app_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
)

// hooked is a home with hooks, which are shell scripts, and a vault.
type hooked struct {
	t           *testing.T
	home, vault string
	call, after string // the scripts
}

func newHooked(t *testing.T, call, after string) *hooked {
	dir := t.TempDir()
	h := &hooked{
		t: t, home: dir, vault: apptest.Vault(t), call: filepath.Join(dir, "call.sh"),
		after: filepath.Join(dir, "after.sh"),
	}
	apptest.Write(t, filepath.Join(dir, "config", "config.yaml"),
		fmt.Sprintf("provider: offline\nhooks:\n  before_call: [/bin/sh, %s]\n  after_turn: [/bin/sh, %s]\n", h.call,
			h.after))
	apptest.Write(t, h.call, call)
	apptest.Write(t, h.after, after)
	return h
}

// trust reviews both hooks as they are now.
func (h *hooked) trust() {
	h.t.Helper()
	p, c, err := app.LoadSettings(apptest.Process(h.home))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, hook := range app.Hooks(p, c) {
		changes, err := hook.Unseen()
		if err == nil {
			err = hook.Accept(changes)
		}
		if err != nil || hook.Problem() != "" {
			h.t.Fatalf("%v, %s", err, hook.Problem())
		}
	}
}

// add has a turn call add_task, for which a rule may stand. It returns the questions and the last
// step. The user says no.
func (h *hooked) add(allowed bool) (asked []agent.PermissionAsked, step agent.StepChanged, told string) {
	h.t.Helper()
	if allowed {
		apptest.Write(h.t, filepath.Join(h.home, "config", "permissions.yaml"),
			"rules: [{tool: add_task, level: auto}]\n")
	}
	a, err := app.Open(h.t.Context(), apptest.Process(h.home), app.RunFlags{Notes: []string{h.vault}})
	if err != nil {
		h.t.Fatal(err)
	}
	defer a.Close()
	for e := range a.Agent().Call(h.t.Context(), a.Store.NewConversation(), "add shoes",
		agent.Step{Tool: "add_task", Input: json.RawMessage(`{"text":"buy shoes"}`)}) {
		switch body := e.Body.(type) {
		case agent.PermissionAsked:
			asked = append(asked, body)
			body.Reply(agent.Reply{Decision: agent.Refuse})
		case agent.StepChanged:
			step = body
		case agent.Noticed:
			told += body.Text
		}
	}
	return asked, step, told
}

func (h *hooked) tasks() string { return apptest.Read(h.t, filepath.Join(h.vault, "tasks.md")) }

// Whatever a hook does, it never lets a call run that would have asked, and where it gives no answer
// the user is asked, whatever a rule says.
func TestHookCanOnlyTighten(t *testing.T) { // not in parallel: it shortens the limit
	for name, tc := range map[string]struct {
		script  string
		denied  string // its reason
		asks    string // why a call that a rule allows asks; "": it runs
		limited bool
	}{
		"agrees":        {script: "exit 0"},
		"lies":          {script: `echo allow; echo '{"decision":"allow","permission":"auto"}'; echo allow >&2`},
		"denies":        {script: "echo 'not on \033[31mSunday' >&2; exit 2", denied: "not on Sunday"},
		"gives no word": {script: "exit 2", denied: "no reason"},
		"floods": {
			script: "yes allow | head -c 3000000 >&2; yes | head -c 3000000; exit 2",
			denied: "allow allow",
		},
		"reads nothing": {script: "exec <&-; exit 2", denied: "no reason"},
		"fails":         {script: "echo broken >&2; exit 1", asks: "exit code 1: broken"},
		"crashes":       {script: "kill -SEGV $$", asks: "it was killed"},
		"hangs":         {script: "sleep 600 & sleep 600", asks: "300ms", limited: true},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.limited {
				defer app.SetHookLimit(300 * time.Millisecond)()
			}
			h := newHooked(t, tc.script, "exit 0")
			h.trust()
			before := h.tasks()
			asked, step, _ := h.add(false)
			if wants := 1; tc.denied == "" && len(asked) != wants ||
				tc.denied != "" && len(asked) > 0 || h.tasks() != before {
				t.Fatalf("without a rule: asked %+v, %+v, tasks\n%s", asked, step, h.tasks())
			}
			asked, step, _ = h.add(true)
			switch ran := h.tasks() != before; {
			case tc.denied != "":
				if ran || len(asked) > 0 || step.Status != agent.Denied ||
					!strings.Contains(step.Reason, "before_call") ||
					!strings.Contains(step.Reason, tc.denied) || len(step.Reason) > 600 {
					t.Errorf("asked %+v, %+v, ran %t", asked, step, ran)
				}
			case tc.asks != "":
				if ran || len(asked) != 1 || !strings.Contains(asked[0].Reason, "before_call") ||
					!strings.Contains(asked[0].Reason, tc.asks) || asked[0].Rule != "" {
					t.Errorf("asked %+v, %+v, ran %t", asked, step, ran)
				}
			case !ran || len(asked) > 0:
				t.Errorf("asked %+v, %+v, ran %t", asked, step, ran)
			}
		})
	}
}

func TestHookRunsOnlyAsReviewed(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "touch "+filepath.Join(t.TempDir(), "ran")+"; exit 0", "exit 0")
	asks := func() bool {
		asked, _, _ := h.add(true)
		return len(asked) == 1 && strings.Contains(asked[0].Reason, "review it")
	}
	if !asks() {
		t.Error("it counts although nobody has reviewed it")
	}
	h.trust()
	if asks() {
		t.Error("it was reviewed and does not count")
	}
	config := filepath.Join(h.home, "config", "config.yaml")
	apptest.Write(t, config, strings.Replace(apptest.Read(t, config), "before_call: [/bin/sh",
		"before_call: [/bin/sh, -e", 1))
	if !asks() {
		t.Error("its command has changed, and it counts")
	}
}

// A hook gets the call and the end of the turn as JSON, and none of LifeHub's environment.
func TestHookGetsTheEventAndNoSecret(t *testing.T) {
	t.Setenv("LIFEHUB_OPENAI_API_KEY", "sk-very-secret")
	out := t.TempDir()
	h := newHooked(t, "cat >"+out+"/call; env >"+out+"/env", "cat >"+out+"/after")
	h.trust()
	h.add(true)
	var call, after map[string]any
	for file, into := range map[string]*map[string]any{"call": &call, "after": &after} {
		if err := json.Unmarshal([]byte(apptest.Read(t, filepath.Join(out, file))), into); err != nil {
			t.Fatal(err)
		}
	}
	if call["event"] != "before_call" || call["tool"] != "add_task" || call["asks"] != false ||
		fmt.Sprint(call["input"]) != "map[text:buy shoes]" {
		t.Errorf("before the call: %v", call)
	}
	if after["event"] != "after_turn" || after["turn"] != call["turn"] ||
		!strings.Contains(fmt.Sprint(after["effects"]), "tasks.md") {
		t.Errorf("after the turn: %v", after)
	}
	if env := apptest.Read(t, filepath.Join(out, "env")); strings.Contains(env, "secret") ||
		strings.Contains(env, "API_KEY") {
		t.Errorf("its environment is\n%s", env)
	}
}

func TestFailedAfterTurnHookIsReported(t *testing.T) {
	t.Parallel()
	h := newHooked(t, "exit 0", "echo 'no repository' >&2; exit 1")
	h.trust()
	before := h.tasks()
	_, step, told := h.add(true)
	if step.Status != agent.Done || h.tasks() == before || !strings.Contains(told, "after_turn") ||
		!strings.Contains(told, "exit code 1: no repository") {
		t.Errorf("%+v, told %q", step, told)
	}
	if _, err := os.Stat(h.after); err != nil {
		t.Fatal(err)
	}
}
