package rag

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/notes"
	"lifehub/rag/words"
)

// bagEmbedder hashes the words of a text into a vector, so that similar texts are
// found, and counts its requests.
type bagEmbedder struct {
	name  string
	mu    sync.Mutex // two batches may arrive at the same time
	texts int
	spoil func(text string) ([]float32, error) // nil: all texts are embedded
}

func (e *bagEmbedder) Name() string { return e.name }

func (e *bagEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	embeddings := make([][]float32, len(texts))
	for i, text := range texts {
		e.texts++
		if e.spoil != nil {
			vector, err := e.spoil(text)
			if err != nil {
				return nil, err
			}
			if vector != nil {
				embeddings[i] = vector
				continue
			}
		}
		embeddings[i] = bag(text)
	}
	return embeddings, nil
}

func bag(text string) []float32 {
	vector := make([]float32, 64)
	for _, t := range words.Terms(text, "") {
		h := fnv.New32a()
		h.Write([]byte(t.Text))
		vector[h.Sum32()%64]++
	}
	vector[0]++
	return vector
}

// vault writes notes to a new folder, and opens folder and index.
func vault(t *testing.T, files map[string]string) (*notes.Folder, *Index) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	return openVault(t, dir, t.TempDir())
}

func openVault(t *testing.T, dir, index string) (*notes.Folder, *Index) {
	t.Helper()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	x, err := Open(index, Options{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(x.Close(), folder.Close()); err != nil {
			t.Error(err)
		}
	})
	return folder, x
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func syncNow(t *testing.T, x *Index, folder *notes.Folder, embedder llm.Embedder) Changes {
	t.Helper()
	changes, err := x.Sync(t.Context(), folder, embedder, nil)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// paths searches and returns the paths of the notes found.
func paths(t *testing.T, x *Index, text string) []string {
	t.Helper()
	q, err := ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range found.Passages {
		all = append(all, p.Path)
	}
	return all
}

func whats(changes Changes) []string {
	var all []string
	for _, c := range changes.Notes {
		text := c.What + " " + c.Path
		if c.From != "" {
			text += " from " + c.From
		}
		all = append(all, text)
	}
	return all
}

func TestSyncFollowsTheNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"bread.md":        "# Sourdough\n\nFeed the starter with rye flour.\n",
		"trips/lisbon.md": "# Lisbon\n\nTake the yellow tram to Belem.\n",
		"untitled.md":     "The spare key is under the third flower pot.\n",
	})
	folder, x := openVault(t, dir, t.TempDir())
	embedder := &bagEmbedder{name: "bag"}
	steps := []struct {
		name     string
		do       func()
		want     []string
		embedded int
	}{
		{"everything is new", func() {}, []string{"added bread.md", "added trips/lisbon.md", "added untitled.md"}, 3},
		{"nothing changed", func() {}, nil, 0},
		{"one note changed", func() {
			write(t, dir, map[string]string{"bread.md": "# Sourdough\n\nFeed the starter with spelt flour.\n"})
		}, []string{"changed bread.md"}, 1},
		{"a note was renamed, its name being its title", func() {
			rename(t, dir, "untitled.md", "house/keys.md")
		}, []string{"moved house/keys.md from untitled.md"}, 0},
		{
			"a folder was renamed", func() { rename(t, dir, "trips", "journeys") },
			[]string{"moved journeys/lisbon.md from trips/lisbon.md"},
			0,
		},
		{"a note was deleted", func() { remove(t, dir, "bread.md") }, []string{"removed bread.md"}, 0},
		{"the same text came back", func() {
			write(t, dir, map[string]string{"baking.md": "# Sourdough\n\nFeed the starter with spelt flour.\n"})
		}, []string{"added baking.md"}, 0},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			step.do()
			changes := syncNow(t, x, folder, embedder)
			if got := whats(changes); !slices.Equal(got, step.want) {
				t.Errorf("got changes %q, want %q", got, step.want)
			}
			if changes.Embedded != step.embedded {
				t.Errorf("embedded %d texts, want %d", changes.Embedded, step.embedded)
			}
		})
	}
	if got := paths(t, x, "spare key flower pot"); got[0] != "house/keys.md" {
		t.Errorf("after all that, the key is found in %q", got)
	}
}

func TestSyncPathsReadsOnlyTheseNotes(t *testing.T) {
	t.Parallel()
	dir, index := t.TempDir(), t.TempDir()
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n", "b.md": "# B\n\nbananas\n", "c.md": "# C\n\ncherries\n"})
	folder, x := openVault(t, dir, index)
	embedder := &bagEmbedder{name: "bag"}
	syncNow(t, x, folder, embedder)
	write(t, dir, map[string]string{"a.md": "# A\n\napricots\n", "new.md": "# New\n\nmelons\n"})
	rename(t, dir, "b.md", "moved/b.md")
	remove(t, dir, "c.md")
	changes, err := x.SyncPaths(t.Context(), folder, embedder,
		[]string{"a.md", "b.md", "c.md", "moved/b.md", "new.md", "never.md"})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"changed a.md", "removed c.md", "moved moved/b.md from b.md", "added new.md"}
	if got := whats(changes); !slices.Equal(got, want) || changes.Embedded != 2 || changes.Total != 3 {
		t.Errorf("got %q, %d embedded, %d notes; want %q, 2 and 3", got, changes.Embedded, changes.Total, want)
	}
	if after := syncNow(t, x, folder, embedder); len(after.Notes) != 0 || after.Embedded != 0 {
		t.Errorf("a whole sync then found %q and embedded %d", whats(after), after.Embedded)
	}
	if got := paths(t, x, "melons"); len(got) == 0 || got[0] != "new.md" {
		t.Errorf("the new note is found as %q", got)
	}
}

