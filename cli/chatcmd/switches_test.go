package chatcmd

import (
	"slices"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/apptest"
)

func TestNotesAreUsedAloneOrNotAtAll(t *testing.T) {
	bg := &background{App: apptest.Open(t, apptest.Vault(t)), status: make(chan chat.Status, 1)}
	offers := func(tool string) bool {
		return slices.ContainsFunc(bg.App.Offered(), func(offered agent.Tool) bool { return offered.Spec().Name == tool })
	}
	for _, use := range []struct {
		word, scope              string
		notes, writing, web, sum bool
	}{
		{"on", "", true, true, true, true},
		{"only", "notes only", true, true, false, true},
		{"off", "notes off", false, false, true, true},
		{"", "notes off", false, false, true, true}, // reports the state and changes nothing
		{"on", "", true, true, true, true},
	} {
		if _, err := bg.slashNotes(t.Context(), "", use.word); err != nil {
			t.Fatal(err)
		}
		got := []bool{offers("search_notes"), offers("add_task"), offers("web_search"), offers("calculate")}
		if want := []bool{use.notes, use.writing, use.web, use.sum}; !slices.Equal(got, want) {
			t.Errorf("/notes %s: offered %v, want %v", use.word, got, want)
		}
		if s := <-bg.status; s.Scope != use.scope {
			t.Errorf("/notes %s: the screen is told %q", use.word, s.Scope)
		}
	}
	if _, err := bg.slashNotes(t.Context(), "", "some"); err == nil || !strings.Contains(err.Error(), "only") {
		t.Errorf("got %v", err)
	}
}

func TestMissingToolHasItsOwnReason(t *testing.T) {
	bg := &background{App: apptest.Open(t, apptest.Vault(t)), status: make(chan chat.Status, 1)}
	bg.App.Settings.Tools.Off = []string{"web_*"}
	for use, want := range map[string][]string{
		"on":   {"(tools.off)", "", "mail.host"},
		"only": {"(tools.off)", "", "mail.host"},
		"off":  {"(tools.off)", "/notes", "mail.host"},
	} {
		if _, err := bg.slashNotes(t.Context(), "", use); err != nil {
			t.Fatal(err)
		}
		<-bg.status
		got := []string{bg.App.Missing()["web_search"], "", bg.App.Missing()["send_email"]}
		if use == "off" {
			got[1] = bg.App.Missing()["search_notes"]
		}
		if !slices.EqualFunc(got, want, strings.Contains) || bg.App.Missing()["fly"] != "" {
			t.Errorf("/notes %s: %q, want %q", use, got, want)
		}
	}
}

func TestThinkingIsSwitchedForTheRun(t *testing.T) {
	bg := &background{App: &app.App{Settings: settings.Defaults()}}
	if now := bg.App.Think.Or(bg.App.Settings.Think); now != "off" {
		t.Errorf("at first it is %q", now)
	}
	if _, err := bg.slashThink(t.Context(), "", "High"); err != nil {
		t.Fatal(err)
	}
	if now := bg.App.Think.Or(bg.App.Settings.Think); now != "high" {
		t.Errorf("then it is %q", now)
	}
	if _, err := bg.slashThink(t.Context(), "", "hard"); err == nil || !strings.Contains(err.Error(), "off, on, low") {
		t.Errorf("got %v", err)
	}
}

func TestToolsAreListedUnderTheirLevel(t *testing.T) {
	bg := &background{App: apptest.Open(t, apptest.Vault(t))}
	text, err := bg.slashTools(t.Context(), bg.App.Agent(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range bg.App.Offered() {
		if n := strings.Count(text, "`"+tool.Spec().Name+"`: "); n != 1 {
			t.Errorf("%s is listed %d times", tool.Spec().Name, n)
		}
	}
	if by, ask := strings.Index(text, "`calculate`"), strings.Index(text, "**Ask first**"); by > ask ||
		ask > strings.Index(text, "`forget`") {
		t.Errorf("a tool stands under another level:\n%s", text)
	}
}

func TestEachArgumentOfAToolHasALine(t *testing.T) {
	bg := &background{App: apptest.Open(t, apptest.Vault(t))}
	text, err := bg.slashTools(t.Context(), bg.App.Agent(), "add_task")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text, "\n    \"due\": {\n      \"type\": \"string\"\n") {
		t.Errorf("got:\n%s", text)
	}
}

// Guards from the settings can be switched in the chat; those from the command line cannot, by any
// command, nor in an editor.
func TestCommandLineGuardCannotBeSwitchedOff(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		flags app.RunFlags
		env   string
		holds bool
	}{
		{flags: app.RunFlags{ReadOnly: "true"}, holds: true},
		{env: "true"},
		{flags: app.RunFlags{ReadOnly: "false"}, env: "true"},
	} {
		c.flags.NoSave = true
		a, err := app.Open(t.Context(), apptest.Process(t.TempDir(), "LIFEHUB_READ_ONLY="+c.env), c.flags)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		bg := &background{App: a, status: make(chan chat.Status, 9)}
		for _, command := range bg.switchCommands() {
			if command.Name != "readonly" {
				continue
			}
			for _, given := range []string{"on", "off", "on", "OFF", "on", ""} {
				output, err := command.Run(t.Context(), "", given)
				if refused := err != nil && strings.Contains(err.Error(),
					"--read-only was given"); refused != (c.holds && given != "on") {
					t.Errorf("%+v: /%s %s: %v", c, command.Name, given, err)
				}
				if c.holds && strings.Contains(output, "off` ends that") {
					t.Errorf("%+v: /%s %s says %q", c, command.Name, given, output)
				}
			}
		}
		if now := bg.App.ReadOnly.On(); now != c.holds {
			t.Errorf("%+v: read-only is %v at the end", c, now)
		}
		if why := bg.App.Missing()["add_task"]; c.holds && strings.Contains(why, "/readonly off") {
			t.Errorf("add_task is missing because %q", why)
		}
	}
}
