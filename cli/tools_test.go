package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// documentedTools returns the names in the first column of the table in docs/tools.md, sorted.
func documentedTools(t *testing.T) (names []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[a-z_]+`[^|]*)\\|").FindAllStringSubmatch(string(page), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	slices.Sort(names)
	return names
}

// Each tool is known in every situation, and has a reason where no model is offered it.
func TestAllToolsAreKnownWithWhyTheyAreMissing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const minutes = "---\nname: minutes\ndescription: Writes minutes\n---\nWrite.\n"
	for name, c := range map[string]struct {
		env     []string
		files   map[string]string // in the home folder
		noNotes bool
		missing map[string]string // a part of the reason, by tool; "": available
	}{
		"as installed": {missing: map[string]string{
			"delegate": "mode loop", "find_tools": "room for all", "send_email": "mail.host", "read_skill": "no skills",
			"read_note": "", "undo": "",
		}},
		"no notes": {noNotes: true, missing: map[string]string{
			"read_note": "no notes",
			"add_task":  "no notes", "today": "",
		}},
		"a team": {env: []string{"LIFEHUB_MODE=team"}, missing: map[string]string{"delegate": ""}},
		"a loop": {env: []string{"LIFEHUB_MODE=loop"}, missing: map[string]string{"delegate": ""}},
		"a plan": {env: []string{"LIFEHUB_MODE=plan"}, missing: map[string]string{"delegate": "plan"}},
		"skills": {
			files:   map[string]string{".agents/skills/minutes/SKILL.md": minutes},
			missing: map[string]string{"read_skill": ""},
		},
		"mail": {
			env:     []string{"LIFEHUB_MAIL_HOST=localhost", "LIFEHUB_MAIL_FROM=ana@example.org"},
			missing: map[string]string{"send_email": ""},
		},
		"some off": {
			env:     []string{"LIFEHUB_TOOLS_OFF=web_*"},
			missing: map[string]string{"web_search": "tools.off", "web_fetch": "tools.off", "crawl": ""},
		},
		"read-only": {
			env:     []string{"LIFEHUB_READ_ONLY=true"},
			missing: map[string]string{"create_note": "read-only", "read_note": ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, flags := t.TempDir(), app.RunFlags{NoSave: true, Notes: []string{apptest.Vault(t)}}
			if c.noNotes {
				flags.Notes = nil
			}
			for file, text := range c.files {
				apptest.Write(t, filepath.Join(home, filepath.FromSlash(file)), text)
			}
			a, err := app.Open(t.Context(), apptest.Process(home, c.env...), flags)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			var names []string
			for _, known := range a.KnownTools(a.Agent()) {
				tool := known.Tool.Spec().Name
				names = append(names, tool)
				if want, told := c.missing[tool]; told && (want == "" != (known.Missing == "") ||
					!strings.Contains(known.Missing, want)) {
					t.Errorf("%s is missing because %q, want %q", tool, known.Missing, want)
				}
			}
			if want := documentedTools(t); !slices.Equal(names, want) {
				t.Errorf("known are\n%v, documented\n%v", names, want)
			}
		})
	}
}