func rename(t *testing.T, dir, from, to string) {
	t.Helper()
	target := filepath.Join(dir, filepath.FromSlash(to))
	if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o700),
		os.Rename(filepath.Join(dir, from), target)); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func TestSearchWithoutAnEmbedder(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"bread.md": "# Sourdough\n\nFeed the starter with rye flour.\n",
		"run.md":   "# Running\n\nEasy pace on Sunday.\n",
	}
	cases := []struct {
		name     string
		embedder llm.Embedder
		why      string
	}{
		{"none is there", nil, ": no embedding model"},
		{"it fails", &bagEmbedder{name: "bag", spoil: func(string) ([]float32, error) {
			return nil, fmt.Errorf("ask 127.0.0.1:11434: %w", llm.ErrUnreachable)
		}}, ": ask 127.0.0.1:11434: " + llm.ErrUnreachable.Error()},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			folder, x := vault(t, files)
			syncNow(t, x, folder, c.embedder)
			found, err := x.Search(t.Context(), Query{Text: "rye"})
			if err != nil {
				t.Fatal(err)
			}
			if len(found.Passages) != 1 || found.Passages[0].Path != "bread.md" {
				t.Errorf("found %+v", found.Passages)
			}
			if got := found.Coverage; got.Indexed != 2 || got.Total != 2 || got.Embedder != keywordsOnly+c.why {
				t.Errorf("coverage is %+v, want 2 of 2 and %q", got, c.why)
			}
		})
	}
}

func TestNotesIndexedByKeywordsAreEmbeddedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "# A\n\napples\n"})
	folder, x := openVault(t, dir, t.TempDir())
	embedder := &bagEmbedder{name: "bag"}
	syncNow(t, x, folder, embedder)
	write(t, dir, map[string]string{"b.md": "# B\n\nbananas\n"})
	syncNow(t, x, folder, nil)
	if changes := syncNow(t, x, folder, embedder); changes.Embedded != 1 {
		t.Errorf("embedded %d texts, want the one that came while the embedder was away", changes.Embedded)
	}
}

// Another model under the same name is not searched with the vectors of the one before.
func TestModelWithAnotherDimensionIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "apples grow on trees\n", "b.md": "bread is baked\n"})
	folder, x := openVault(t, dir, t.TempDir())
	embedder := &bagEmbedder{name: "bag"}
	syncNow(t, x, folder, embedder)
	embedder.spoil = func(text string) ([]float32, error) { return append(bag(text), 1), nil }
	found, err := x.Search(t.Context(), Query{Text: "apples"})
	if why := found.Coverage.Embedder; err != nil || len(found.Passages) == 0 ||
		!strings.Contains(why, "65 numbers, not of 64: delete meaning-") {
		t.Errorf("words answer with %+v, %v", found.Coverage, err)
	}
}

func TestBadVectorsAreRejectedAndRetried(t *testing.T) {
	t.Parallel()
	nan := float32(math.NaN())
	long := make([]float32, 65)
	long[0] = 1
	faults := map[string]func() ([]float32, error){
		"NaN":             func() ([]float32, error) { return []float32{nan}, nil },
		"zeros":           func() ([]float32, error) { return make([]float32, 64), nil },
		"no numbers":      func() ([]float32, error) { return []float32{}, nil },
		"a longer vector": func() ([]float32, error) { return long, nil },
		"infinity":        func() ([]float32, error) { return []float32{float32(math.Inf(1))}, nil },
		"an error for the batch": func() ([]float32, error) {
			return nil, &llm.StatusError{Code: 500, Message: "item refused"}
		},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			folder, x := vault(t, map[string]string{
				"a.md": "apples grow on trees\n", "b.md": "poison for the embedder\n", "c.md": "cherries are red\n",
			})
			embedder := &bagEmbedder{name: "bag", spoil: func(text string) ([]float32, error) {
				if strings.Contains(text, "poison") {
					return fault()
				}
				return nil, nil
			}}
			changes := syncNow(t, x, folder, embedder)
			if changes.Embedded != 2 || len(changes.Warnings) != 1 {
				t.Errorf("embedded %d with warnings %q, want 2 and one warning", changes.Embedded, changes.Warnings)
			}
			for _, question := range []string{"apples", "poison", "cherries"} {
				if got := paths(t, x, question); len(got) == 0 {
					t.Errorf("%s is not found", question)
				}
			}
			embedder.spoil = nil
			if changes := syncNow(t, x, folder, embedder); changes.Embedded != 1 {
				t.Errorf("a repaired embedder embedded %d texts, want the one that was refused", changes.Embedded)
			}
		})
	}
}

