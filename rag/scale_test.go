package rag

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/notes"
	"lifehub/rag/vectors"
)

// BenchmarkScale measures an index of 100,000 passages of dimension 768, each figure
// next to its lower bound in the same run. `make bench` runs it with LIFEHUB_SCALE=1,
// which takes a minute on an idle machine and 1 GB of disk. LIFEHUB_SCALE=512000
// measures that many of dimension 256, in five minutes.
func BenchmarkScale(b *testing.B) {
	s, ok := scales[os.Getenv("LIFEHUB_SCALE")]
	if !ok {
		b.Skip("LIFEHUB_SCALE=1 runs the 100,000 passages, LIFEHUB_SCALE=512000 so many")
	}
	for b.Loop() {
		s.measure(b)
	}
}

// scale is the size of an index: the number of passages, the dimension of the vectors,
// the bytes per passage.
type scale struct{ passages, dimension, text int }

var scales = map[string]scale{"1": {100_000, 768, 1000}, "512000": {512_000, 256, 350}}

const perNote = 10

func (s scale) measure(b *testing.B) {
	dir, index := s.vault(b)
	text := folderSize(b, dir)
	x, folder := openScale(b, dir, index)
	began := time.Now()
	embedder := noiseEmbedder{s.dimension}
	changes, err := x.Sync(b.Context(), folder, embedder, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("%d passages, embedded %d, sync %v", changes.Passages, changes.Embedded, time.Since(began))
	bytes := int64(changes.Passages) * int64(s.dimension) * 4
	disk := folderSize(b, index)
	meaning, _ := vectors.Local{Dir: index}.Path("noise")
	b.Logf("disk: %d MB in %d files = %.2f x (4d + text); vectors %.3f x the %d MB of the float32s, text %d MB",
		disk>>20, countFiles(b, index),
		float64(disk)/float64(bytes+text), float64(filesSize(b, meaning+"*"))/float64(bytes), bytes>>20, text>>20)
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
	scaleOpen(b, dir, index, embedder, bytes)
	b.Log(scaleMemory(b, dir, index, bytes))
	x, folder = openScale(b, dir, index)
	if err := x.Use(embedder); err != nil {
		b.Fatal(err)
	}
	scaleSearch(b, x, embedder, bytes)
	scaleWords(b, x)
	scaleReplace(b, x, folder, embedder, dir)
	scaleUnchanged(b, x, folder, dir)
	if err := x.Close(); err != nil {
		b.Fatal(err)
	}
}

func openScale(b *testing.B, dir, index string) (*Index, *notes.Folder) {
	b.Helper()
	x, err := Open(index, Options{Vault: dir})
	if err != nil {
		b.Fatal(err)
	}
	folder, err := notes.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	return x, folder
}

// noiseEmbedder embeds each text as a different direction.
type noiseEmbedder struct{ dimension int }

func (noiseEmbedder) Name() string { return "noise" }

func (e noiseEmbedder) Embed(_ context.Context, texts []string) ([][]float32, error) {
	embeddings := make([][]float32, len(texts))
	for i, text := range texts {
		var seed [32]byte
		copy(seed[:], text[max(0, len(text)-32):])
		random := rand.NewChaCha8(seed)
		embeddings[i] = make([]float32, e.dimension)
		for j := range embeddings[i] {
			embeddings[i][j] = float32(int32(random.Uint64())) / (1 << 31)
		}
	}
	return embeddings, nil
}

// vault writes notes of ten sections, one passage each, with natural word frequencies.
// It is reused by later runs.
func (s scale) vault(b *testing.B) (dir, index string) {
	b.Helper()
	root := filepath.Join(os.TempDir(), fmt.Sprint("lifehub-scale-", s.passages))
	dir, index = filepath.Join(root, "vault"), filepath.Join(root, "index")
	if err := os.RemoveAll(index); err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		return dir, index
	}
	random := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(random, 1.07, 4, 80_000)
	for n := range s.passages / perNote {
		var text strings.Builder
		fmt.Fprintf(&text, "---\ntags: [one/%d, in100/%d, in10/%d, in2/%d]\n---\n# Note %d\n", n, n%100, n%10, n%2, n)
		for i := range perNote {
			fmt.Fprintf(&text, "\n## Section %d\n\n", i)
			for text.Len() < (i+1)*s.text {
				fmt.Fprintf(&text, "w%x ", zipf.Uint64())
			}
			fmt.Fprintf(&text, "only%dx%d.\n", n, i)
		}
		path := filepath.Join(dir, fmt.Sprintf("f%02d", n%50), fmt.Sprintf("note%05d.md", n))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir, index
}

// scaleOpen compares opening the index with reading one file of the size of the
// float32s.
func scaleOpen(b *testing.B, dir, index string, embedder noiseEmbedder, bytes int64) {
	floats := filepath.Join(b.TempDir(), "floats")
	if err := os.WriteFile(floats, touched(bytes), 0o600); err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for range 5 {
		floor := timed(func() {
			raw, err := os.ReadFile(floats)
			if err != nil || len(raw) == 0 {
				b.Fatal(err)
			}
		})
		runtime.GC()
		var x *Index
		took := timed(func() {
			var err error
			if x, err = Open(index, Options{Vault: dir, Embedder: embedder}); err != nil {
				b.Fatal(err)
			}
			if _, _, err := x.Vectors(); err != nil {
				b.Fatal(err)
			}
		})
		ratios = append(ratios, took.Seconds()/floor.Seconds())
		if err := x.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("open: %.2f x reading one file of the float32s (bar 0.6)", middle(ratios))
}

// touched allocates memory and writes to every page.
func touched(size int64) []byte {
	block := make([]byte, size)
	for i := range block {
		block[i] = byte(i)
	}
	return block
}

func scaleSearch(b *testing.B, x *Index, embedder noiseEmbedder, bytes int64) {
	m, _, err := x.Vectors()
	if err != nil {
		b.Fatal(err)
	}
	embeddings, _ := embedder.Embed(b.Context(), []string{"a question of its own"}) //nolint:errcheck // it has none
	question, err := vectors.Normalise(embeddings[0])
	if err != nil {
		b.Fatal(err)
	}
	block := touched(bytes)
	var search, whole []float64
	floor := func() float64 { return timed(func() { onePass(block) }).Seconds() }
	for i := range 9 {
		search = append(search, timed(func() {
			if _, err := m.Nearest(b.Context(), question, 10); err != nil {
				b.Fatal(err)
			}
		}).Seconds()/floor())
		whole = append(whole, timed(func() { ask(b, x, fmt.Sprintf("only%dx3", 100+i)) }).Seconds()/floor())
	}
	b.Logf("search top 10: %.2f x one pass over the float32s (bar 1); least %.2f", middle(search), slices.Min(search))
	b.Logf("whole Search, words and all: %.2f x one pass", middle(whole))
	for _, tag := range []string{"one/7", "in100/7", "in10/7", "in2/1"} {
		var tagged []float64
		for range 9 {
			tagged = append(tagged, timed(func() {
				if found, err := x.Search(b.Context(), Query{
					Text: "w2a", Tags: []string{tag},
					Side: SemanticAlone,
				}); err != nil || len(found.Passages) == 0 {
					b.Fatal(len(found.Passages), err)
				}
			}).Seconds()/floor())
		}
		b.Logf("with the tag %s, SQL and all: %.2f x one pass (bar 2); least %.2f", tag,
			middle(tagged), slices.Min(tagged))
	}
}

// onePass sums all the vectors as float32s in memory: the least that a search of them
// can cost.
func onePass(block []byte) {
	var sum uint64
	for i := 0; i+64 <= len(block); i += 64 {
		s := (*[64]byte)(block[i:])
		sum += binary.LittleEndian.Uint64(s[0:]) + binary.LittleEndian.Uint64(s[8:]) +
			binary.LittleEndian.Uint64(s[16:]) + binary.LittleEndian.Uint64(s[24:]) +
			binary.LittleEndian.Uint64(s[32:]) + binary.LittleEndian.Uint64(s[40:]) +
			binary.LittleEndian.Uint64(s[48:]) + binary.LittleEndian.Uint64(s[56:])
	}
	runtime.KeepAlive(sum)
	passSum = sum
}

var passSum uint64

// scaleMemory returns the memory of a process that only opens the index and searches
// it.
func scaleMemory(b *testing.B, dir, index string, bytes int64) string {
	b.Helper()
	child := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestScaleMemory$", "-test.v")
	child.Env = append(os.Environ(), "LIFEHUB_SCALE_VAULT="+dir, "LIFEHUB_SCALE_INDEX="+index)
	output, err := child.Output()
	if err != nil {
		b.Fatal(err, string(output))
	}
	_, said, _ := strings.Cut(string(output), "memory: ")
	var all, vectors int64
	fmt.Sscan(said, &all, &vectors) //nolint:errcheck // 0 shows
	return fmt.Sprintf("memory after 40 searches: %d MB, %d of them for the vectors = %.3f x float32s", all>>20,
		vectors>>20, float64(vectors)/float64(bytes))
}

// TestScaleMemory is that process, which BenchmarkScale starts.
func TestScaleMemory(t *testing.T) {
	index, dir := os.Getenv("LIFEHUB_SCALE_INDEX"), os.Getenv("LIFEHUB_SCALE_VAULT")
	if index == "" {
		t.Skip("BenchmarkScale starts it")
	}
	x, err := Open(index, Options{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close() //nolint:errcheck // only read
	without := resident(t)
	if err := x.Use(noiseEmbedder{scales[os.Getenv("LIFEHUB_SCALE")].dimension}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := x.Vectors(); err != nil {
		t.Fatal(err)
	}
	with := resident(t)
	for i := range 20 {
		for _, query := range []Query{
			{Text: fmt.Sprintf("only%dx3", 100+i)},
			{Text: "w2a", Tags: []string{fmt.Sprintf("in100/%d", i)}, Side: SemanticAlone},
		} {
			if _, err := x.Search(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
	}
	fmt.Println("memory:", resident(t), with-without)
}

// resident returns the resident memory of this process in bytes, with mapped files.
func resident(tb testing.TB) (bytes int64) {
	tb.Helper()
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Logf("memory: not measured here: %v", err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") {
			fmt.Sscanf(strings.TrimSpace(strings.TrimPrefix(line, "VmRSS:")), "%d", &bytes) //nolint:errcheck // 0 shows
		}
	}
	return bytes << 10
}

func scaleWords(b *testing.B, x *Index) {
	var rare, all []float64
	random := rand.New(rand.NewPCG(5, 5))
	zipf := rand.NewZipf(random, 1.07, 4, 80_000)
	if err := x.Use(nil); err != nil {
		b.Fatal(err)
	}
	for i := range 60 {
		rare = append(rare, timed(func() { ask(b, x, fmt.Sprintf("only%dx%d", i*7, i%10)) }).Seconds())
		all = append(all, timed(func() {
			ask(b, x, fmt.Sprintf("w%x w%x w%x", zipf.Uint64(), zipf.Uint64(), zipf.Uint64()))
		}).Seconds())
	}
	slices.Sort(all)
	b.Logf("words: p95 %.1f ms = %.1f x a rare word of %.2f ms (bar 20)", all[56]*1000,
		all[56]/middle(rare), middle(rare)*1000)
}

func ask(b *testing.B, x *Index, text string) {
	b.Helper()
	if _, err := x.Search(b.Context(), Query{Text: text}); err != nil {
		b.Fatal(err)
	}
}

// scaleReplace changes one note and indexes its new passages, like a watched change.
func scaleReplace(b *testing.B, x *Index, folder *notes.Folder, embedder noiseEmbedder, dir string) {
	var took []float64
	for i := range 9 {
		name := fmt.Sprintf("f%02d/note%05d.md", i, i)
		path := filepath.Join(dir, name)
		raw, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		changed := strings.ReplaceAll(string(raw), "only", fmt.Sprintf("only%d", time.Now().UnixNano()))
		if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
			b.Fatal(err)
		}
		took = append(took, timed(func() {
			changes, err := x.SyncPaths(b.Context(), folder, embedder, []string{name})
			if err != nil || changes.Embedded != perNote {
				b.Fatal(changes.Embedded, err)
			}
		}).Seconds()*1000)
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("replacing one note's %d passages: %.1f ms (bar 20, goal 10)", perNote, middle(took))
}

// scaleUnchanged compares a sync without changes with find -newer.
func scaleUnchanged(b *testing.B, x *Index, folder *notes.Folder, dir string) {
	if _, err := x.Sync(b.Context(), folder, nil, nil); err != nil {
		b.Fatal(err)
	}
	var ratios []float64
	for range 9 {
		floor := timed(func() {
			if err := exec.CommandContext(b.Context(), "find", dir, "-newer", x.lockPath()).Run(); err != nil {
				b.Fatal(err)
			}
		})
		took := timed(func() {
			if changes, err := x.Sync(b.Context(), folder, nil, nil); err != nil || len(changes.Notes) > 0 {
				b.Fatal(err, changes.Notes)
			}
		})
		ratios = append(ratios, took.Seconds()/floor.Seconds())
	}
	b.Logf("nothing changed in the notes: %.2f x find -newer (bar 1.5)", middle(ratios))
}

func timed(do func()) time.Duration {
	began := time.Now()
	do()
	return time.Since(began)
}

func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func folderSize(b testing.TB, dir string) int64 {
	b.Helper()
	var sum int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			sum += info.Size()
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return sum
}

func filesSize(b *testing.B, pattern string) (sum int64) {
	b.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

func countFiles(b *testing.B, dir string) int {
	b.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		b.Fatal(err)
	}
	return len(files)
}
