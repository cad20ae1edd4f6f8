package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/text/unicode/norm"

	"lifehub/internal/testenv"

	"lifehub/agent"
	"lifehub/internal/pdftest"
	"lifehub/notes"
)

// Each case runs twice, with and without a preview. Both end with the same note, and
// the preview's diff is the change.
func TestWritersDoWhatTheyShow(t *testing.T) {
	const (
		list  = "# Tasks\n\n- [ ] one 📅 2026-10-01\n- [x] two\n\n## Someday\n\n- [ ] three\n"
		diary = "# 2026-10-07\n\nRain.\n"
	)
	for name, each := range map[string]struct {
		files      map[string]string
		tool, args string
		path       string // of the note that changes
		now        string // its content afterwards
		said       string
	}{
		"a task goes after the first open tasks": {
			files: map[string]string{"tasks.md": list}, tool: "add_task", args: `{"text":"four","due":"2026-11-01"}`,
			path: "tasks.md", now: strings.Replace(list, "two\n", "two\n- [ ] four 📅 2026-11-01\n", 1),
			said: "added to tasks.md:5: four, due Sunday 2026-11-01",
		},
		"the day at the end of a task is its due date": {
			files: map[string]string{"tasks.md": list}, tool: "add_task", args: `{"text":"four by 1 November 2026"}`,
			path: "tasks.md", now: strings.Replace(list, "two\n", "two\n- [ ] four 📅 2026-11-01\n", 1),
			said: "added to tasks.md:5: four, due Sunday 2026-11-01",
		},
		"a task goes to the journal of a Logseq graph": {
			files: map[string]string{
				"journals/2026_10_07.md": "- Rain.\n", "journals/2026_10_06.md": "- Sun.\n",
				"pages/Tasks.md": "- TODO one\n",
			}, tool: "add_task", args: `{"text":"TODO four","due":"2026-11-01"}`,
			path: "journals/2026_10_08.md", now: "- TODO four DEADLINE: <2026-11-01 Sun>\n",
			said: "added to journals/2026_10_08.md, which is new: four, due Sunday 2026-11-01",
		},
		"a task goes after those of the journal": {
			files: map[string]string{
				"journals/2026_10_08.md": "- Rain.\n- TODO one\n\t- with care\n",
				"journals/2026_10_06.md": "- Sun.\n",
			}, tool: "add_task", args: `{"text":"two"}`,
			path: "journals/2026_10_08.md", now: "- Rain.\n- TODO one\n\t- with care\n- TODO two\n",
			said: "added to journals/2026_10_08.md:4: two",
		},
		"a task of Logseq is done": {
			files: map[string]string{"journals/2026_10_08.md": "- DONE one\n\t- TODO two DEADLINE: <2026-11-01 Sun>\n"},
			tool:  "complete_task", args: `{"task":"two"}`,
			path: "journals/2026_10_08.md", now: "- DONE one\n\t- DONE two DEADLINE: <2026-11-01 Sun>\n",
			said: "done: two (journals/2026_10_08.md:2)",
		},
		"a task begins tasks.md": {
			files: map[string]string{"a.md": "x"}, tool: "add_task",
			args: `{"text":"- [ ] call\n  Marta","due":"2026-10-09"}`,
			path: "tasks.md", now: "# Tasks\n\n- [ ] call Marta 📅 2026-10-09\n",
			said: "added to tasks.md, which is new: call Marta, due Friday 2026-10-09",
		},
		"a task keeps the vault's style": {
			files: map[string]string{"todo.md": "intro", "log.md": "- [ ] a [due:: 2026-01-01]\n- [x] b [due:: " +
				"2026-01-01]\n- [ ] c 📅 2026-01-01\n"}, tool: "add_task", args: `{"text":"d","due":"2026-11-01"}`,
			path: "todo.md", now: "intro\n\n- [ ] d [due:: 2026-11-01]\n",
			said: "added to todo.md:3: d, due Sunday 2026-11-01",
		},
		"a task keeps the note's style and bullet": {
			files: map[string]string{
				"tasks.md": "* [ ] a due: 2026-01-01\n",
				"log.md":   "- [ ] a 📅 2026-01-01\n- [ ] a 📅 2026-01-01\n",
			}, tool: "add_task",
			args: `{"text":"d","due":"2026-11-01"}`,
			path: "tasks.md", now: "* [ ] a due: 2026-01-01\n* [ ] d due: 2026-11-01\n",
			said: "added to tasks.md:2: d, due Sunday 2026-11-01",
		},
		"a task goes into a named note, by title": {
			files: map[string]string{"tasks.md": list, "p/garden.md": "# The Garden\n\n- [x] dig\n"}, tool: "add_task",
			args: `{"text":"sow","note":"the garden"}`,
			path: "p/garden.md", now: "# The Garden\n\n- [x] dig\n- [ ] sow\n", said: "added to p/garden.md:4: sow",
		},
		"a task passes over lists that recur": {
			files: map[string]string{"tasks.md": "- [ ] bins 🔁 every week 📅 2026-10-01\n\nOnce:\n\n- [ ] a\n"},
			tool:  "add_task", args: `{"text":"b"}`,
			path: "tasks.md", now: "- [ ] bins 🔁 every week 📅 2026-10-01\n\nOnce:\n\n- [ ] a\n- [ ] b\n",
			said: "added to tasks.md:6: b",
		},
		"line ends and a missing last one are kept": {
			files: map[string]string{"tasks.md": "\xef\xbb\xbf# T\r\n- [ ] a\r\n- [ ] b"},
			tool:  "add_task", args: `{"text":"c"}`,
			path: "tasks.md", now: "\xef\xbb\xbf# T\r\n- [ ] a\r\n- [ ] b\r\n- [ ] c\r\n",
			said: "added to tasks.md:4: c",
		},
		"each line keeps its own line end": {
			files: map[string]string{"tasks.md": "# T\r- [ ] a\r\n- [ ] b\n"},
			tool:  "complete_task", args: `{"task":"a"}`,
			path: "tasks.md", now: "# T\r- [x] a ✅ 2026-10-08\r\n- [ ] b\n", said: "done: a (tasks.md:2)",
		},
		"lines of a note whose lines end in CR do too": {
			files: map[string]string{"a.md": "one\rtwo\rthree"}, tool: "edit_note",
			args: `{"path":"a","old_text":"two\nthree","new_text":"2\n3\n4"}`,
			path: "a.md", now: "one\r2\r3\r4", said: "changed a.md",
		},
		"a task is ticked by words of its text": {
			files: map[string]string{"tasks.md": list}, tool: "complete_task", args: `{"task":"ONE"}`,
			path: "tasks.md", now: strings.Replace(list, "[ ] one 📅 2026-10-01", "[x] one 📅 2026-10-01 ✅ 2026-10-08",
				1), said: "done: one (tasks.md:3)",
		},
		"a task is ticked by its place": {
			files: map[string]string{"a/tasks.md": list}, tool: "complete_task", args: `{"task":"a/tasks.md:8"}`,
			path: "a/tasks.md", now: strings.Replace(list, "[ ] three", "[x] three ✅ 2026-10-08", 1),
			said: "done: three (a/tasks.md:8)",
		},
		"the exact text wins over a longer one": {
			files: map[string]string{"a.md": "- [ ] buy milk and bread\n- [ ] buy milk\n"}, tool: "complete_task",
			args: `{"task":"Buy milk"}`,
			path: "a.md", now: "- [ ] buy milk and bread\n- [x] buy milk ✅ 2026-10-08\n",
			said: "done: buy milk (a.md:2)",
		},
		"a recurring task moves on": {
			files: map[string]string{"a.md": "text\r\n- [ ] bins 🔁 every week on Tuesday 📅 2026-10-06"},
			tool:  "complete_task", args: `{"task":"bins"}`,
			path: "a.md", now: "text\r\n- [ ] bins 🔁 every week on Tuesday 📅 2026-10-13\r\n- [x] bins 🔁 every week " +
				"on Tuesday 📅 2026-10-06 ✅ 2026-10-08",
			said: "done: bins (a.md:3); it comes again on Tuesday 2026-10-13 (a.md:2)",
		},
		"one without a date comes again without": {
			files: map[string]string{"a.md": "- [ ] bins 🔁 every week"}, tool: "complete_task", args: `{"task":"bins"}`,
			path: "a.md", now: "- [ ] bins 🔁 every week\n- [x] bins 🔁 every week ✅ 2026-10-08",
			said: "done: bins (a.md:2); it comes again (a.md:1)",
		},
		"a mark before the first line is kept": {
			files: map[string]string{"a.md": "\xef\xbb\xbf- [ ] bins"}, tool: "complete_task", args: `{"task":"bins"}`,
			path: "a.md", now: "\xef\xbb\xbf- [x] bins ✅ 2026-10-08", said: "done: bins (a.md:1)",
		},
		"a task whose rule is not understood is ended only if that is said": {
			files: map[string]string{"a.md": "- [ ] bins 🔁 now and then\n"}, tool: "complete_task",
			args: `{"task":"bins","note":"a","next":"never"}`,
			path: "a.md", now: "- [x] bins 🔁 now and then ✅ 2026-10-08\n", said: `done: bins (a.md:1)`,
		},
		"a task whose rule is not understood comes again on the day that is said": {
			files: map[string]string{"a.md": "- [ ] bins 🔁 now and then 📅 2026-10-07\n"}, tool: "complete_task",
			args: `{"task":"bins","next":"2026-10-10"}`,
			path: "a.md", now: "- [ ] bins 🔁 now and then 📅 2026-10-10\n- [x] bins 🔁 now and then 📅 2026-10-07 ✅ " +
				"2026-10-08\n", said: "done: bins (a.md:2); it comes again on Saturday 2026-10-10 (a.md:1)",
		},
		"a task of Logseq moves on where it is": {
			files: map[string]string{"a.md": "- DOING bins\r\n  SCHEDULED: <2026-10-05 Mon 10:30 .+1w>\r\n  id:: 1\r\n"}, tool: "complete_task", args: `{"task":"bins"}`,
			path: "a.md", now: "- TODO bins\r\n  SCHEDULED: <2026-10-15 Thu 10:30 .+1w>\r\n  id:: 1\r\n",
			said: "done: bins (a.md:1); it comes again on Thursday 2026-10-15",
		},
		"a note is made, folders and all": {
			files: map[string]string{}, tool: "create_note",
			args: `{"path":"/recipes/soup/Ramen","content":"# Ramen\n\nBroth.\n\n"}`,
			path: "recipes/soup/Ramen.md", now: "# Ramen\n\nBroth.\n", said: "created recipes/soup/Ramen.md",
		},
		"text goes to the end of a note": {
			files: map[string]string{"a/Log.md": "# Log\n\nfirst\n"}, tool: "append_note",
			args: `{"path":"log","content":"second"}`,
			path: "a/Log.md", now: "# Log\n\nfirst\n\nsecond\n", said: "added to a/Log.md",
		},
		"a note wrapped in a fence": {
			files: map[string]string{}, tool: "create_note",
			args: "{\"path\":\"ramen\",\"content\":\"```markdown\\n# Ramen\\n\\nBroth.\\n```\"}",
			path: "ramen.md", now: "# Ramen\n\nBroth.\n", said: "created ramen.md",
		},
		"text wrapped in a fence goes to the end": {
			files: map[string]string{"log.md": "first\n"}, tool: "append_note",
			args: "{\"path\":\"log.md\",\"content\":\"```md\\nsecond\\n```\"}",
			path: "log.md", now: "first\n\nsecond\n", said: "added to log.md",
		},
		"a passage is changed": {
			files: map[string]string{"a/Log.md": "# Log\n\nRun twice a week.\n"}, tool: "edit_note",
			args: `{"path":"log","old_text":"twice a week","new_text":"three times a week"}`,
			path: "a/Log.md", now: "# Log\n\nRun three times a week.\n", said: "changed a/Log.md",
		},
		"a passage is changed whose lines end elsewhere": {
			files: map[string]string{"log.md": "Run twice a week,\n  on Tuesday.\n\non Sunday\n"}, tool: "edit_note",
			args: `{"path":"log","old_text":"twice a week, on Tuesday.","new_text":"daily."}`,
			path: "log.md", now: "Run daily.\n\non Sunday\n", said: "changed log.md",
		},
		"line ends stay as they are": {
			files: map[string]string{"log.md": "one\r\ntwo\r\n"}, tool: "edit_note",
			args: `{"path":"log","old_text":"one\ntwo","new_text":"1\n2"}`,
			path: "log.md", now: "1\r\n2\r\n", said: "changed log.md",
		},
		"an outline of Logseq goes on": {
			files: map[string]string{"pages/log.md": "type:: log\n\n- first\n\t- child\n"}, tool: "append_note",
			args: `{"path":"pages/log.md","content":"second\nline"}`,
			path: "pages/log.md", now: "type:: log\n\n- first\n\t- child\n- second\n  line\n",
			said: "added to pages/log.md",
		},
		"a table goes on": {
			files: map[string]string{"log.md": "| a | b |\n|---|---|\n| 1 | 2 |\n\n"}, tool: "append_note",
			args: `{"path":"log.md","content":"| 3 | 4 |"}`,
			path: "log.md", now: "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n", said: "added to log.md",
		},
		"a list goes on": {
			files: map[string]string{"log.md": "# Log\n\n- first\n"}, tool: "append_note",
			args: `{"path":"log.md","content":"- second\n- third"}`,
			path: "log.md", now: "# Log\n\n- first\n- second\n- third\n", said: "added to log.md",
		},
		"text goes to the end of a section": {
			files: map[string]string{"log.md": "# Log\n\n## May\n\nfirst\n\n### Detail\n\nx\n\n## June\n\nlast\n"},
			tool:  "append_note", args: `{"path":"log.md","content":"second","heading":"may"}`,
			path: "log.md", now: "# Log\n\n## May\n\nfirst\n\n### Detail\n\nx\n\nsecond\n\n## June\n\nlast\n",
			said: "added to log.md",
		},
		"an item goes to the end of a section's list": {
			files: map[string]string{"log.md": "## May\n- a\n## June\n- b\n"}, tool: "append_note",
			args: `{"path":"log.md","content":"- c","heading":"## May"}`,
			path: "log.md", now: "## May\n- a\n- c\n\n## June\n- b\n", said: "added to log.md",
		},
		"an empty section is filled": {
			files: map[string]string{"log.md": "## May\n\n## June\n"}, tool: "append_note",
			args: `{"path":"log.md","content":"c","heading":"May"}`,
			path: "log.md", now: "## May\n\nc\n\n## June\n", said: "added to log.md",
		},
		"a section that is not there is made": {
			files: map[string]string{"log.md": "text"}, tool: "append_note",
			args: `{"path":"log.md","content":"c","heading":"May"}`,
			path: "log.md", now: "text\n\n## May\n\nc\n", said: "added to log.md",
		},
		"a whole path that is not there is made": {
			files: map[string]string{"log.md": "text"}, tool: "append_note",
			args: `{"path":"new/log.md","content":"c"}`,
			path: "new/log.md", now: "c\n", said: "created new/log.md",
		},
		"a diary entry makes today's note as yesterday's was": {
			files: map[string]string{
				"journal/2026-10-07.md": diary, "journal/2026-10-06.md": "x",
				"2026_01_01.md": "other", "log/2026-10.md": "y",
			}, tool: "append_note", args: `{"content":"Sun."}`,
			path: "journal/2026-10-08.md", now: "# 2026-10-08\n\nSun.\n", said: "created journal/2026-10-08.md",
		},
		"a diary entry goes into today's note": {
			files: map[string]string{"2026/10/2026-10-08.md": "# Thursday, 8 October 2026\n\n## Log\n\n- up\n\n## " +
				"Night\n", "2026/09/2026-09-30.md": ""}, tool: "append_note",
			args: `{"content":"- ran","heading":"Log"}`,
			path: "2026/10/2026-10-08.md", now: "# Thursday, 8 October 2026\n\n## Log\n\n- up\n- ran\n\n## Night\n",
			said: "added to 2026/10/2026-10-08.md",
		},
		"an outliner's journal is known": {
			files: map[string]string{"journals/2026_10_07.md": "- a", "pages/x.md": ""}, tool: "append_note",
			args: `{"content":"b"}`,
			path: "journals/2026_10_08.md", now: "- b\n", said: "created journals/2026_10_08.md",
		},
		"the first diary entry begins a folder": {
			files: map[string]string{"a.md": ""}, tool: "append_note", args: `{"content":"Sun."}`,
			path: "daily/2026-10-08.md", now: "# 2026-10-08\n\nSun.\n", said: "created daily/2026-10-08.md",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, shown := range []bool{true, false} {
				b := work(t, each.files)
				tool := b.tool(each.tool)
				was := b.text(each.path)
				var preview agent.Preview
				run := func(ctx context.Context) (agent.Result,
					error,
				) {
					return tool.Run(ctx, json.RawMessage(each.args))
				}
				if shown {
					change := b.prepare(each.tool, each.args)
					if preview = change.Preview(); b.text(each.path) != was {
						t.Error("showing it changed the note")
					}
					run = change.Apply
				}
				result, err := run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got := b.text(each.path); got != each.now || result.Text != each.said {
					t.Errorf("got %q, %q\nwant %q, %q", got, result.Text, each.now, each.said)
				}
				if shown {
					checkDiff(t, preview, each.path, was, each.now)
				}
			}
		})
	}
}

