package rag

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag/vectors"
)

// embedders has the embedder that was stored last; nil: none.
type embedders struct{ atomic.Pointer[bagEmbedder] }

func uses(first *bagEmbedder) *embedders {
	e := &embedders{}
	e.Store(first)
	return e
}

func (e *embedders) Embedder(context.Context) llm.Embedder {
	if now := e.Load(); now != nil {
		return now
	}
	return nil
}

func TestWatchUpdatesTheIndex(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n", "deep/b.md": "# B\n\nbananas\n"})
	folder, x := openVault(t, dir, t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	report, done := make(chan Changes, 100), make(chan error, 1)
	go func() {
		done <- x.Watch(ctx, folder, uses(&bagEmbedder{name: "bag"}), func(c Changes, err error) {
			if err != nil {
				t.Error(err)
			}
			report <- c
		})
	}()
	// The changes of one step may be reported by several syncs, so they are added up.
	expect := func(t *testing.T, want ...string) {
		t.Helper()
		var got []string
		for len(got) < len(want) {
			got = append(got, whats(<-report)...)
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
		{
			"a note is added", func() { write(t, dir, map[string]string{"c.md": "# C\n\ncherries\n"}) },
			[]string{"added c.md"},
		},
		{
			"a note changes", func() { write(t, dir, map[string]string{"a.md": "# A\n\napricots\n"}) },
			[]string{"changed a.md"},
		},
		{"a note is renamed", func() { rename(t, dir, "c.md", "deep/cc.md") }, []string{"moved deep/cc.md from c.md"}},
		{
			"a folder is moved", func() { rename(t, dir, "deep", "deeper") },
			[]string{"moved deeper/b.md from deep/b.md", "moved deeper/cc.md from deep/cc.md"},
		},
		{"a note comes into a new folder", func() {
			write(t, dir, map[string]string{"new/sub/d.md": "# D\n\ndates\n"})
		}, []string{"added new/sub/d.md"}},
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
	t.Run("many notes at once", func(t *testing.T) { // LIFEHUB_SOAK=10000 sets their number
		// Each file is created with its text: one seen empty would be reported as
		// changed.
		var want []string
		elsewhere := t.TempDir()
		for i := range soak(1000) {
			name := fmt.Sprintf("many%d/%05d.md", i%7, i)
			write(t, elsewhere, map[string]string{name: fmt.Sprintf("# %d\n\nnumber %d\n", i, i)})
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(elsewhere, name), filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			want = append(want, "added "+name)
		}
		expect(t, want...)
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("the watch ended with %v", err)
	}
}

// watched starts a watch with short delays, and returns its reports. It ends with the
// test.
func watched(t *testing.T, x *Index, folder *notes.Folder, of Embedders,
	start func() (*fsnotify.Watcher, error),
) chan Changes {
	t.Helper()
	report, done := make(chan Changes, 100), make(chan error, 1)
	w := x.watcher(folder, of, func(c Changes, err error) {
		if err != nil {
			t.Error(err)
		}
		report <- c
	})
	w.Poll, w.Again = 20*time.Millisecond, 20*time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	go func() { done <- w.Run(ctx, start) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
	return report
}

// until reads reports until all the wanted changes were reported.
func until(t *testing.T, report chan Changes, want ...string) {
	t.Helper()
	missing := slices.Clone(want)
	for len(missing) > 0 {
		c := <-report
		for _, got := range slices.Concat(whats(c), c.Warnings) {
			missing = slices.DeleteFunc(missing, func(want string) bool { return strings.Contains(got, want) })
		}
	}
}

func TestWatchSurvivesAMissingFolder(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "vault")
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n", "deep/b.md": "# B\n\nbananas\n"})
	folder, x := openVault(t, dir, t.TempDir())
	report := watched(t, x, folder, uses(nil), fsnotify.NewWatcher)
	until(t, report, "added a.md", "added deep/b.md")

	unavailable := dir + ".away"
	if err := os.Rename(dir, unavailable); err != nil {
		t.Fatal(err)
	}
	until(t, report, "is gone")
	if got := paths(t, x, "bananas"); !slices.Equal(got, []string{"deep/b.md"}) {
		t.Errorf("while the folder is gone, bananas are found in %q", got)
	}
	write(t, unavailable, map[string]string{"deep/b.md": "# B\n\nblueberries\n"})
	if err := os.Rename(unavailable, dir); err != nil {
		t.Fatal(err)
	}
	until(t, report, "changed deep/b.md")
	write(t, dir, map[string]string{"deep/c.md": "# C\n\ncherries\n"})
	until(t, report, "added deep/c.md")

	// Another folder takes its place, as with a checkout or a restored backup.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	until(t, report, "is gone")
	write(t, dir, map[string]string{"a.md": "# A\n\napricots\n", "deep/b.md": "# B\n\nblueberries\n"})
	write(t, dir, map[string]string{"late.md": "# Late\n\nlemons\n"})
	until(t, report, "late.md")
	write(t, dir, map[string]string{"deep/d.md": "# D\n\ndates\n"})
	until(t, report, "added deep/d.md")
	for text, want := range map[string]string{
		"apricots": "a.md", "blueberries": "deep/b.md",
		"lemons": "late.md", "dates": "deep/d.md",
	} {
		if got := paths(t, x, text); !slices.Equal(got, []string{want}) {
			t.Errorf("%s are found in %q, want %s", text, got, want)
		}
	}
	if note, err := folder.Read("late.md"); err != nil || !strings.Contains(note.Text, "lemons") {
		t.Errorf("the restored folder reads %q, %v", note.Text, err)
	}
}

func TestFolderThatCannotBeWatchedIsPolled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n"})
	folder, x := openVault(t, dir, t.TempDir())
	report := watched(t, x, folder, uses(nil), func() (*fsnotify.Watcher, error) {
		return nil,
			errors.New("too many open files")
	})
	until(t, report, "cannot be watched (too many open files)", "added a.md")
	// The file is created with its text: one seen empty would be another note after the
	// move.
	elsewhere := t.TempDir()
	write(t, elsewhere, map[string]string{"b.md": "# B\n\nbananas\n"})
	if err := os.Rename(filepath.Join(elsewhere, "b.md"), filepath.Join(dir, "b.md")); err != nil {
		t.Fatal(err)
	}
	until(t, report, "added b.md")
	rename(t, dir, "b.md", "c.md")
	until(t, report, "moved c.md from b.md")
	remove(t, dir, "a.md")
	until(t, report, "removed a.md")
}

func TestWatchFollowsTheEmbeddingModel(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 30 {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\n%s\n", i, prose(i, 60))})
	}
	folder, x := openVault(t, dir, t.TempDir())
	model := uses(&bagEmbedder{name: "first"})
	report := watched(t, x, folder, model, fsnotify.NewWatcher)
	until(t, report, "added note29.md")

	// The second model is slow to start; meanwhile keyword search answers.
	second, begun, goOn := &bagEmbedder{name: "second"}, make(chan struct{}), make(chan struct{})
	var once sync.Once
	second.spoil = func(string) ([]float32, error) {
		once.Do(func() { close(begun); <-goOn })
		return nil, nil
	}
	model.Store(second)
	<-begun
	found, err := x.Search(t.Context(), Query{Text: prose(7, 30), Side: Both})
	if err != nil || len(found.Passages) == 0 || found.Passages[0].Path != "note07.md" ||
		!strings.HasPrefix(found.Coverage.Embedder, keywordsOnly) {
		t.Errorf("while it is embedded anew, found %+v, %v", found, err)
	}
	close(goOn)
	for c := range report {
		if c.Embedded == 30 {
			break
		}
	}
	found, err = x.Search(t.Context(), Query{Text: prose(7, 30)})
	if err != nil || found.Coverage.Embedder != "second" {
		t.Errorf("afterwards, %q took part, %v", found.Coverage.Embedder, err)
	}
}

func TestWatchCatchesUpWhenChromaIsBack(t *testing.T) {
	t.Parallel()
	server := testenv.StartChroma(t)
	dir := namedVault(t, "vault")
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n"})
	folder, x := openWith(t, dir, t.TempDir(), &vectors.ChromaServer{URL: server.URL})
	report := watched(t, x, folder, uses(&bagEmbedder{name: "bag"}), fsnotify.NewWatcher)
	until(t, report, "added a.md")
	server.Kill()
	write(t, dir, map[string]string{"b.md": "# B\n\nbananas\n"})
	until(t, report, "added b.md")
	if got := paths(t, x, "bananas"); !slices.Equal(got, []string{"b.md"}) {
		t.Errorf("while the server is down, bananas are found in %q", got)
	}
	server.Start(t)
	for c := range report {
		if c.Embedded > 0 {
			break
		}
	}
	wholeCollection(t, x, 2)
}
