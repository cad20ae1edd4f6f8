//go:build unix

package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
)

// Read-only leaves only built-in tools that read local data.
func TestReadOnlyOffersOnlyReaders(t *testing.T) {
	t.Parallel()
	a, err := app.Open(t.Context(), apptest.Process(t.TempDir()),
		app.RunFlags{Notes: []string{apptest.Vault(t)}, NoSave: true, ReadOnly: "true"})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var offered []string
	for _, tool := range a.Offered() {
		offered = append(offered, tool.Spec().Name)
		if level, _ := a.Agent().Decide(t.Context(), tool, nil, agent.Origin{}); level == agent.Deny {
			t.Errorf("%s is offered and refused", tool.Spec().Name)
		}
	}
	slices.Sort(offered)
	if want := "brief_notes calculate find_contradictions list_notes list_tasks note_links read_artifact read_note " +
		"recall search_notes today"; strings.Join(offered, " ") != want {
		t.Errorf("offered %s, want %s", strings.Join(offered, " "), want)
	}
	for _, tool := range a.Builtin {
		level, why := a.Agent().Decide(t.Context(), tool, nil, agent.Origin{})
		if name := tool.Spec().Name; !slices.Contains(offered, name) &&
			(level != agent.Deny || !strings.Contains(a.Missing()[name], "read-only") ||
				!strings.Contains(why, "read-only")) {
			t.Errorf("%s: %v, %s, missing because %q", name, level, why, a.Missing()[name])
		}
	}
}

func TestReadOnlyInTheChatAndInAsk(t *testing.T) {
	t.Parallel()
	vault := apptest.Vault(t)
	tasks := func() string { return apptest.Read(t, filepath.Join(vault, "tasks.md")) }
	before := tasks()
	asked := offScreen(t, "ask", "--read-only", "--allow", "add_task", "--notes", vault, `@add_task text="buy shoes"`)
	output, err := asked.CombinedOutput()
	if asked.ProcessState == nil {
		t.Fatal(err)
	}
	if tasks() != before || !strings.Contains(string(output), "read-only") {
		t.Errorf("asked, it wrote:\n%s\nand said:\n%s", tasks(), output)
	}

	for _, value := range []string{"", "--read-only=false"} { // the setting, and the flag that overrides it
		asked := offScreen(t, slices.DeleteFunc([]string{"ask", value, "--notes", vault, "/task buy shoes"},
			func(arg string) bool { return arg == "" })...)
		asked.Env = append(asked.Env, "LIFEHUB_READ_ONLY=true", "LIFEHUB_PROVIDER=offline")
		output, _ := asked.CombinedOutput()
		if tasks() != before || strings.Contains(string(output), "nobody") != (value != "") {
			t.Errorf("with the setting and %q it said:\n%s", value, output)
		}
	}

	term := startTerminal(t, 100, 34, []string{"LIFEHUB_PROVIDER=offline"}, "chat", "--read-only", "--notes", vault)
	term.sees("2 notes", "▌ read-only")
	term.types("@add_task text=\"buy shoes\"\r")
	term.sees("add_task is not available: this chat is read-only")
	term.types("/remember I like tea\r")
	term.waits(func(screen string) bool { return strings.Count(screen, "read-only applies") == 2 }, "refuses the note")
	if tasks() != before {
		t.Errorf("it wrote:\n%s", tasks())
	}
	term.types("/readonly off\r")
	term.sees("--read-only was given at the start", "▌ read-only")

	term = startTerminal(t, 100, 34, []string{"LIFEHUB_PROVIDER=offline", "LIFEHUB_READ_ONLY=true"},
		"chat", "--notes", vault)
	term.sees("2 notes", "▌ read-only")
	term.types("/readonly off\r")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "▌ read-only") }, "the mode's end")
	term.types("@add_task text=\"buy shoes\"\r")
	term.sees("Allow add_task")
}