// checkDiff checks that a diff has every added and removed line.
func checkDiff(t *testing.T, preview agent.Preview, path, was, now string) {
	t.Helper()
	lines := map[string]int{}
	for line := range strings.SplitSeq(now, "\n") {
		lines[line]++
	}
	for line := range strings.SplitSeq(was, "\n") {
		lines[line]--
	}
	for i, line := range strings.Split(preview.Diff, "\n") {
		if i > 1 && strings.HasPrefix(line, "+") {
			lines[line[1:]]--
		}
		if i > 1 && strings.HasPrefix(line, "-") {
			lines[line[1:]]++
		}
	}
	delete(lines, "")
	for line, n := range lines {
		if n != 0 {
			t.Errorf("the diff does not tell of %q:\n%s", line, preview.Diff)
		}
	}
	if preview.Path != path {
		t.Errorf("the path shown is %q, want %q", preview.Path, path)
	}
}

func TestWritersRefuseWithAReason(t *testing.T) {
	files := map[string]string{
		"latin1.md": "- [ ] Z\xfcrich\n", "rule.md": "- [ ] dash 🔁 every week on Mon-Fri\n",
		"a.md": "- [ ] buy milk\n- [ ] buy bread\n- [x] buy salt\n", "b.md": "- [ ] buy milk\n", "x/tasks.md": "",
		"y/x/tasks.md": "", "utf16.md": "\xff\xfe-\x00 \x00[\x00 \x00]\x00 \x00w\x00",
		".lifehubignore": "private/", "1/n.md": "", "2/n.md": "",
	}
	for _, each := range []struct{ tool, args, want string }{
		{"add_task", `{"text":"  "}`, "no text"},
		{"add_task", `{"text":"a","due":"next week"}`, "YYYY-MM-DD"},
		{"add_task", `{"text":"a","due":"2026-02-31"}`, "YYYY-MM-DD"},
		{"add_task", `{"text":"a","note":"nowhere"}`, `no note "nowhere"`},
		{"add_task", `{"text":"a","note":"n"}`, "several notes are called"},
		{"add_task", `{"text":"a","note":"utf16"}`, "UTF-16"},
		{"complete_task", `{"task":"buy"}`, `3 open tasks fit "buy": "buy milk" (a.md:1), "buy bread" (a.md:2), "buy ` +
			`milk" (b.md:1)`},
		{"complete_task", `{"task":"buy milk"}`, "2 open tasks"},
		{"complete_task", `{"task":"salt"}`, `"buy salt" is done already (a.md:3)`},
		{"complete_task", `{"task":"a.md:3"}`, "done already"},
		{"complete_task", `{"task":"fly"}`, `has the words "fly"`},
		{"complete_task", `{"task":""}`, "task text missing"},
		{"complete_task", `{"task":"buy milk","note":"nowhere"}`, "no note"},
		{"complete_task", `{"task":"rich"}`, "not written in UTF-8"},
		{"create_note", `{"path":"a","content":"x"}`, "there is a note a.md already"},
		{"create_note", `{"path":"../../a.md","content":"x"}`, "there is a note a.md already"},
		{"create_note", `{"path":".obsidian/a.md","content":"x"}`, "hidden"},
		{"create_note", `{"path":"private/a.md","content":"x"}`, "ignored"},
		{"complete_task", `{"task":"dash"}`, "Its rule \"every week on Mon-Fri\" is not understood"},
		{"append_note", `{"path":"latin1","content":"x"}`, "not written in UTF-8"},
		{"create_note", `{"path":"","content":"x"}`, "hidden"},
		{"append_note", `{"content":" \n"}`, "content missing"},
		{"append_note", `{"path":"nowhere","content":"x"}`, "no note"},
		{"append_note", `{"path":"private/a.md","content":"x"}`, "ignored"},
		{"edit_note", `{"path":"a","old_text":"buy","new_text":"x"}`, "old_text matches 3 times, on lines 1, 2, 3"},
		{"edit_note", `{"path":"a","old_text":"BUY  MILK","new_text":"x"}`, "old_text not found; line 1 comes near"},
		{"edit_note", `{"path":"a","old_text":"zebra","new_text":"x"}`, "old_text not found"},
		{"edit_note", `{"path":"a","old_text":"","new_text":"x"}`, "old_text is empty"},
		{"edit_note", `{"path":"a","old_text":"milk","new_text":"milk"}`, "are the same"},
	} {
		b := work(t, files)
		_, got := b.run(each.tool, each.args)
		if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, each.want) {
			t.Errorf("%s %s: got %q, want %q", each.tool, each.args, got, each.want)
		}
		for name, text := range files {
			if b.text(name) != text {
				t.Errorf("%s %s changed %s", each.tool, each.args, name)
			}
		}
	}
}

