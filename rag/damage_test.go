package rag

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag/vectors"
)

// TestMain makes the test binary a child process that works on the vault in
// LIFEHUB_RAG_VAULT, by default indexing it again and again.
func TestMain(m *testing.M) {
	testenv.Parallel(4)
	if dir := os.Getenv("LIFEHUB_RAG_VAULT"); dir != "" {
		if work := os.Getenv("LIFEHUB_RAG_WORK"); work != "" {
			childWork(work, dir, os.Getenv("LIFEHUB_RAG_INDEX"))
		}
		var store *vectors.ChromaServer
		if address := os.Getenv("LIFEHUB_RAG_SERVER"); address != "" {
			store = &vectors.ChromaServer{URL: address}
		}
		indexForEver(dir, os.Getenv("LIFEHUB_RAG_INDEX"), store)
	}
	os.Exit(m.Run())
}

// indexForEver changes notes and syncs until it is killed.
func indexForEver(dir, index string, store *vectors.ChromaServer) {
	folder, err := notes.Open(dir)
	check(err)
	x, err := Open(index, Options{Vault: dir, Size: 64, Chroma: store})
	check(err)
	fmt.Println("started")
	for round := 0; ; round++ {
		_, err := x.Sync(context.Background(), folder, &bagEmbedder{name: "bag"}, nil)
		check(err)
		note := filepath.Join(dir, fmt.Sprintf("changing%d.md", round%5))
		check(os.WriteFile(note+".new", []byte(fmt.Sprintf("# Round\n\nunique%d and more\n", time.Now().UnixNano())),
			0o600))
		check(os.Rename(note+".new", note))
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// TestKilledWhileIndexing kills an indexing process at random moments, and checks what
// the next one finds. LIFEHUB_SOAK=1 does it 200 times, a greater number that many
// times.
func TestKilledWhileIndexing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	t.Run("files", func(t *testing.T) { killWhileIndexing(t, nil, func() {}) })
	t.Run("Chroma", func(t *testing.T) {
		server := testenv.StartChroma(t)
		// This version of the server may reject all writes ("Error sending message to
		// compactor") after clients died during one, so it is restarted too.
		killWhileIndexing(t, &vectors.ChromaServer{URL: server.URL}, func() { server.Kill(); server.Start(t) })
	})
}

func killWhileIndexing(t *testing.T, store *vectors.ChromaServer, restart func()) {
	dir, index := t.TempDir(), t.TempDir()
	for i := range 60 {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\nmarker%d stands here.\n\n## More\n\n%s\n", i, i, prose(i, 80))})
	}
	kills := testenv.Rounds(4, 200)
	random := rand.New(rand.NewPCG(7, 7))
	for kill := range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "LIFEHUB_RAG_VAULT="+dir, "LIFEHUB_RAG_INDEX="+index)
		if store != nil {
			child.Env = append(child.Env, "LIFEHUB_RAG_SERVER="+store.URL)
		}
		output, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(output).ReadString('\n'); err != nil || line != "started\n" {
			t.Fatalf("kill %d: the next start said %q, %v", kill, line, err)
		}
		time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond) // when it is killed is the point of the test
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		child.Wait() //nolint:errcheck // it was killed
		if kill%4 == 3 || kill == kills-1 {
			restart()
			wholeAfter(t, dir, index, store, freshPassages(t, dir))
		}
	}
}

func soak(usual int) int {
	switch n, err := strconv.Atoi(os.Getenv("LIFEHUB_SOAK")); {
	case err != nil:
		return usual
	case n == 1:
		return 200
	default:
		return n
	}
}

func prose(seed, n int) string {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	text := ""
	for range n {
		text += fmt.Sprintf("word%d ", random.IntN(500))
	}
	return text
}

// freshPassages returns the number of passages in a new index.
func freshPassages(t *testing.T, dir string) int {
	t.Helper()
	folder, x := openVault(t, dir, t.TempDir())
	x.options.Size = 64
	return syncNow(t, x, folder, nil).Passages
}

// wholeAfter syncs once and checks that every note is found once.
func wholeAfter(t *testing.T, dir, index string, store *vectors.ChromaServer, passages int) {
	t.Helper()
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	x, err := Open(index, Options{Vault: dir, Size: 64, Chroma: store})
	if err != nil {
		t.Fatalf("the index does not open: %v", err)
	}
	defer x.Close()
	embedder := &bagEmbedder{name: "bag"}
	changes, err := x.Sync(t.Context(), folder, embedder, nil)
	if err != nil {
		t.Fatal(err)
	}
	wholeIndex(t, x, folder, changes, passages)
}

