package rag

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag/search"
	"lifehub/rag/words"
)

// child returns a command that runs the test binary as a child process; see TestMain.
func child(t *testing.T, work, dir, index string, more ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LIFEHUB_RAG_WORK="+work, "LIFEHUB_RAG_VAULT="+dir, "LIFEHUB_RAG_INDEX="+index)
	cmd.Env = append(cmd.Env, more...)
	return cmd
}

// childWork does the work of a child process.
func childWork(work, dir, index string) {
	ctx := context.Background()
	folder, err := notes.Open(dir)
	check(err)
	embedder := &bagEmbedder{name: "bag"}
	open := func() *Index {
		x, err := Open(index, Options{Vault: dir, Size: 64, Embedder: embedder})
		check(err)
		return x
	}
	switch work {
	case "sync":
		x := open()
		_, err := x.Sync(ctx, folder, embedder, nil)
		check(errors.Join(err, x.Close()))
	case "rebuild":
		x := open()
		_, err := x.Rebuild(ctx, folder, embedder, nil)
		check(errors.Join(err, x.Close()))
	case "rebuild for ever":
		for {
			x := open()
			_, err := x.Rebuild(ctx, folder, embedder, nil)
			check(errors.Join(err, x.Close()))
			fmt.Println("rebuilt")
		}
	case "search":
		random := rand.New(rand.NewPCG(uint64(os.Getpid()), 1))
		times, err := strconv.Atoi(os.Getenv("LIFEHUB_RAG_TIMES"))
		check(err)
		for range times {
			x := open()
			check(findOne(ctx, x, random.IntN(manyNotes)))
			check(x.Close())
		}
	}
	os.Exit(0)
}

// manyNotes is the number of notes in the vaults of these tests.
const manyNotes = 40

// findOne searches for words that only one note has.
func findOne(ctx context.Context, x *Index, note int) error {
	found, err := x.Search(ctx, search.Query{Text: fmt.Sprintf(`"marker%d"`, note)})
	if err != nil {
		return err
	}
	if len(found.Passages) != 1 || found.Passages[0].Path != fmt.Sprintf("note%02d.md", note) {
		return fmt.Errorf("wrong: note %d is found in %v of %d notes", note, found.Passages, found.Coverage.Indexed)
	}
	return nil
}

func manyNotesIn(t *testing.T) (dir, index string) {
	t.Helper()
	dir, index = t.TempDir(), t.TempDir()
	for i := range manyNotes {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\nmarker%d stands here.\n\n%s\n", i, i, prose(i, 60))})
	}
	if out, err := child(t, "sync", dir, index).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir, index
}

// Rebuilds killed at any moment do not disturb concurrent searches, in other processes
// or in one that opened the index before.
func TestSearchesDuringRebuildsThatAreKilled(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir, index := manyNotesIn(t)
	rebuilds, searches := testenv.Rounds(4, 500), testenv.Rounds(16, 2000)
	x, err := Open(index, Options{Vault: dir, Size: 64, Embedder: &bagEmbedder{name: "bag"}})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var searching sync.WaitGroup
	var over atomic.Int32
	const processes = 4
	for range processes {
		searching.Go(func() {
			defer over.Add(1)
			cmd := child(t, "search", dir, index, "LIFEHUB_RAG_TIMES="+strconv.Itoa(searches/processes))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("a process that searches says %v: %s", err, out)
			}
		})
	}
	random := rand.New(rand.NewPCG(5, 5))
	done, killed := 0, 0
	for done < rebuilds || over.Load() < processes {
		cmd := child(t, "rebuild for ever", dir, index)
		output, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		for range 1 + random.IntN(8) {
			if !lines.Scan() || lines.Text() != "rebuilt" {
				t.Fatalf("a process that rebuilds says %q", lines.Text())
			}
			done++
			if err := findOne(t.Context(), x, random.IntN(manyNotes)); err != nil {
				t.Errorf("the index that stays open, after %d rebuilds: %v", done, err)
			}
		}
		time.Sleep(time.Duration(random.IntN(20_000)) * time.Microsecond) // when it is killed is the point of the test
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() //nolint:errcheck // it was killed
		killed++
	}
	searching.Wait()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	changes, err := x.Sync(t.Context(), folder, &bagEmbedder{name: "bag"}, nil)
	if err != nil || changes.Embedded > 0 || changes.Rebuilt != "" {
		t.Errorf("after all that a sync says %+v, %v", changes, err)
	}
	if left := generations(t, index); len(left) != 1 {
		t.Errorf("after a sync %q are left", left)
	}
	t.Logf("%d rebuilds, killed %d times, during %d searches", done, killed, searches)
}

// generations lists the keyword index files in an index's folder.
func generations(t *testing.T, index string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(index, "*.db"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A search ends on the generation on which it began.
func TestSearchKeepsItsGenerationOpen(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n"})
	syncNow(t, x, folder, nil)
	g, err := x.acquire(false)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := x.Rebuild(t.Context(), folder, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := x.search(t.Context(), g.db, search.Query{Text: "apple"}); err != nil || len(found.Passages) != 1 {
		t.Errorf("the search finds %v, %v", found.Passages, err)
	}
	if err := g.release(); err != nil {
		t.Error(err)
	}
	if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("then %q are found", got)
	}
}

// A cancelled rebuild leaves the old index in place.
func TestCancelledRebuildKeepsTheOldIndex(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n", "b.md": "pear\n"})
	syncNow(t, x, folder, nil)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := x.Rebuild(ctx, folder, nil, func(Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("the rebuild says %v", err)
	}
	if got := paths(t, x, "apple"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("then %q are found", got)
	}
	if left := generations(t, x.dir); len(left) != 1 || filepath.Base(left[0]) != "words.db" {
		t.Errorf("%q are left", left)
	}
}

func TestOtherErrorsAreNotDamage(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		syscall.ENOSPC, syscall.EMFILE, syscall.EACCES, syscall.EROFS, syscall.EIO, fs.ErrNotExist, errLocked,
		context.Canceled, fmt.Errorf("wrapped: %w", &fs.PathError{Op: "open", Path: "words.db", Err: syscall.EMFILE}),
	} {
		if words.IsDamage(err) || words.IsDamage(words.Explain(err)) {
			t.Errorf("%v is taken for damage", err)
		}
	}
	for err, says := range map[error]string{
		syscall.ENOSPC: "free some space", syscall.EMFILE: "ulimit -n", syscall.EACCES: "writable",
		syscall.EROFS: "writable",
	} {
		if got := words.Explain(err); !errors.Is(got, err) || !strings.Contains(got.Error(), says) {
			t.Errorf("of %v it says %q", err, got)
		}
	}
	path := filepath.Join(t.TempDir(), "words.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := words.Open(path, words.ReadWrite); !words.IsDamage(err) {
		t.Errorf("a file of nonsense is %v", err)
	}
}

// The index of another version of LifeHub is rebuilt, and its vectors are reused.
func TestIndexOfAnotherVersionIsRebuilt(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{"a.md": "apple\n"})
	embedder := &bagEmbedder{name: "bag"}
	syncNow(t, x, folder, embedder)
	if err := words.SetMeta(t.Context(), x.words.db, "version", "10"); err != nil {
		t.Fatal(err)
	}
	again, err := Open(x.dir, x.options)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if changes := syncNow(t, again, folder, embedder); !strings.Contains(changes.Rebuilt, "version 10") ||
		changes.Embedded > 0 {
		t.Errorf("the sync says %+v", changes)
	}
	if got := paths(t, again, "apple"); !slices.Equal(got, []string{"a.md"}) {
		t.Errorf("%q are found", got)
	}
}