// prepare prepares a call, or fails the test.
func (b *bench) prepare(tool, args string) agent.Change {
	b.t.Helper()
	change, err := b.tool(tool).(agent.Preparer).Prepare(b.t.Context(), json.RawMessage(args))
	if err != nil {
		b.t.Fatal(err)
	}
	return change
}

// between prepares a change, lets another step change the note, and makes the change.
func between(t *testing.T, name, before, args, after string) (now, outcome string) {
	t.Helper()
	b := work(t, map[string]string{"tasks.md": before})
	change := b.prepare(name, args)
	put(b, "tasks.md", after)
	change.(prepared).own.made(changed(b.folders[0], "tasks.md", before, after))
	result, err := change.Apply(t.Context())
	if err != nil {
		return b.text("tasks.md"), err.Error()
	}
	return b.text("tasks.md"), result.Text
}

func changed(folder *notes.Folder, path, was, now string) change {
	return change{folder: folder, path: path, was: []byte(was), now: []byte(now)}
}

// of prepares a call of a tool in a list.
func (b *bench) of(tools []agent.Tool, name, args string) agent.Change {
	b.t.Helper()
	at := slices.IndexFunc(tools, func(t agent.Tool) bool { return t.Spec().Name == name })
	change, err := tools[at].(agent.Preparer).Prepare(b.t.Context(), json.RawMessage(args))
	if err != nil {
		b.t.Fatal(err)
	}
	return change
}

