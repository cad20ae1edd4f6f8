package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/agent"
)

func TestPromptIsFilledIn(t *testing.T) {
	for _, c := range [][3]string{
		{"Sum up my week.", "", "Sum up my week."},
		{"Sum up my week.\n", "in German", "Sum up my week.\n\nin German"},
		{"Translate to $1: $2", `German "good morning"`, "Translate to German: good morning"},
		{"About $ARGUMENTS, and $ARGUMENTS again", "a b", "About a b, and a b again"},
		{"$1 costs $20 or $2", "it", "it costs $20 or "},
		{"$1", "$2 x", "$2"},
	} {
		if got := filled(c[0], c[1], Words(c[1])); got != c[2] {
			t.Errorf("%q with %q: got %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// promptsIn reads prompts written to a folder.
func promptsIn(t *testing.T, files map[string]string) map[string]Prompt {
	t.Helper()
	dir, found := t.TempDir(), map[string]Prompt{}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range Read(dir) {
		found[filepath.Base(p.File)] = p
	}
	return found
}

func TestPromptFileBecomesACommand(t *testing.T) {
	list := promptsIn(t, map[string]string{
		"week.md": "# Sum up my week\n\nFor $ARGUMENTS.\n",
		"front.md": "\ufeff---\r\nname: month\r\ndescription: |\r\n  What happened\r\n  this month\r\ntools: " +
			"[search_notes, 'list_*']\r\n---\r\nSum up my month.\r\n",
		"none.md":    "---\ntools: []\n---\nTell a joke.",
		"words.md":   "---\ntools: read_note, search_notes\n---\nx",
		"ignore.txt": "x",
	})
	if p := list["week.md"]; len(list) != 4 || p.Name != "week" || !p.Takes() || p.Description != "Sum up my week" {
		t.Fatalf("got %+v", list)
	}
	if p := list["front.md"]; p.Name != "month" || p.Description != "What happened this month" {
		t.Errorf("got %+v", p)
	}
	known := []string{"list_notes", "list_tasks", "read_note", "search_notes"}
	for name, want := range map[string]string{
		"week.md":  "# Sum up my week\n\nFor November.",
		"front.md": "Sum up my month.\n\nNovember\n\n```only these tools\nsearch_notes\nlist_notes\nlist_tasks\n```",
		"none.md":  "Tell a joke.\n\nNovember\n\n```only these tools\n```",
		"words.md": "x\n\nNovember\n\n```only these tools\nread_note\nsearch_notes\n```",
	} {
		text, err := list[name].Message("November", Words("November"), known)
		if err != nil || text != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
		if again := agent.ParseMessage(text).String(); again != text {
			t.Errorf("%s: it becomes %q when it is asked again", name, again)
		}
	}
}

// An error in a prompt is reported with its file, and the prompt is not sent.
func TestUnreadablePromptIsNotSent(t *testing.T) {
	for text, want := range map[string]string{
		"---\ntools: [x\n---\nhi":                             "",
		"---\ntools: [search_notes]\nhi":                      "not closed",
		"---\ntool: search_notes\n---\nhi":                    "not tool: search_notes",
		"---\ntools: 3\n---\nhi":                              "not tools: 3",
		"---\ntools: [fly_*]\n---\nhi":                        "no tool is called fly_*",
		"---\ntools: [search_notes, fly]\n---\nhi":            "no tool is called fly",
		"---\nname: ../week\n---\nhi":                         `the name "../week"`,
		"---\nname: [week]\n---\nhi":                          "not name: [week]",
		"---\njust text\n---\nhi":                             "",
		"---\ndescription: \xff\n---\nhi":                     "UTF-8",
		"---\na: &a [" + strings.Repeat("[", 200):             "",
		"---\n" + strings.Repeat("x: y\n", 20000) + "---\nhi": "not closed within",
	} {
		p := promptsIn(t, map[string]string{"week.md": text})["week.md"]
		got, err := p.Message("", nil, []string{"search_notes"})
		if err == nil || got != "" || !strings.Contains(err.Error(), "week.md: ") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: sends %q, %v; want %s", text, got, err, want)
		}
	}
	list := promptsIn(t, map[string]string{"a.md": "---\nname: b\n---\nx", "b.md": "y"})
	if list["a.md"].Err != nil || list["b.md"].Err == nil ||
		!strings.Contains(list["b.md"].Err.Error(), "a.md has the name b already") {
		t.Errorf("two of one name: %+v", list)
	}
}