// wholeIndex checks that the index has every note of the folder once.
func wholeIndex(t *testing.T, x *Index, folder *notes.Folder, changes Changes, passages int) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder.Dir(), "note*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		if got := paths(t, x, fmt.Sprintf(`"marker%d"`, i)); !slices.Equal(got,
			[]string{fmt.Sprintf("note%02d.md", i)}) {
			t.Errorf("note %d is found in %q", i, got)
		}
	}
	if len(changes.Warnings) > 0 {
		t.Errorf("the sync warns %q", changes.Warnings)
	}
	if changes.Passages != passages {
		t.Errorf("the index has %d passages, a fresh one %d", changes.Passages, passages)
	}
	if status, err := x.Status(t.Context(), folder); err != nil {
		t.Error(err)
	} else {
		for _, s := range status {
			if s.State != indexedNote || s.Embedded != s.Passages || s.Passages == 0 {
				t.Errorf("after all that, a note stands at %+v", s)
			}
		}
	}
}

// TestDamagedFiles damages each file of an index in each way. The next start finds
// everything.
func TestDamagedFiles(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir, master := t.TempDir(), t.TempDir()
	for i := range 10 {
		write(t, dir, map[string]string{fmt.Sprintf("note%02d.md",
			i): fmt.Sprintf("# Note %d\n\nmarker%d stands here.\n\n%s\n", i, i, prose(i, 100))})
	}
	passages := freshPassages(t, dir)
	wholeAfter(t, dir, master, nil, passages)
	files, err := os.ReadDir(master)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 4 || len(files) > 10 {
		t.Fatalf("an index has %d files, want 4 to 10", len(files))
	}
	random := rand.New(rand.NewPCG(3, 3))
	damages := map[string]func([]byte) []byte{
		"truncated":     func(b []byte) []byte { return b[:len(b)/2] },
		"cut by a byte": func(b []byte) []byte { return b[:max(0, len(b)-1)] },
		"emptied":       func([]byte) []byte { return nil },
		"garbled": func(b []byte) []byte {
			for range 1 + len(b)/512 {
				if len(b) > 0 {
					b[random.IntN(len(b))] ^= byte(1 + random.IntN(255))
				}
			}
			return b
		},
		"one bit off": func(b []byte) []byte {
			if len(b) > 0 {
				b[len(b)*3/5] ^= 4
			}
			return b
		},
		"filled with noise": func(b []byte) []byte {
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			return b
		},
		"longer":  func(b []byte) []byte { return append(b, prose(1, 100)...) },
		"missing": nil,
	}
	for at, file := range files {
		for i, name := range slices.Sorted(maps.Keys(damages)) {
			damage := damages[name]
			if os.Getenv("LIFEHUB_SOAK") == "" && (i+at)%2 != 0 {
				continue // alternate: this file gets every other kind of damage, the next file the rest
			}
			t.Run(file.Name()+" "+name, func(t *testing.T) {
				index := t.TempDir()
				if err := os.CopyFS(index, os.DirFS(master)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(index, file.Name())
				if damage == nil {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				} else {
					raw, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, damage(raw), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				searchFirst(t, dir, index)
				wholeAfter(t, dir, index, nil, passages)
			})
		}
	}
}

// searchFirst searches before the next sync.
func searchFirst(t *testing.T, dir, index string) {
	t.Helper()
	x, err := Open(index, Options{Vault: dir, Size: 64, Embedder: &bagEmbedder{name: "bag"}})
	if err != nil {
		t.Fatalf("the index does not open: %v", err)
	}
	defer x.Close()
	if got := paths(t, x, "marker7 stands"); len(got) == 0 || got[0] != "note07.md" {
		t.Errorf("before the next sync, note 7 is found in %q", got)
	}
}

func TestIndexIsPrivate(t *testing.T) {
	t.Parallel()
	dir, index := t.TempDir(), filepath.Join(t.TempDir(), "index")
	write(t, dir, map[string]string{"a.md": "text\n"})
	folder, x := openVault(t, dir, index)
	syncNow(t, x, folder, &bagEmbedder{name: "bag"})
	err := filepath.Walk(index, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