func TestEarlierStepIsNotOverwritten(t *testing.T) {
	now, outcome := between(t, "complete_task", "- [ ] a\n", `{"task":"a"}`, "my words\n\n- [ ] a\n")
	if now != "my words\n\n- [x] a ✅ 2026-10-08\n" || outcome != "done: a (tasks.md:3)" {
		t.Errorf("the same line elsewhere: %q, %s", now, outcome)
	}
	now, outcome = between(t, "complete_task", "- [ ] a\n", `{"task":"a"}`, "- [ ] a 📅 2026-12-24\n")
	if now != "- [ ] a 📅 2026-12-24\n" || !strings.Contains(outcome, "tasks.md was changed after this was shown") ||
		!strings.Contains(outcome, "nothing was written") {
		t.Errorf("another line: %q, %s", now, outcome)
	}
	now, outcome = between(t, "complete_task", "- [ ] a\n", `{"task":"a"}`, "- [x] a\n")
	if now != "- [x] a\n" || !strings.Contains(outcome, "nothing was written") {
		t.Errorf("no such task any more: %q, %s", now, outcome)
	}
}

func TestChangeStaysUnderItsHeading(t *testing.T) {
	const (
		edit  = `{"path":"tasks.md","old_text":"pay 10","new_text":"pay 20"}`
		add   = `{"path":"tasks.md","content":"- x"}`
		under = `{"path":"tasks.md","content":"- x","heading":"Shop"}`
	)
	for _, each := range []struct {
		what, tool, args, before, after, want string // want "": nothing may be written
	}{
		{
			"it stays", "edit_note", edit, "# Rent\n\npay 10\n", "# Rent\n\nnew words\n\npay 10\n\n# More\n",
			"# Rent\n\nnew words\n\npay 20\n\n# More\n",
		},
		{"it moved", "edit_note", edit, "# Rent\n\npay 10\n\n# Fines\n", "# Rent\n\n# Fines\n\npay 10\n", ""},
		{"a heading came between", "edit_note", edit, "# Rent\n\npay 10\n", "# Rent\n\n## Old\n\npay 10\n", ""},
		{"the outer heading changed", "edit_note", edit, "# A\n## Rent\npay 10\n", "# B\n## Rent\npay 10\n", ""},
		{
			"it moved to a heading of the same name", "edit_note", edit, "# Log\npay 10\n# Log\nb\n",
			"# Log\na\n# Log\npay 10\nb\n", "",
		},
		{
			"a heading in code is none", "edit_note", edit, "# Rent\npay 10\n", "# Rent\n```\n# Old\n```\npay 10\n",
			"# Rent\n```\n# Old\n```\npay 20\n",
		},
		{
			"below front matter and with CRLF", "edit_note", edit, "---\na: b\n---\n# Rent\r\npay 10\r\n",
			"---\na: b\nc: d\n---\n# Rent\r\npay 10\r\n", "---\na: b\nc: d\n---\n# Rent\r\npay 20\r\n",
		},
		{
			"the end is below another heading", "append_note", add, "# Rent\n\n- a\n",
			"# Rent\n\n- a\n\n# Secret\n\n- b\n", "",
		},
		{
			"the end is where it was", "append_note", add, "# Rent\n\n- a\n", "# Rent\n\n- a\n- b\n",
			"# Rent\n\n- a\n- b\n- x\n",
		},
		{
			"the section moved whole", "append_note", under, "# Shop\n- a\n\n# Rent\n- b\n",
			"# Rent\n- b\n\n# Shop\n- a\n", "# Rent\n- b\n\n# Shop\n- a\n- x\n",
		},
	} {
		now, outcome := between(t, each.tool, each.before, each.args, each.after)
		switch {
		case each.want != "" && now != each.want:
			t.Errorf("%s: got %q, want %q (%s)", each.what, now, each.want, outcome)
		case each.want == "" && (now != each.after || !strings.Contains(outcome, "nothing was written")):
			t.Errorf("%s: %q was written, and told: %s", each.what, now, outcome)
		}
	}
}

