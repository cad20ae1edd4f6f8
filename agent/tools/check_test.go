package tools

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"lifehub/agent"
)

// After a kill a writing tool tells by the note whether it had happened, as
// long as nobody else has changed the note.
func TestAWriterTellsAfterAKillWhetherItHappened(t *testing.T) {
	const before = "- [ ] a\n"
	for _, each := range []struct{ tool, args, file string }{
		{"add_task", `{"text":"b"}`, "tasks.md"},
		{"complete_task", `{"task":"a"}`, "tasks.md"},
		{"append_note", `{"path":"tasks.md","content":"b"}`, "tasks.md"},
		{"create_note", `{"path":"new/b.md","content":"b"}`, "new/b.md"},
		{"edit_note", `{"path":"tasks.md","old_text":"a","new_text":"b"}`, "tasks.md"},
		{"append_note", `{"content":"b"}`, "daily/2026-10-08.md"},
	} {
		for name, tc := range map[string]struct {
			do   func(b *bench, tool agent.Tool)
			want agent.Happened
		}{
			"not run":               {func(*bench, agent.Tool) {}, agent.HasNotHappened},
			"run":                   {func(b *bench, tool agent.Tool) { mustRun(b, tool, each.args) }, agent.HasHappened},
			"changed by the user":   {func(b *bench, _ agent.Tool) { put(b, each.file, "my own words\n") }, agent.MayHaveHappened},
			"run, then changed":     {func(b *bench, tool agent.Tool) { mustRun(b, tool, each.args); put(b, each.file, "my own words\n") }, agent.MayHaveHappened},
			"the vault is not here": {func(b *bench, _ agent.Tool) { b.folders = nil }, agent.MayHaveHappened},
		} {
			t.Run(each.tool+" "+each.file+" "+name, func(t *testing.T) {
				b := work(t, map[string]string{"tasks.md": before, "daily/2026-10-07.md": ""})
				tool := b.tool(each.tool)
				mark, err := tool.(agent.Checker).Mark(t.Context(), json.RawMessage(each.args))
				if err != nil {
					t.Fatal(err)
				}
				tc.do(b, tool)
				// Another process asks: it has shown nothing.
				got, did, err := b.tool(each.tool).(agent.Checker).Check(t.Context(), mark)
				if err != nil || got != tc.want {
					t.Errorf("got %d, %v; want %d", got, err, tc.want)
				}
				if got == agent.HasHappened && (len(did) != 1 || did[0].Path != each.file || did[0].Added < 1) {
					t.Errorf("it did %v, want a line of %s", did, each.file)
				}
			})
		}
	}
}

func mustRun(b *bench, tool agent.Tool, args string) {
	b.t.Helper()
	if _, err := tool.Run(b.t.Context(), json.RawMessage(args)); err != nil {
		b.t.Fatal(err)
	}
}

func put(b *bench, name, text string) {
	b.t.Helper()
	file := filepath.Join(b.folders[0].Dir(), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// Two changes of one note are shown before either is made, as two dialogs of
// a plan are: the mark of the second knows what the first has made of it.
func TestTheMarkKnowsWhatAnEarlierStepHasWritten(t *testing.T) {
	b := work(t, map[string]string{"tasks.md": "- [ ] a\n"})
	tool := b.tool("add_task")
	for _, args := range []string{`{"text":"b"}`, `{"text":"c"}`} {
		if _, err := tool.(agent.Previewer).Preview(t.Context(), json.RawMessage(args)); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(b, tool, `{"text":"b"}`)
	for _, want := range []agent.Happened{agent.HasNotHappened, agent.HasHappened} {
		mark, err := tool.(agent.Checker).Mark(t.Context(), json.RawMessage(`{"text":"c"}`))
		if err != nil {
			t.Fatal(err)
		}
		if want == agent.HasHappened {
			mustRun(b, tool, `{"text":"c"}`)
		}
		if got, _, err := tool.(agent.Checker).Check(t.Context(), mark); err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
	if got := b.text("tasks.md"); got != "- [ ] a\n- [ ] b\n- [ ] c\n" {
		t.Errorf("the note holds %q", got)
	}
}
