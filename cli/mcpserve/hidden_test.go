package mcpserve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// today matches the date in a list of tasks.
var today = regexp.MustCompile(`on [A-Z][a-z]+day, \d{4}-\d{2}-\d{2}`)

// A note denied by a rule behaves like a missing one, whichever way it is named, and results name
// neither the rule nor its file.
func TestDeniedNoteAnswersLikeAMissingOne(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, rule := range []string{
		"{tool: read_note, level: deny, args: {path: {under: secret}}}",
		"{tool: '*', level: deny, args: {path: {under: secret}}}",
		"{tool: read_note, level: deny, args: {path: 'secret/*'}}",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			answers := [2][]string{}
			for i := range answers {
				dir, home := filepath.Join(t.TempDir(), "notes"), t.TempDir()
				if err := os.Rename(vault(t), dir); err != nil {
					t.Fatal(err)
				}
				apptest.Write(t, filepath.Join(dir, "plans.md"),
					"# Plans\n\nSee [[Diary]], [[secret/diary]] and [it](secret/diary.md).\nThe Diary is old.\n")
				apptest.Write(t, filepath.Join(dir, "diaries", "dairy.md"), "# Dairy\n\nMilk.\n")
				sameAge(t, dir)
				apptest.Write(t, filepath.Join(home, "config", "permissions.yaml"), "rules:\n- "+rule+"\n")
				if i == 1 {
					if err := os.RemoveAll(filepath.Join(dir, "secret")); err != nil {
						t.Fatal(err)
					}
				}
				c := connect(t, home, []client.ClientOption{client.WithElicitationHandler(says(mcp.ElicitationResponseActionAccept, true))}, "--writes", "--notes", dir)
				answers[i] = answersAbout(t, c, dir)
				for j, answer := range answers[i] {
					answers[i][j] = today.ReplaceAllString(answer, "today") // midnight may pass between the two
					if strings.Contains(answer, "permissions.yaml") || strings.Contains(answer, home) ||
						strings.Contains(answer, "level: deny") {
						t.Errorf("a rule is told: %s", answer)
					}
				}
			}
			for i, denied := range answers[0] {
				if denied != answers[1][i] {
					t.Errorf("denied:  %s\nmissing: %s", denied, answers[1][i])
				}
			}
		})
	}
}

// sameAge gives all notes the same modification time, by which they are listed.
func sameAge(t *testing.T, dir string) {
	t.Helper()
	day := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, day, day))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mark matches the marks around untrusted text.
var mark = regexp.MustCompile(`«[a-z0-9]+»`)

// answersAbout requests a diary in many ways.
func answersAbout(t *testing.T, c *client.Client, dir string) (answers []string) {
	t.Helper()
	note := func(what string, answer any, err error) {
		raw, _ := json.Marshal(answer)
		text := fmt.Sprint(what, ": ", string(raw), err)
		answers = append(answers, mark.ReplaceAllString(strings.ReplaceAll(text, dir, "DIR"), "«»"))
	}
	for _, name := range []string{
		"secret/diary.md", "secret/diary", "diary", "Diary", "DIARY.md", "[[Diary]]",
		"[[secret/diary|it]]", "./secret/diary.md", "secret/../secret/diary.md",
		filepath.Join(dir, "secret", "diary.md"), "secret diary", "diaries",
	} {
		for _, tool := range []string{"read_note", "note_links", "related_notes"} {
			text, result := call(t, c, tool, map[string]string{"path": name})
			note(tool+" "+name, text, fmt.Errorf("%v", result.IsError))
		}
		text, _ := call(t, c, "check_citations", map[string]string{"text": "“The password of the safe is swordfish” [" +
			strings.TrimSuffix(name, ".md") + ".md:3]."})
		note("check "+name, text, nil)
		for _, write := range []struct{ tool, arguments string }{
			{"append_note", `{"path":%q,"content":"x"}`},
			{"add_task", `{"note":%q,"text":"x"}`},
		} {
			text, _ := call(t, c, write.tool, json.RawMessage(fmt.Sprintf(write.arguments, name)))
			note(write.tool+" "+name, text, nil)
		}
		read := mcp.ReadResourceRequest{}
		read.Params.URI = noteScheme + name
		_, err := c.ReadResource(t.Context(), read)
		note("resource "+name, nil, err)
	}
	for _, one := range []struct{ tool, arguments string }{
		{"search_notes", `{"query":"safe","path":"secret"}`},
		{"search_notes", `{"query":"swordfish","path":"running"}`},
		{"list_notes", `{}`},
		{"list_notes", `{"folder":"secret"}`},
		{"list_tasks", `{"query":"swordfish"}`},
		{"note_links", `{"path":"plans.md"}`},
		{"note_links", `{"path":"shoes.md"}`},
		{"related_notes", `{"path":"plans.md"}`},
		{"find_contradictions", `{"about":""}`},
		{"check_citations", `{"text":"“The password of the safe is swordfish”."}`},
	} {
		text, result := call(t, c, one.tool, json.RawMessage(one.arguments))
		raw, _ := json.Marshal(result.StructuredContent)
		note(one.tool+one.arguments, text+string(raw), nil)
	}
	list, err := c.ListResources(t.Context(), mcp.ListResourcesRequest{})
	note("resources", len(list.Resources), err)
	complete := mcp.CompleteRequest{}
	complete.Params.Ref = mcp.ResourceReference{Type: "ref/resource", URI: noteScheme + "{+path}"}
	complete.Params.Argument = mcp.CompleteArgument{Name: "path", Value: "diary"}
	values, err := c.Complete(t.Context(), complete)
	note("complete", values, err)
	return answers
}

// A question required by a rule does not name the rule.
func TestQuestionNamesNoRule(t *testing.T) {
	t.Parallel()
	home, asked := t.TempDir(), ""
	apptest.Write(t, filepath.Join(home, "config", "permissions.yaml"), "rules:\n- {tool: remember, level: confirm}\n")
	c := connect(t, home, []client.ClientOption{client.WithElicitationHandler(user(func(message string) mcp.ElicitationResponse {
		asked = message
		return mcp.ElicitationResponse{Action: mcp.ElicitationResponseActionDecline}
	}))}, "--writes", "--notes", vault(t))
	text, _ := call(t, c, "remember", map[string]string{"text": "The cat is called Whiskers."})
	if !strings.Contains(asked, "Whiskers") || strings.Contains(asked+text, "permissions.yaml") ||
		strings.Contains(asked+text, "level") {
		t.Errorf("asked %s, then %s", asked, text)
	}
}