func TestTwoChangesShownAtOnceAreBothMade(t *testing.T) {
	b := work(t, map[string]string{"tasks.md": "- [ ] a\n"})
	tools := All(b.deps)
	first, second := b.of(tools, "add_task", `{"text":"b"}`),
		b.of(tools, "append_note", `{"path":"tasks.md","content":"- [ ] c"}`)
	for _, change := range []agent.Change{first, second} {
		if _, err := change.Apply(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := b.text("tasks.md"), "- [ ] a\n- [ ] b\n- [ ] c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Each call comes from another process, which prepared its change before any was made.
func TestChangesNobodySawAreAllMade(t *testing.T) {
	const processes = 100
	for tool, argument := range map[string]string{"add_task": "text", "append_note": "content"} {
		for _, before := range []map[string]string{{}, {
			"tasks.md":            "# Tasks\n\n- [ ] a\n\n# Old\n",
			"daily/2026-10-08.md": "# 2026-10-08\n\n- a\n",
		}} {
			b := work(t, before)
			var changes []agent.Change
			for i := range processes {
				changes = append(changes, b.of(All(b.deps), tool, fmt.Sprintf(`{%q:"line %d."}`, argument, i)))
			}
			var writing sync.WaitGroup
			for _, c := range changes {
				writing.Go(func() {
					if _, err := c.Apply(agent.WithUnseen(t.Context())); err != nil {
						t.Error(err)
					}
				})
			}
			writing.Wait()
			text := b.text(changes[0].Preview().Path)
			for i := range processes {
				if n := strings.Count(text, fmt.Sprintf("line %d.\n", i)); n != 1 {
					t.Fatalf("%s: line %d occurs %d times in %q", tool, i, n, text)
				}
			}
		}
	}
}

func TestAChangeThatWasSeenIsNotRecomputed(t *testing.T) {
	b := work(t, map[string]string{"tasks.md": "- [ ] a\n"})
	seen, unseen := b.of(All(b.deps), "add_task", `{"text":"b"}`), b.of(All(b.deps), "add_task", `{"text":"c"}`)
	put(b, "tasks.md", "- [ ] a\n- [ ] mine\n")
	if _, err := seen.Apply(t.Context()); err == nil || !strings.Contains(err.Error(), "changed after this was shown") {
		t.Errorf("the one that was seen: %v", err)
	}
	if result, err := unseen.Apply(agent.WithUnseen(t.Context())); err != nil ||
		result.Text != "added to tasks.md:3: c" {
		t.Errorf("the one that was not: %+v, %v", result, err)
	}
}

func TestDailyNotesFollowTheSettings(t *testing.T) {
	for _, each := range []struct {
		set  Daily
		want string
	}{
		{Daily{Folder: "diary"}, "diary/2026-10-08.md"},
		{Daily{Folder: "diary", Pattern: "2006/02-Jan.md"}, "diary/2026/08-Oct.md"},
		{Daily{Pattern: "2006-01-02"}, "journal/2026-10-08.md"},
		{Daily{Folder: "old"}, "old/2026_10_08.md"},
	} {
		b := work(t, map[string]string{
			"journal/2026-10-07.md": "", "journal/2026-10-06.md": "",
			"old/2026_10_07.md": "",
		})
		b.deps.Daily = each.set
		if _, got := b.run("append_note", `{"content":"x"}`); got != "created "+each.want {
			t.Errorf("%+v: got %q, want %s", each.set, got, each.want)
		}
	}
}

// TestDailyNotesFollowTheirNames: today's note is named as the others are, or as Obsidian's settings say.
func TestDailyNotesFollowTheirNames(t *testing.T) {
	const obsidian = ".obsidian/daily-notes.json"
	for _, each := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"Tagebuch/07.10.2026.md": ""}, "Tagebuch/08.10.2026.md"},
		{map[string]string{"Daily/2026-10-07 Wednesday.md": ""}, "Daily/2026-10-08 Thursday.md"},
		{map[string]string{"d/2026-10-07(Wed).md": ""}, "d/2026-10-08(Thu).md"},
		{map[string]string{"October 27, 2025.md": "", "October 7, 2026.md": ""}, "October 8, 2026.md"},
		{map[string]string{"Mittwoch, 7. Oktober 2026.md": ""}, "Donnerstag, 8. Oktober 2026.md"},
		{map[string]string{"J/2026/10-October/2026-10-07.md": ""}, "J/2026/10-October/2026-10-08.md"},
		{map[string]string{"11/2026-09-30.md": "", "11/2026-10-07.md": ""}, "11/2026-10-08.md"},
		{map[string]string{"04-10-2026.md": "", "05-10-2026.md": "", "30-09-2026.md": ""}, "08-10-2026.md"},
		{map[string]string{"10-04-2026.md": "", "10-05-2026.md": "", "09-30-2026.md": ""}, "10-08-2026.md"},
		{map[string]string{"2026-10-10.md": ""}, "2026-10-08.md"},
		{map[string]string{"Briefe/3. Mai 2024.md": "", "a.md": ""}, "daily/2026-10-08.md"},
		{map[string]string{"Old/2020-01-01.md": "", "Old/2020-01-02.md": "", "New/2026-10-07.md": ""}, "New/2026-10-08.md"},
		{
			map[string]string{"Journal/2026-10-07.md": "", "Meetings/06.10.2026.md": "", "Meetings/07.10.2026.md": ""},
			"Journal/2026-10-08.md",
		},
		{map[string]string{"J/2026-10-07.md": "", "Web/2026-10-06.html": "", "Web/2026-10-07.html": ""}, "J/2026-10-08.md"},
		{map[string]string{"2026-09.md": "", "2026-W40.md": "", "Plan 2026-10-07.md": ""}, "daily/2026-10-08.md"},
		{map[string]string{"202610071200.md": "", "2026-10-07 2.md": ""}, "daily/2026-10-08.md"},
		{
			map[string]string{"a/2026-10-07.md": "", obsidian: `{"folder":"Log/","format":"YYYY/MM/DD.MM.YYYY dddd"}`},
			"Log/2026/10/08.10.2026 Thursday.md",
		},
		{
			map[string]string{
				"Log/07.10.2026 Mittwoch.md": "",
				obsidian:                     `{"folder":"/Log","format":"DD.MM.YYYY dddd"}`,
			},
			"Log/08.10.2026 Donnerstag.md",
		},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"format":"[Day] D MMMM YYYY"}`}, "Day 8 October 2026.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"folder":"b"}`}, "b/2026-10-08.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"folder":"../b"}`}, "a/2026-10-08.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"format":"gggg-[W]ww"}`}, "a/2026-10-08.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"format":"YYYY-MM-DD [v1]"}`}, "a/2026-10-08.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{"autorun":true}`}, "a/2026-10-08.md"},
		{map[string]string{"a/2026-10-07.md": "", obsidian: `{`}, "a/2026-10-08.md"},
	} {
		if _, got := work(t, each.files).run("append_note", `{"content":"x"}`); got != "created "+each.want {
			t.Errorf("%v: got %q, want %s", each.files, got, each.want)
		}
	}
	c := work(t, map[string]string{"J/2026-10-08.md": "a\n", "J/06.10.2026.md": "", "J/07.10.2026.md": ""})
	if _, got := c.run("append_note", `{"content":"x"}`); got != "added to J/2026-10-08.md" {
		t.Errorf("the note of today is there: %q", got)
	}
	b := work(t, map[string]string{"07.10.2026.md": "# Mittwoch, 7. Oktober 2026\n"})
	b.run("append_note", `{"content":"x"}`)
	if got := b.text("08.10.2026.md"); got != "# Donnerstag, 8. Oktober 2026\n\nx\n" {
		t.Errorf("the heading: %q", got)
	}
}

