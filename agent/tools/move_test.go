package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
	"lifehub/internal/testenv"
	"lifehub/store"
)

// movingBench returns a bench whose changes are stored, and a turn of a conversation there.
func movingBench(t testing.TB, files map[string]string) (b *bench, turn context.Context) {
	t.Helper()
	s, err := store.InMemory()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	b = work(t, files)
	b.deps.Changes, b.deps.Sets = s, s
	conversation := s.NewConversation()
	begun, err := s.Begin(t.Context(), conversation, "move it")
	if err != nil {
		t.Fatal(err)
	}
	return b, agent.WithCaller(t.Context(), agent.Caller{Conversation: conversation, Turn: begun})
}

// all returns the files of the first vault, without hidden ones.
func (b *bench) all() map[string]string {
	files := map[string]string{}
	dir := b.folders[0].Dir()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case err != nil || d.IsDir() || strings.HasPrefix(d.Name(), "."): // what a killed write leaves is hidden
			return err
		}
		raw, err := os.ReadFile(name)
		files[filepath.ToSlash(sure(filepath.Rel(dir, name)))] = string(raw)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return files
}

// sure returns a value that is there without an error, or panics.
func sure[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// prepared computes the change of a call.
func (b *bench) prepared(ctx context.Context, tool string, args any) (agent.Change, error) {
	return b.tool(tool).(agent.Preparer).Prepare(ctx, sure(json.Marshal(args)))
}

func TestMovedMergedAndRetagged(t *testing.T) {
	before := map[string]string{
		"plan.md": "# Plan\n\nSee [[next]] and #run.\n", "work/next.md": "[p](../plan.md) [[Plan]] #run/long\n",
		"clip.md": "---\nsource: https://example.org\n---\n\nClipped.\n", "index.md": "![[clip]] [[plan#x|y]]\n",
		"old.org": "* Head\n[[file:plan.md][the plan]]\n",
	}
	for name, tc := range map[string]struct {
		tool  string
		args  any
		after map[string]string // "" for a note that is gone
		did   string
	}{
		"move": {"move_note", moveArgs{"Plan", "archive/"}, map[string]string{
			"plan.md": "", "archive/plan.md": before["plan.md"],
			"work/next.md": "[p](../archive/plan.md) [[Plan]] #run/long\n",
			"old.org":      "* Head\n[[file:archive/plan.md][the plan]]\n",
		}, "changed archive/plan.md, old.org (+1 -1), work/next.md (+1 -1)"},
		"rename": {"move_note", moveArgs{"plan", "My plan"}, map[string]string{
			"plan.md": "", "My plan.md": before["plan.md"], "work/next.md": "[p](../My%20plan.md) [[My plan]] " +
				"#run/long\n",
			"index.md": "![[clip]] [[My plan#x|y]]\n", "old.org": "* Head\n[[file:My plan.md][the plan]]\n",
		}, "changed My plan.md, index.md (+1 -1), old.org (+1 -1), work/next.md (+1 -1)"},
		"merge": {"merge_notes", mergeArgs{"clip", "plan"}, map[string]string{
			"clip.md": "", "plan.md": "# Plan\n\nSee [[next]] and #run.\n\n# clip\n\nClipped.\n",
			"index.md": "![[plan]] [[plan#x|y]]\n",
		}, "changed index.md (+1 -1), plan.md (+4) · removed clip.md"},
		"retag": {"rename_tag", retagArgs{"#run", "sport/running"}, map[string]string{
			"plan.md":      "# Plan\n\nSee [[next]] and #sport/running.\n",
			"work/next.md": "[p](../plan.md) [[Plan]] #sport/running/long\n",
		}, "changed plan.md (+1 -1), work/next.md (+1 -1)"},
	} {
		t.Run(name, func(t *testing.T) {
			b, turn := movingBench(t, before)
			change, err := b.prepared(turn, tc.tool, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if name == "merge" && !slices.Contains(change.Preview().Disowned, "Clipped.") {
				t.Errorf("what was clipped is not marked: %q", change.Preview().Disowned)
			}
			mark := sure(change.Mark(turn))
			mustApply(b, withCtx{change, turn})
			if _, did, err := b.tool(tc.tool).(agent.Checker).Check(turn, mark); err != nil ||
				agent.Sum(did).String() != tc.did {
				t.Errorf("it says %q, %v, want %q", agent.Sum(did), err, tc.did)
			}
			want := maps.Clone(before)
			for note, text := range tc.after {
				if want[note] = text; text == "" {
					delete(want, note)
				}
			}
			if got := b.all(); !maps.Equal(got, want) {
				t.Errorf("the notes hold\n%q, want\n%q", got, want)
			}
			if open := sure(b.deps.Sets.OpenSets(turn)); len(open) > 0 {
				t.Errorf("it is not ended: %+v", open)
			}
			done := sure(b.deps.Changes.NoteChanges(turn, agent.CallerOf(turn).Turn))
			for _, u := range Undo(b.folders, done) {
				if u.Err != nil {
					t.Error(u)
				}
			}
			if got := b.all(); !maps.Equal(got, before) {
				t.Errorf("undone, the notes hold\n%q", got)
			}
		})
	}
}

// withCtx is a change that is applied in a turn.
type withCtx struct {
	agent.Change
	turn context.Context
}

func (c withCtx) Apply(context.Context) (agent.Result, error) { return c.Change.Apply(c.turn) }

func TestWhatCannotBeMoved(t *testing.T) {
	b, turn := movingBench(t, map[string]string{
		"plan.md": "plan\n", "other.md": "x\n", "secret/a.md": "[[plan]]\n",
		"c.canvas": `{"nodes":[{"id":"1","type":"file","file":"plan.md"}]}`,
	})
	hiding := agent.Hiding(turn, func(name string) bool { return strings.HasPrefix(name, "secret/") })
	for name, args := range map[string]moveArgs{
		"taken": {"plan", "other"}, "hidden": {"plan", "secret/"}, "no such note": {"nothing", "new"},
		"a hidden one": {"secret/a.md", "a"}, "the same": {"plan", "Plan"},
		"another kind": {"plan", "plan.txt"}, "outside": {"plan", "../plan"}, "dotted": {"plan", ".hidden/plan"},
		"not portable": {"plan", "a:b"},
	} {
		change, err := b.prepared(hiding, "move_note", args)
		if err == nil {
			_, err = change.Apply(turn)
		}
		if err == nil || len(b.all()) != 4 {
			t.Errorf("%s: %v, %v", name, err, b.all())
		}
	}
	change, err := b.prepared(hiding, "move_note", moveArgs{"plan", "new/plan b"})
	if err != nil {
		t.Fatal(err)
	}
	mustApply(b, withCtx{change, turn})
	if got := b.all(); got["secret/a.md"] != "[[plan]]\n" ||
		strings.Contains(change.Preview().Text+change.Preview().Diff, "secret") {
		t.Errorf("a hidden note was changed or named: %q, %+v", got, change.Preview())
	}
	if !strings.Contains(change.Preview().Text, "c.canvas") {
		t.Errorf("it does not say what stays: %q", change.Preview().Text)
	}
}

// Killed after any of its writes, a set is made as a whole or not at all after the next start. What the user has
// written since stays.
func TestInterruptedSetsAreAllOrNothing(t *testing.T) {
	testenv.WithoutRace(t)
	rapid.Check(t, func(r *rapid.T) {
		files := map[string]string{"plan.md": "# Plan\n\n[[a0]]\n"}
		for i := range rapid.IntRange(0, 5).Draw(r, "notes") {
			files[fmt.Sprintf("a%d.md", i)] = rapid.SampledFrom([]string{
				"[[plan]]\n", "no link\n",
				"[x](plan.md) [[plan|y]]\r\n",
			}).Draw(r, "text")
		}
		b, turn := movingBench(t, files)
		args := moveArgs{"plan", rapid.SampledFrom([]string{"deep/er/new", "other"}).Draw(r, "to")}
		change := sure(b.prepared(turn, "move_note", args))
		planned := change.(preparedSet)
		var list []agent.NoteChange
		for _, c := range planned.shown.changes {
			list = append(list, agent.NoteChange{
				Vault: c.folder.Dir(), Path: c.path,
				Before: c.was, After: sumOf(c.now),
			})
		}
		sure(b.deps.Sets.ChangingSet(turn, agent.CallerOf(turn).Turn, list))
		made := rapid.IntRange(0, len(list)).Draw(r, "made")
		for _, c := range planned.shown.changes[:made] {
			if err := c.write(); err != nil {
				r.Fatal(err)
			}
		}
		was := b.all()
		want := files
		if made == len(list) {
			want = was
		}
		edited := ""
		if rapid.Bool().Draw(r, "the user wrote meanwhile") {
			edited = rapid.SampledFrom(slices.Sorted(maps.Keys(was))).Draw(r, "to")
			put(b, edited, "mine\n")
		}
		left, err := FinishSets(turn, b.folders, b.deps.Sets)
		if err != nil || len(sure(b.deps.Sets.OpenSets(turn))) > 0 {
			r.Fatal(err)
		}
		got := b.all()
		inSet := slices.ContainsFunc(list, func(c agent.NoteChange) bool { return c.Path == edited })
		if edited == "" && (!maps.Equal(got, want) || len(left) > 0) {
			r.Errorf("after %d of %d: %q, want %q, left %q", made, len(list), got, want, left)
		}
		if edited != "" && (got[edited] != "mine\n" || inSet && !slices.Contains(left, edited)) {
			r.Errorf("what the user wrote in %s is gone, or not told: %q, left %q", edited, got, left)
		}
		if again := sure(FinishSets(turn, b.folders, b.deps.Sets)); len(again) > 0 || !maps.Equal(b.all(), got) {
			r.Error("a second start changes something")
		}
	})
}

func TestMoveBetweenFolders(t *testing.T) {
	b, turn := movingBench(t, map[string]string{"plan.md": "plan\n", "a.md": "[[plan]]\n"})
	second := b.vault(map[string]string{"b.md": "b\n"})
	change, err := b.prepared(turn, "move_note", moveArgs{"plan", filepath.Base(second.Dir()) + "/in/plan"})
	if err != nil {
		t.Fatal(err)
	}
	mustApply(b, withCtx{change, turn})
	raw, err := os.ReadFile(filepath.Join(second.Dir(), "in", "plan.md"))
	if got := b.all(); err != nil || string(raw) != "plan\n" || len(got) != 1 || got["a.md"] != "[[plan]]\n" {
		t.Errorf("%v, %q, %q", err, raw, got)
	}
}

func TestASetThatFailsChangesNothing(t *testing.T) {
	files := map[string]string{"plan.md": "# Plan\n", "a.md": "[[plan]]\n", "b.md": "[[plan]]\n"}
	b, turn := movingBench(t, files)
	change := sure(b.prepared(turn, "move_note", moveArgs{"plan", "new"}))
	put(b, "b.md", "mine\n")
	if _, err := change.Apply(turn); err == nil {
		t.Error("it wrote over what the user wrote")
	}
	files["b.md"] = "mine\n"
	if got := b.all(); !maps.Equal(got, files) {
		t.Errorf("the notes hold %q", got)
	}
	if done := sure(b.deps.Changes.NoteChanges(turn, agent.CallerOf(turn).Turn)); len(done) > 0 {
		t.Errorf("/undo would take back %v", done)
	}
}
