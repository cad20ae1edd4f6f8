//go:build unix

package cli

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/store"
)

// briefVault returns a home with notes of which a briefing has something to list, a hidden one, and a conversation
// that was stopped.
func briefVault(t *testing.T) (home, vault string) {
	t.Helper()
	home = t.TempDir()
	vault = filepath.Join(home, "vault")
	ago := when.DayOf(time.Now()).AddMonths(-12).String()
	for name, text := range map[string]string{
		"tasks.md":             "# Tasks\n\n- [ ] call the plumber 📅 2020-03-01\n",
		"clip.md":              "---\nsource: https://a.example\n---\n# Hens\n\n- [ ] buy *hens* 📅 2020-03-02\n",
		"private/doctor.md":    "# Doctor\n\n- [ ] see Dr. Low 📅 2020-03-03\n",
		"daily/" + ago + ".md": "# " + ago + "\n\nFed the geese.\n",
	} {
		apptest.Write(t, filepath.Join(vault, filepath.FromSlash(name)), text)
	}
	briefRules(t, home, "")
	s, err := store.Open(filepath.Join(home, "lh", "data", "lifehub.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn, err := s.Begin(t.Context(), "abcdefgh", "which shoes?")
	if err == nil {
		err = s.Finish(t.Context(), turn, agent.Answer{Text: "The", Cut: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return home, vault
}

// briefRules hides the private notes, and adds a rule.
func briefRules(t *testing.T, home, rule string) {
	t.Helper()
	apptest.Write(t, filepath.Join(home, "lh", "config", "permissions.yaml"),
		"rules:\n  - {tool: read_note, args: {path: {under: private}}, level: deny}\n"+rule)
}

func TestBriefPrintsItsLines(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	home, vault := briefVault(t)
	out, stderr, code := capturing(t, home, "", "brief", "--json", "--notes", vault)
	var lines []tools.BriefLine
	if err := json.Unmarshal([]byte(out), &lines); err != nil || code != app.ExitDone {
		t.Fatalf("exit %d, %v\n%s%s", code, err, out, stderr)
	}
	kinds := map[tools.BriefKind]int{}
	for _, l := range lines {
		kinds[l.Kind]++
		if strings.HasPrefix(l.Path, "private") || l.Untrusted != (l.Path == "clip.md") ||
			(l.Path == "") != (l.Conversation == "abcdefgh") {
			t.Errorf("%+v", l)
		}
	}
	if kinds[tools.DueTask] != 2 || kinds[tools.ChangedNote] != 3 || kinds[tools.YearAgo] != 1 ||
		kinds[tools.Unfinished] != 1 {
		t.Errorf("kinds %v", kinds)
	}
	for _, field := range []string{"kind", "path", "line", "conversation", "text", "day", "untrusted"} {
		if strings.Count(out, `"`+field+`":`) != len(lines) {
			t.Errorf("not every line has %s: %s", field, out)
		}
	}
	out, _, code = capturing(t, home, "", "brief", "week", "--notes", vault)
	if code != app.ExitDone || strings.Contains(out, "Low") {
		t.Errorf("exit %d\n%s", code, out)
	}
	for _, want := range []string{
		"- `tasks.md:3` call the plumber, overdue since 2020-03-01\n",
		".md:3` Fed the geese.\n", "- `abcdefgh` which shoes?\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}

	none := filepath.Join(t.TempDir(), "vault")
	apptest.Write(t, filepath.Join(none, ".obsidian", "app.json"), "{}")
	empty := t.TempDir()
	if out, stderr, code := capturing(t, empty, "", "brief", "--json", "--notes", none); code != app.ExitDone ||
		out != "[]\n" {
		t.Errorf("of an empty vault: exit %d, %s%s", code, out, stderr)
	}
	if out, _, code := capturing(t, empty, "", "brief", "--to", "daily", "--notes", none); code != app.ExitDone ||
		out == "" {
		t.Errorf("of an empty vault to a note: exit %d, %s", code, out)
	}
	if written, _ := filepath.Glob(filepath.Join(none, "daily")); len(written) > 0 {
		t.Errorf("nothing was to be written: %v", written)
	}
	for _, args := range [][]string{{"month"}, {"--to", "log.md"}, {"--to", "daily", "--json"}} {
		if _, stderr, code := capturing(t, home, "", append([]string{"brief", "--notes", vault},
			args...)...); code != app.ExitUsage {
			t.Errorf("%v: exit %d, %s", args, code, stderr)
		}
	}
}

// A briefing goes to the daily note by permission only, and what others wrote goes there only if that is said.
func TestBriefIsAddedToTheDailyNote(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	const rule = "  - {tool: append_note, args: {path: 'daily/????-??-??.md'}, level: auto}\n"
	for name, test := range map[string]struct {
		rule, flag     string
		code           int
		own, untrusted bool // whether these lines are written
	}{
		"no rule":   {code: app.ExitRefused},
		"a rule":    {rule: rule, own: true},
		"yes":       {flag: "--yes", own: true},
		"untrusted": {rule: rule, flag: "--allow-untrusted", own: true, untrusted: true},
		"denied": {
			rule: "  - {tool: append_note, level: deny}\n",
			flag: "--allow-untrusted", code: app.ExitRefused,
		},
		"another note only": {
			rule: "  - {tool: append_note, args: {path: a.md}, level: auto}\n",
			code: app.ExitRefused,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home, vault := briefVault(t)
			briefRules(t, home, test.rule)
			args := []string{"brief", "--to", "daily", "--notes", vault}
			if test.flag != "" {
				args = append(args, test.flag)
			}
			_, stderr, code := capturing(t, home, "", args...)
			if code != test.code {
				t.Errorf("exit %d\n%s", code, stderr)
			}
			if needs := test.code == app.ExitRefused && test.flag == ""; strings.Contains(stderr, rule) != needs {
				t.Errorf("stderr %s", stderr)
			}
			if strings.Contains(stderr, "left out 2 lines") != (test.flag != "--allow-untrusted") {
				t.Errorf("stderr %s", stderr)
			}
			today := filepath.Join(vault, "daily", when.DayOf(time.Now()).String()+".md")
			note := ""
			if test.own {
				note = apptest.Read(t, today)
			} else if found, _ := filepath.Glob(today); len(found) > 0 {
				t.Error("the note was written")
			}
			if strings.Contains(note, "plumber") != test.own || strings.Contains(note, "hens") != test.untrusted ||
				strings.Contains(note, "Low") {
				t.Errorf("the note is\n%s", note)
			}
			// The lines of others are still known as theirs.
			out, _, _ := capturing(t, home, "", "tasks", "--notes", vault)
			if strings.Count(out, "- [ ]") != 2 {
				t.Errorf("tasks were added:\n%s", out)
			}
			s, err := store.Open(filepath.Join(home, "lh", "data", "lifehub.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			from, err := s.MarkedBy(t.Context(), text.LineKeys(strings.Split(note, "\n")))
			if err != nil || (len(from) > 0) != test.untrusted {
				t.Errorf("marked %v, %v", from, err)
			}
			unfinished, err := s.Unfinished(t.Context(), time.Time{})
			if err != nil || len(unfinished) != 1 {
				t.Errorf("a briefing is an unfinished conversation: %+v, %v", unfinished, err)
			}
		})
	}
}

// /brief in the chat is a list whose lines open their notes.
func TestBriefingOpensItsNotes(t *testing.T) {
	t.Parallel()
	_, vault := briefVault(t)
	apptest.Write(t, filepath.Join(vault, "tasks.md"), "# Tasks\n"+strings.Repeat("\nA line above.\n", 40)+
		"\n- [ ] call the plumber 📅 2020-03-01\n")
	term := startTerminal(t, 100, 30, nil, "chat", "--notes", vault)
	term.sees("4 notes")
	term.types("/brief\r")
	term.sees("Briefing", "tasks.md:83", "buy *hens*")
	term.types("\t\r")
	term.waits(func(screen string) bool {
		return strings.Contains(screen, "of 83") && strings.Contains(screen, "plumber") &&
			!strings.Contains(screen, "Briefing")
	}, "shows the task in its note")
	term.types("q")
	term.waits(func(screen string) bool { return !strings.Contains(screen, "of 83") }, "closed the note")
	term.types("\x04")
	term.exits()
}