// TestProtectedNoteIsRefusedBeforeItIsShown: nobody is asked about a change that cannot be made.
func TestProtectedNoteIsRefusedBeforeItIsShown(t *testing.T) {
	b := work(t, map[string]string{"a.md": "- [ ] one\n"})
	if err := os.Chmod(filepath.Join(b.folders[0].Dir(), "a.md"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, call := range [][2]string{
		{"append_note", `{"path":"a","content":"x"}`},
		{"complete_task", `{"task":"one"}`},
		{"edit_note", `{"path":"a","old_text":"one","new_text":"two"}`},
		{"add_task", `{"text":"x","note":"a"}`},
	} {
		if _, err := b.tool(call[0]).(agent.Preparer).Prepare(t.Context(),
			json.RawMessage(call[1])); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s is shown: %v", call[0], err)
		}
	}
	if got := b.text("a.md"); got != "- [ ] one\n" {
		t.Errorf("it is %q", got)
	}
}

func TestWritersKnowSeveralVaults(t *testing.T) {
	b := work(t, map[string]string{"a.md": ""})
	second := b.vault(map[string]string{"tasks.md": "- [ ] t\n", "2026-10-07.md": ""})
	if _, got := b.run("add_task", `{"text":"u"}`); got != "added to tasks.md:2: u" {
		t.Errorf("got %q", got)
	}
	if _, got := b.run("append_note", `{"content":"u"}`); got != "created 2026-10-08.md" {
		t.Errorf("got %q", got)
	}
	for _, name := range []string{filepath.Base(second.Dir()) + "/new.md", filepath.Join(second.Dir(), "whole.md")} {
		args, _ := json.Marshal(createArgs{Path: name, Content: "x"})
		if _, got := b.run("create_note", string(args)); got != "created "+filepath.Base(name) {
			t.Errorf("got %q", got)
		}
		if _, _, err := second.Raw(filepath.Base(name)); err != nil {
			t.Error(err)
		}
	}
	if entries, _, err := second.List(t.Context()); err != nil || len(entries) != 5 {
		t.Errorf("the second vault holds %v, %v", entries, err)
	}
}

func TestOtherKindsOfNotesAreReadOnly(t *testing.T) {
	testenv.WithoutRace(t) // a PDF is read in a process of its own
	b := work(t, map[string]string{
		"log.txt": "- [ ] one\n", "plan.org": "* Plan\n- [ ] two\n",
		"paper.pdf": string(pdftest.Make("a page", "- [ ] three")),
	})
	for _, call := range [][2]string{
		{"append_note", `{"path":"log.txt","content":"more"}`},
		{"append_note", `{"path":"paper","content":"more"}`},
		{"add_task", `{"text":"x","note":"plan.org"}`},
		{"edit_note", `{"path":"paper.pdf","old_text":"a page","new_text":"b"}`},
		{"complete_task", `{"task":"one"}`},
		{"complete_task", `{"task":"two"}`},
	} {
		if _, err := b.tool(call[0]).(agent.Preparer).Prepare(t.Context(), json.RawMessage(call[1])); err == nil ||
			!strings.Contains(err.Error(), "is read only: LifeHub changes .md and .markdown files") {
			t.Errorf("%s %s is shown: %v", call[0], call[1], err)
		}
		if _, text := b.run(call[0], call[1]); !strings.Contains(text,
			"is read only: LifeHub changes .md and .markdown files") {
			t.Errorf("%s %s: %s", call[0], call[1], text)
		}
	}
	if _, text := b.run("list_tasks", `{}`); !strings.Contains(text, "log.txt:1") ||
		!strings.Contains(text, "plan.org:2") || strings.Contains(text, "three") {
		t.Errorf("the tasks are %s", text)
	}
}

func TestPDFIsReadByPage(t *testing.T) {
	testenv.WithoutRace(t) // a PDF is read in a process of its own
	long := strings.Repeat("Sixteen words of prose stand on this line, which is all that it is here for. ", 20)
	b := work(t, map[string]string{"papers/boiler.pdf": string(pdftest.Make("Cover "+long,
		"The valve opens at 3 bar. "+long, "End "+long))})
	result, text := b.run("read_note", `{"path":"boiler","from":2}`)
	if !strings.HasPrefix(text, "papers/boiler.pdf, pages 2 to 3 of 3\n\nThe valve") || len(result.Sources) != 2 {
		t.Fatalf("it reads %.200s, %d sources", text, len(result.Sources))
	}
	if s := result.Sources[0]; s.Title() != "papers/boiler.pdf p. 2" || s.EndLine != 2 ||
		!s.Untrusted || !result.IsUntrusted() {
		t.Errorf("the source is %q to %d, untrusted %v", s.Title(), s.EndLine, s.Untrusted)
	}
	if _, text := b.run("read_note", `{"path":"boiler","from":9}`); text != "error: papers/boiler.pdf has 3 pages; "+
		"there are none from 9 to 9" {
		t.Errorf("it says %s", text)
	}
	if _, text := b.run("list_notes", `{}`); !strings.Contains(text, "papers/boiler.pdf") {
		t.Errorf("the list is %s", text)
	}
}

// TestNoteOfAMacIsFoundAndWritten: a note whose name and text are in NFD is found by what
// people type, and the tools write to that file.
func TestNoteOfAMacIsFoundAndWritten(t *testing.T) {
	nfd := norm.NFD.String
	name := nfd("Übung/Größe.md")
	b := work(t, map[string]string{name: nfd("# Größe\n\nDie Tür ist\n2 m hoch. Tür zu.\n\n- [ ] Tür streichen #küche\n"), "Menu.md": "See [[größe]] and [x](%C3%9Cbung/Gr%C3%B6%C3%9Fe.md).\n"})
	for _, call := range [][2]string{
		{"read_note", `{"path":"größe"}`},
		{"read_note", `{"path":"Übung/Größe.md"}`},
		{"list_notes", `{"tag":"Küche"}`},
		{"list_notes", `{"folder":"übung"}`},
		{"append_note", `{"path":"übung/größe.md","content":"Neu.","heading":"größe"}`},
		{"edit_note", `{"path":"Größe","old_text":"Die Tür ist 2 m","new_text":"Die Tür ist 3 m"}`},
		{"edit_note", `{"path":"Größe","old_text":"Tür zu.","new_text":"Auf."}`},
		{"complete_task", `{"task":"tür streichen"}`},
	} {
		if _, said := b.run(call[0], call[1]); strings.HasPrefix(said, "error: ") ||
			strings.Contains(said, "no notes") {
			t.Errorf("%s %s: %s", call[0], call[1], said)
		}
	}
	holds(t, "the note", b.text(name), "Die Tür ist 3 m hoch", "Auf.", "Neu.", "[x]")
	_, said := b.run("note_links", `{"path":"Menu.md"}`)
	holds(t, "links", said, "line 1: "+name)
	_, said = b.run("note_links", `{"path":"größe"}`)
	holds(t, "links", said, "Menu.md:1")
	_, said = b.run("create_note", `{"path":"ÜBUNG/größe","content":"x"}`)
	holds(t, "a second note", said, "error: there is a note "+name)
	if _, said = b.run("append_note", `{"path":"ÜBUNG/Neu.md","content":"x"}`); b.text(path.Dir(name)+
		"/Neu.md") != "x\n" {
		t.Errorf("a new note beside it: %s", said)
	}
	if _, said = b.run("create_note", `{"path":"Meeting: Q1 / Q2?.md",`+
		`"content":"x"}`); b.text("Meeting - Q1 - Q2.md") != "x\n" || !strings.Contains(said, "Meeting: Q1 / Q2?.md") {
		t.Errorf("a name that Windows refuses: %s", said)
	}
}
