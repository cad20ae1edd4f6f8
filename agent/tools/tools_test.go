package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/notes/pdf"
	"lifehub/rag"
)

// noon is the time of all tests, on a Thursday.
var noon = time.Date(2026, 10, 8, 12, 0, 0, 0, time.Local)

// bench is a set of tools on real folders.
type bench struct {
	t       testing.TB
	folders []*notes.Folder
	found   rag.Found // the result of every search
	asked   rag.Query // the last query
	deps    Deps
}

// work creates a vault from a map of names to texts, with tools on it.
func work(t testing.TB, files map[string]string) *bench {
	t.Helper()
	b := &bench{t: t}
	b.deps = Deps{Search: b, Vaults: b, Now: func() time.Time { return noon }}
	if files != nil {
		b.vault(files)
	}
	return b
}

// Folders are the vaults of the tools.
func (b *bench) Folders() []*notes.Folder { return b.folders }

func (b *bench) vault(files map[string]string) *notes.Folder {
	b.t.Helper()
	dir := b.t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	folder, err := notes.Open(dir)
	if err != nil {
		b.t.Fatal(err)
	}
	folder.ReadWith(pdf.Reader{Cache: testenv.CompiledPDFium(b.t)})
	b.t.Cleanup(func() { folder.Close() })
	b.folders = append(b.folders, folder)
	return folder
}

func (b *bench) Search(_ context.Context, q rag.Query) (rag.Found, error) {
	b.asked = q
	return b.found, nil
}

func (b *bench) tool(name string) agent.Tool {
	b.t.Helper()
	for _, tool := range All(b.deps) {
		if tool.Spec().Name == name {
			return tool
		}
	}
	b.t.Fatalf("there is no tool %s", name)
	return nil
}

// run runs a tool. The text of an error is prefixed with "error: ".
func (b *bench) run(name, args string) (agent.Result, string) {
	b.t.Helper()
	result, err := b.tool(name).Run(b.t.Context(), json.RawMessage(args))
	if err != nil {
		return result, "error: " + err.Error()
	}
	return result, result.Text
}

// text returns the content of a note, or "" if it does not exist.
func (b *bench) text(name string) string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.folders[0].Dir(), filepath.FromSlash(name)))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	return string(raw)
}

func holds(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: %q is missing in:\n%s", what, part, text)
		}
	}
}

// A tool is described in a sentence; the names of its arguments say what they are.
func TestToolsAreDescribedBriefly(t *testing.T) {
	b := work(t, nil)
	b.deps.Mail, b.deps.Changes = MailAccount{Host: "localhost", From: "ana@example.org"}, &turnChanges{}
	page, err := os.ReadFile("../../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range All(b.deps) {
		spec := tool.Spec()
		if !strings.Contains(string(page), "`"+spec.Name+"`") {
			t.Errorf("%s: docs/tools.md has no row for it", spec.Name)
		}
		names = append(names, spec.Name)
		if spec.Description == "" || len(spec.Description) > 150 {
			t.Errorf("%s: the description has %d characters", spec.Name, len(spec.Description))
		}
		shape, err := jsonschema.UnmarshalJSON(strings.NewReader(string(spec.Schema)))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource("args.json", shape); err != nil {
			t.Fatal(err)
		}
		if _, err := compiler.Compile("args.json"); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		fields := shape.(map[string]any)
		if fields["additionalProperties"] != false {
			t.Errorf("%s: takes unknown arguments", spec.Name)
		}
		for arg, about := range fields["properties"].(map[string]any) {
			if about.(map[string]any)["type"] == "object" {
				t.Errorf("%s: %s is not flat", spec.Name, arg)
			}
		}
		asks := slices.Contains([]string{
			"web_fetch", "crawl", "create_note", "append_note", "edit_note", "add_task",
			"complete_task", "send_email", "remember", "forget", "undo", "move_note", "merge_notes", "rename_tag",
		},
			spec.Name)
		_, shows := tool.(agent.Previewer)
		if _, prepares := tool.(agent.Preparer); (shows || prepares) != asks ||
			(tool.Properties().Level != agent.Auto) != asks {
			t.Errorf("%s: level %v, shows its change: %v", spec.Name, tool.Properties().Level, shows || prepares)
		}
	}
	want := []string{
		"add_task", "append_note", "brief_notes", "calculate", "complete_task", "crawl", "create_note",
		"edit_note", "find_contradictions", "forget", "get_weather", "list_notes", "list_tasks", "merge_notes",
		"move_note", "note_links", "read_note", "recall", "remember", "rename_tag", "search_notes", "send_email",
		"today", "undo", "web_fetch", "web_search",
	}
	slices.Sort(names)
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestNoteToolsReportAMissingVault(t *testing.T) {
	b := work(t, nil)
	for tool, args := range map[string]string{
		"read_note": `{"path":"a"}`, "list_notes": `{}`, "list_tasks": `{}`, "add_task": `{"text":"a"}`,
		"complete_task": `{"task":"a"}`, "create_note": `{"path":"a","content":"b"}`, "append_note": `{"content":"b"}`,
		"edit_note": `{"path":"a","old_text":"b","new_text":"c"}`, "note_links": `{"path":"a"}`,
		"find_contradictions": `{"about":"a"}`,
	} {
		if _, got := b.run(tool, args); got != "error: no notes folder is open" {
			t.Errorf("%s: got %q", tool, got)
		}
		if !NeedsNotes(tool) {
			t.Errorf("%s works on notes", tool)
		}
	}
	elsewhere := []string{
		"calculate", "crawl", "forget", "get_weather", "recall", "remember", "rename_tag", "send_email", "today",
		"undo", "web_fetch", "web_search",
		"create_artifact", "update_artifact", "rewrite_artifact", "read_artifact",
	}
	for _, tool := range All(b.deps) {
		if name := tool.Spec().Name; NeedsNotes(name) == slices.Contains(elsewhere, name) {
			t.Errorf("%s: needs notes: %v", name, NeedsNotes(name))
		}
		_, resolves := tool.(agent.Resolver)
		if _, has := agent.ShapeOf(tool.Spec().Schema).Properties["path"]; has && !resolves &&
			tool.Spec().Name != "search_notes" {
			t.Errorf("%s: rules about a path do not hold for a title", tool.Spec().Name)
		}
	}
}