func TestRealNotesAreAllIndexed(t *testing.T) {
	t.Parallel()
	if testenv.Race {
		t.Skip("hundreds of notes are indexed without the race detector")
	}
	source := testenv.Shared(t, "data/corpora/til-jbranchaud")
	dir := t.TempDir()
	for _, part := range []string{"git", "javascript", "postgres", "python"} {
		if err := os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(source, part))); err != nil {
			t.Fatal(err)
		}
	}
	folder, x := openVault(t, dir, t.TempDir())
	embedder := &bagEmbedder{name: "bag"}
	first := syncNow(t, x, folder, embedder)
	indexedNotes := 0
	for _, c := range first.Notes {
		if c.What == added {
			indexedNotes++
		} else if c.Reason == "" {
			t.Errorf("%s was %s without a reason", c.Path, c.What)
		}
	}
	if indexedNotes != first.Total || first.Total < 450 {
		t.Errorf("indexed %d of %d notes", indexedNotes, first.Total)
	}
	if again := syncNow(t, x, folder, embedder); again.Embedded != 0 || len(again.Notes) != 0 {
		t.Errorf("a second sync embedded %d texts and changed %q", again.Embedded, whats(again))
	}
	rename(t, dir, "git", "version-control")
	if after := syncNow(t, x, folder, embedder); after.Embedded != 0 {
		t.Errorf("after a folder was renamed, %d texts were embedded", after.Embedded)
	}
	top := paths(t, x, "undo the last commit but keep the changes")
	if !slices.ContainsFunc(top[:3], func(path string) bool {
		return strings.Contains(path, "undo") || strings.Contains(path, "reset") || strings.Contains(path, "uncommit")
	}) {
		t.Errorf("the notes about undoing a commit are not among %q", top)
	}
}

func TestBrokenNoteCountsOnce(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"broken.md": "---\ntags: [a]\nno property at all\n---\n# " +
		"Broken\n\nfindable all the same\n", "empty\x01.md": "# Odd\n\nname\n"})
	first := syncNow(t, x, folder, nil)
	if got, want := whats(first), []string{"added broken.md", "added empty\x01.md"}; !slices.Equal(got, want) ||
		first.Notes[0].Reason == "" {
		t.Errorf("got %q, reason %q, want %q and a reason", got, first.Notes[0].Reason, want)
	}
	for _, again := range []string{"unchanged", "touched"} {
		if again == "touched" {
			now := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(folder.Dir(), "broken.md"), now, now); err != nil {
				t.Fatal(err)
			}
		}
		if c := syncNow(t, x, folder, nil); len(c.Notes) > 0 {
			t.Errorf("%s, it is told as %q", again, whats(c))
		}
	}
	status, err := x.Status(t.Context(), folder)
	if err != nil || len(status) != 2 || status[0].State != indexedNote || status[0].Reason == "" {
		t.Errorf("status %+v, %v", status, err)
	}
	if got := paths(t, x, "findable"); !slices.Equal(got, []string{"broken.md"}) {
		t.Errorf("found in %q", got)
	}
}

// A file that changes while a sync reads the folder is noticed by the next sync, even
// if it has the listed size and time again.
func TestNoteChangedDuringASyncIsNoticedLater(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "# A\n\napples\n", "b.md": "# B\n\nbananas\n"})
	unavailable := filepath.Join(t.TempDir(), "b.md")
	hidden := false
	_, err := x.Sync(t.Context(), folder, nil, func(p Progress) {
		if p.Phase == "read" && !hidden { // a.md is next
			hidden = true
			if err := os.Rename(filepath.Join(folder.Dir(), "b.md"), unavailable); err != nil {
				t.Error(err)
			}
		}
	})
	if err != nil || !hidden {
		t.Fatal(err, hidden)
	}
	if err := os.Rename(unavailable, filepath.Join(folder.Dir(), "b.md")); err != nil {
		t.Fatal(err)
	}
	if got := whats(syncNow(t, x, folder, nil)); !slices.Equal(got, []string{"added b.md"}) {
		t.Errorf("the next sync did %q", got)
	}
}

func TestDryRunPredictsTheSync(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"bread.md": "rye and water\n", "tea.md": "black and hot\n", "run.md": "easy on Sunday\n",
		"gone.md": "of the same size\n",
	})
	syncNow(t, x, folder, nil)
	rename(t, folder.Dir(), "bread.md", "kitchen/bread.md")
	remove(t, folder.Dir(), "gone.md")
	write(t, folder.Dir(), map[string]string{"new.md": "as many letters.\n", "run.md": "hills on Monday\n"})
	report, err := x.DryRun(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"removed gone.md", "moved kitchen/bread.md from bread.md", "added new.md", "changed run.md"}
	if got := whats(report); !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	done := whats(syncNow(t, x, folder, nil))
	slices.Sort(done)
	if slices.Sort(want); !slices.Equal(done, want) {
		t.Errorf("did %q, want %q", done, want)
	}
}
