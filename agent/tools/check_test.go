package tools

import (
	"os"
	"path/filepath"
	"testing"

	"lifehub/agent"
)

// After a kill, a writing tool finds out from the note whether it ran, unless somebody
// else has changed the note.
func TestWriterKnowsAfterAKillWhetherItRan(t *testing.T) {
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
			do   func(b *bench, change agent.Change)
			want agent.Happened
		}{
			"not run": {func(*bench, agent.Change) {}, agent.HasNotHappened},
			"run":     {func(b *bench, change agent.Change) { mustApply(b, change) }, agent.HasHappened},
			"changed by the user": {
				func(b *bench, _ agent.Change) { put(b, each.file, "my own words\n") },
				agent.MayHaveHappened,
			},
			"run, then changed": {func(b *bench, change agent.Change) {
				mustApply(b, change)
				put(b, each.file, "my own words\n")
			}, agent.MayHaveHappened},
			"the vault is not here": {func(b *bench, _ agent.Change) { b.folders = nil }, agent.MayHaveHappened},
		} {
			t.Run(each.tool+" "+each.file+" "+name, func(t *testing.T) {
				b := work(t, map[string]string{"tasks.md": before, "daily/2026-10-07.md": ""})
				change := b.prepare(each.tool, each.args)
				mark, err := change.Mark(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				tc.do(b, change)
				// This is another process, which has prepared nothing.
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

func mustApply(b *bench, change agent.Change) {
	b.t.Helper()
	if _, err := change.Apply(b.t.Context()); err != nil {
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

// Two changes of one note are shown before either is made, as in a plan with two
// dialogs. The mark of the second includes the first.
func TestMarkIncludesEarlierChanges(t *testing.T) {
	b := work(t, map[string]string{"tasks.md": "- [ ] a\n"})
	tools := All(b.deps)
	first, second := b.of(tools, "add_task", `{"text":"b"}`), b.of(tools, "add_task", `{"text":"c"}`)
	mustApply(b, first)
	mark, err := second.Mark(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []agent.Happened{agent.HasNotHappened, agent.HasHappened} {
		if want == agent.HasHappened {
			mustApply(b, second)
		}
		if got, _, err := b.tool("add_task").(agent.Checker).Check(t.Context(), mark); err != nil || got != want {
			t.Errorf("got %d, %v; want %d", got, err, want)
		}
	}
	if got := b.text("tasks.md"); got != "- [ ] a\n- [ ] b\n- [ ] c\n" {
		t.Errorf("the note holds %q", got)
	}
}
