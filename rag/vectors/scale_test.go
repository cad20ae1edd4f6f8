package vectors_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"lifehub/rag/vectors"
)

// BenchmarkScale measures only the collection, each figure next to its lower bound in
// the same run, with LIFEHUB_SCALE=1 (`make bench`). The vectors are random, the worst
// case for finding the nearest. The benchmark of package rag measures the whole index.
func BenchmarkScale(b *testing.B) {
	if os.Getenv("LIFEHUB_SCALE") == "" {
		b.Skip("LIFEHUB_SCALE=1 runs up to 512,000 vectors")
	}
	for _, size := range []struct{ count, dimension int }{{100_000, 768}, {512_000, 256}} {
		b.Run(fmt.Sprint(size.count, "x", size.dimension), func(b *testing.B) {
			for b.Loop() {
				measure(b, size.count, size.dimension)
			}
		})
	}
}

func keyOf(i int) vectors.Key {
	sum := sha256.Sum256(fmt.Append(nil, i))
	return vectors.KeyOf(sum[:])
}

// noise returns vector i of a collection, or the vector of question -1-i.
func noise(i, dimension int) []float32 {
	random := rand.New(rand.NewPCG(2, uint64(i)))
	vector := make([]float32, dimension)
	for j := range vector {
		vector[j] = float32(int32(random.Uint64())) / (1 << 31)
	}
	unit, err := vectors.Normalise(vector)
	if err != nil {
		panic(err)
	}
	return unit
}

func measure(b *testing.B, count, dimension int) {
	ctx, store := b.Context(), vectors.Local{Dir: b.TempDir()}
	var questions [][]float32
	var exact []vectors.TopK[vectors.Key]
	for i := range 50 {
		questions, exact = append(questions, noise(-1-i, dimension)),
			append(exact, vectors.TopK[vectors.Key]{Limit: 10})
	}
	c := open(b, store)
	put := time.Duration(0)
	var keys []vectors.Key
	var embeddings [][]float32
	for i := range count {
		keys, embeddings = append(keys, keyOf(i)), append(embeddings, noise(i, dimension))
		for q := range questions {
			exact[q].Offer(keys[len(keys)-1], vectors.Dot(questions[q], embeddings[len(embeddings)-1]))
		}
		if len(keys) == 1000 || i == count-1 {
			began := time.Now()
			if err := c.Put(ctx, keys, embeddings); err != nil {
				b.Fatal(err)
			}
			put += time.Since(began)
			keys, embeddings = nil, nil
		}
	}
	began := time.Now()
	if err := c.Flush(); err != nil {
		b.Fatal(err)
	}
	b.Logf("put and flushed in %.1f s", (put + time.Since(began)).Seconds())
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
	floats := int64(count) * int64(dimension) * 4
	b.Logf("disk: %.3f x the float32s", float64(diskOf(b, store.Dir))/float64(floats))

	block := make([]byte, floats)
	for i := range block {
		block[i] = byte(i)
	}
	file := b.TempDir() + "/floats"
	if err := os.WriteFile(file, block, 0o600); err != nil {
		b.Fatal(err)
	}
	var opens, searches, tagged []float64
	some := make([]vectors.Key, count/200)
	for i := range some {
		some[i] = keyOf(i * 200)
	}
	for i := range 15 {
		floor := timed(func() {
			if _, err := os.ReadFile(file); err != nil {
				b.Fatal(err)
			}
		})
		runtime.GC()
		opens = append(opens, timed(func() { c = open(b, store) })/floor)
		floor = timed(func() { onePass(block) })
		searches = append(searches, timed(func() {
			if _, err := c.Nearest(ctx, questions[i], 10); err != nil {
				b.Fatal(err)
			}
		})/floor)
		tagged = append(tagged, timed(func() {
			if found, err := c.Among(ctx, questions[i], some, len(some)); err != nil || len(found) != len(some) {
				b.Fatal(len(found), err)
			}
		})/(floor*(1./200+0.01)))
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("open: %.2f x reading a file of the float32s; least %.2f", middle(opens), slices.Min(opens))
	b.Logf("search top 10: %.2f x one pass over the float32s; least %.2f", middle(searches), slices.Min(searches))
	b.Logf("among 1 in 200: %.2f x (those rows + 1 %%); least %.2f", middle(tagged), slices.Min(tagged))

	block = nil
	debug.FreeOSMemory()
	before := resident(b)
	c = open(b, store)
	defer c.Close() //nolint:errcheck // the test is over
	right := 0
	for q, question := range questions {
		found, err := c.Nearest(ctx, question, 10)
		if err != nil {
			b.Fatal(err)
		}
		for _, want := range exact[q].Sorted() {
			if slices.ContainsFunc(found, func(f vectors.Match) bool { return f.Key == want.Key }) {
				right++
			}
		}
	}
	debug.FreeOSMemory()
	b.Logf("recall@10: %.4f of %d questions", float64(right)/float64(10*len(questions)), len(questions))
	b.Logf("memory: %.3f x the float32s", float64(resident(b)-before)/float64(floats))
}

func open(tb testing.TB, store vectors.Local) vectors.Collection {
	tb.Helper()
	c, err := store.Open("model")
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

// onePass reads every word once: the least that a search of float32s can cost.
func onePass(block []byte) {
	var sum uint64
	for i := 0; i+64 <= len(block); i += 64 {
		s := (*[64]byte)(block[i:])
		sum += binary.LittleEndian.Uint64(s[0:]) + binary.LittleEndian.Uint64(s[8:]) +
			binary.LittleEndian.Uint64(s[16:]) + binary.LittleEndian.Uint64(s[24:]) +
			binary.LittleEndian.Uint64(s[32:]) + binary.LittleEndian.Uint64(s[40:]) +
			binary.LittleEndian.Uint64(s[48:]) + binary.LittleEndian.Uint64(s[56:])
	}
	passSum = sum
}

var passSum uint64

func timed(do func()) float64 {
	began := time.Now()
	do()
	return time.Since(began).Seconds()
}

func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func diskOf(tb testing.TB, dir string) (sum int64) {
	tb.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil {
			tb.Fatal(err)
		}
		sum += info.Size()
	}
	return sum
}

// resident returns the resident memory of this process in bytes, with mapped files.
func resident(b *testing.B) (bytes int64) {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("memory is not measured here:", err)
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmRSS") {
			fmt.Sscanf(strings.TrimSpace(strings.TrimPrefix(line, "VmRSS:")), "%d", &bytes) //nolint:errcheck // 0 shows
		}
	}
	return bytes << 10
}
