package rag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"lifehub/llm"
)

func TestWatchKeepsTheIndexLikeTheFolder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n", "deep/b.md": "# B\n\nbananas\n"})
	folder, x := openVault(t, dir, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan Changes, 100), make(chan error, 1)
	go func() {
		done <- x.Watch(ctx, folder, func() llm.Embedder { return &bagEmbedder{name: "bag"} }, func(c Changes, err error) {
			if err != nil {
				t.Error(err)
			}
			told <- c
		})
	}()
	// Changes of one step may be told in several syncs, so they are added up.
	expect := func(t *testing.T, want ...string) {
		t.Helper()
		var got []string
		for len(got) < len(want) {
			got = append(got, whats(<-told)...)
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	expect(t, "added a.md", "added deep/b.md")
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"a note is added", func() { write(t, dir, map[string]string{"c.md": "# C\n\ncherries\n"}) }, []string{"added c.md"}},
		{"a note changes", func() { write(t, dir, map[string]string{"a.md": "# A\n\napricots\n"}) }, []string{"changed a.md"}},
		{"a note is renamed", func() { rename(t, dir, "c.md", "deep/cc.md") }, []string{"moved deep/cc.md from c.md"}},
		{
			"a folder is moved", func() { rename(t, dir, "deep", "deeper") },
			[]string{"moved deeper/b.md from deep/b.md", "moved deeper/cc.md from deep/cc.md"},
		},
		{"a note comes into a new folder", func() { write(t, dir, map[string]string{"new/sub/d.md": "# D\n\ndates\n"}) }, []string{"added new/sub/d.md"}},
		{"an editor saves by renaming", func() {
			write(t, dir, map[string]string{"new/sub/.d.md.swp": "# D\n\nmore dates\n"})
			rename(t, dir, "new/sub/.d.md.swp", "new/sub/d.md")
		}, []string{"changed new/sub/d.md"}},
		{"a note is deleted", func() { remove(t, dir, "deeper/b.md") }, []string{"removed deeper/b.md"}},
		{"a folder is deleted", func() {
			if err := os.RemoveAll(filepath.Join(dir, "new")); err != nil {
				t.Fatal(err)
			}
		}, []string{"removed new/sub/d.md"}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			expect(t, step.want...)
		})
	}
	t.Run("three hundred notes at once", func(t *testing.T) {
		var want []string
		for i := range 300 {
			name := fmt.Sprintf("many/%03d.md", i)
			write(t, dir, map[string]string{name: fmt.Sprintf("# %d\n\nnumber %d\n", i, i)})
			want = append(want, "added "+name)
		}
		expect(t, want...)
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}
