package vectors

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lifehub/internal/testenv"
)

// someVectors returns normalised vectors and their keys, the same for the same seed.
func someVectors(seed uint64, n, dimension int) (keys []Key, embeddings [][]float32) {
	random := rand.New(rand.NewPCG(seed, 3))
	for range n {
		var k Key
		for i := range k[:len(k)-1] {
			k[i] = byte(random.Uint32())
		}
		vector := make([]float32, dimension)
		for i := range vector {
			vector[i] = random.Float32() - 0.4
		}
		unit, err := Normalise(vector)
		if err != nil {
			panic(err)
		}
		keys, embeddings = append(keys, k), append(embeddings, unit)
	}
	return keys, embeddings
}

func mustOpenLocal(tb testing.TB, dir string) *localVectors {
	tb.Helper()
	c, err := Local{Dir: dir}.Open("model")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() }) //nolint:errcheck // the test is over
	return c.(*localVectors)
}

func put(tb testing.TB, m *localVectors, keys []Key, embeddings [][]float32) {
	tb.Helper()
	for i := 0; i < len(keys); i += 500 {
		end := min(i+500, len(keys))
		if err := m.Put(tb.Context(), keys[i:end], embeddings[i:end]); err != nil {
			tb.Fatal(err)
		}
	}
}

// holds checks that a collection has exactly these vectors, and that each is its own
// nearest.
func holds(tb testing.TB, m *localVectors, keys []Key, embeddings [][]float32) {
	tb.Helper()
	if count, _, err := m.Size(tb.Context()); err != nil || count != len(keys) {
		tb.Fatalf("it holds %d vectors, %v; want %d", count, err, len(keys))
	}
	if missing, err := m.Missing(tb.Context(), keys); err != nil || len(missing) > 0 {
		tb.Fatalf("it misses %d, %v", len(missing), err)
	}
	for i := 0; i < len(keys); i += 1 + len(keys)/20 {
		found, err := m.Nearest(tb.Context(), embeddings[i], 3)
		if err != nil || len(found) == 0 || found[0].Key != keys[i] || math.Abs(found[0].Cosine-1) > 0.005 {
			tb.Fatalf("vector %d is not the nearest to itself: %v, %v", i, found, err)
		}
		got, err := m.Get(tb.Context(), keys[i:i+1])
		if err != nil || len(got) != 1 || Dot(got[0], embeddings[i]) < 0.995 {
			tb.Fatalf("vector %d is read as another, %v", i, err)
		}
	}
}

// A quantised number is as accurate as the doc comment promises.
func TestQuantisedNumbersAreWithinHalfAScale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vector := rapid.SliceOfN(rapid.Float32Range(-1, 1), 1, 100).Draw(t, "vector")
		record, fine := quantise(Key{1}, vector)
		q := &quantised{dimension: len(vector), count: 1, mapped: slices.Concat(make([]byte, vectorHeader), record)}
		if err := q.check(); err != nil || len(q.sound) != 1 {
			t.Fatalf("the record is not whole, %v", err)
		}
		path := filepath.Join(os.TempDir(), "quantised-"+strconv.Itoa(os.Getpid()))
		defer os.Remove(path)
		if err := os.WriteFile(path, slices.Concat(q.mapped, fine), 0o600); err != nil {
			t.Fatal(err)
		}
		q.path = path
		read, err := q.get([]int32{0})
		if err != nil {
			t.Fatal(err)
		}
		scale := q.scale(0)
		for i, f := range vector {
			if off := math.Abs(float64(read[0][i] - f)); off > 0.501*float64(scale) {
				t.Fatalf("number %d, %g, is read as %g, %.2f scales away", i, f, read[0][i], off/float64(scale))
			}
			if coarse := scale * 16 * float32(int(record[quantisedHead+i])-128); math.Abs(float64(coarse-f)) > 8.501*float64(scale) {
				t.Fatalf("number %d, %g, is %g without its fine part", i, f, coarse)
			}
		}
	})
}

// The assembly and plain Go both return the inner product.
func TestBothProductsAreTheInnerProduct(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := 32 * rapid.IntRange(1, 40).Draw(t, "steps")
		extreme := rapid.Bool().Draw(t, "extreme")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		numbers, block := make([]int16, n), make([]byte, n)
		want := int64(0)
		for i := range numbers {
			numbers[i], block[i] = int16(random.IntN(2047)-1023), byte(random.Uint32())
			if extreme {
				numbers[i], block[i] = [2]int16{-1023, 1023}[random.IntN(2)], [2]byte{0, 255}[random.IntN(2)]
			}
			want += int64(numbers[i]) * int64(block[i])
		}
		asked := &question{numbers: numbers}
		if vector, plain := asked.dot(block), asked.dotPortable(block); vector != int32(want) || plain != int32(want) {
			t.Fatalf("the product of %d numbers is %d, plainly %d; want %d", n, vector, plain, want)
		}
	})
}

// Beyond floatsUpTo vectors are quantised. Vectors added, removed or added again later
// are still found, by this process and the next.
func TestManyVectorsAreQuantised(t *testing.T) {
	dir := t.TempDir()
	keys, embeddings := someVectors(1, floatsUpTo+3000, 24)
	m := mustOpenLocal(t, dir)
	put(t, m, keys[:floatsUpTo], embeddings[:floatsUpTo])
	if m.quantised != nil || m.chromem == nil {
		t.Fatal("so few are quantised")
	}
	put(t, m, keys[floatsUpTo:], embeddings[floatsUpTo:])
	if m.quantised == nil || m.chromem != nil || len(m.file.rows) == 0 {
		t.Fatal("so many are not quantised, or those that came since are")
	}
	other := mustOpenLocal(t, dir)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(m.file.rows) != 0 {
		t.Errorf("%d are not quantised when all are there", len(m.file.rows))
	}
	holds(t, m, keys, embeddings)
	if other.Fresh() || !m.Fresh() {
		t.Error("another collection does not notice it, or this one does not know its own file")
	}
	holds(t, other, keys, embeddings) // the file it has mapped is unchanged
	holds(t, mustOpenLocal(t, dir), keys, embeddings)

	more, theirs := someVectors(2, 30, 24) // a note is edited
	put(t, m, more, theirs)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	if len(m.file.rows) != 30 {
		t.Errorf("for 30 vectors the whole file is written: %d are new", len(m.file.rows))
	}
	keys, embeddings = append(keys, more...), append(embeddings, theirs...)
	put(t, m, keys[:50], embeddings[:50]) // nothing is duplicated
	holds(t, mustOpenLocal(t, dir), keys, embeddings)

	used := map[Key]bool{}
	for _, k := range keys[len(keys)/2:] {
		used[k] = true
	}
	if err := m.Forget(t.Context(), used); err != nil {
		t.Fatal(err)
	}
	holds(t, m, keys[len(keys)/2:], embeddings[len(keys)/2:])
	holds(t, mustOpenLocal(t, dir), keys[len(keys)/2:], embeddings[len(keys)/2:])
	put(t, m, keys[:10], embeddings[:10])
	if missing, err := m.Missing(t.Context(), keys[:11]); err != nil || !slices.Equal(missing, keys[10:11]) {
		t.Errorf("it misses %d, %v", len(missing), err)
	}

	shorter, vectors := someVectors(3, 10, 16) // the same name, but another model
	if err := m.Put(t.Context(), shorter, vectors); err == nil {
		t.Error("vectors of another model were added")
	}
}

// The vectors of an earlier version, which are floats in one file, and those that it
// adds while this version is in use, are quantised without embedding again.
func TestVectorsOfAnEarlierVersionAreUsed(t *testing.T) {
	dir := t.TempDir()
	keys, embeddings := someVectors(1, floatsUpTo+3000, 16)
	path, model := Local{Dir: dir}.Path("model")
	write := func(keys []Key, embeddings [][]float32) {
		t.Helper()
		earlier, err := openVectors(path, model)
		if err != nil {
			t.Fatal(err)
		}
		defer earlier.Close() //nolint:errcheck // the test sees it
		if err := earlier.put(keys, embeddings); err != nil {
			t.Fatal(err)
		}
	}
	write(keys[:floatsUpTo+1000], embeddings[:floatsUpTo+1000])
	before := mustOpenLocal(t, dir)
	holds(t, before, keys[:floatsUpTo+1000], embeddings[:floatsUpTo+1000]) // also from a read-only folder
	if err := mustOpenLocal(t, dir).Flush(); err != nil {
		t.Fatal(err)
	}
	if before.Fresh() {
		t.Error("another collection does not notice it")
	}
	m := mustOpenLocal(t, dir)
	if m.quantised.size() != floatsUpTo+1000 || len(m.file.rows) > 0 {
		t.Errorf("%d are quantised, %d not", m.quantised.size(), len(m.file.rows))
	}
	write(keys[:floatsUpTo+3000], embeddings[:floatsUpTo+3000]) // it starts over, since its file is empty
	m = mustOpenLocal(t, dir)
	holds(t, m, keys, embeddings)
	if err := m.Flush(); err != nil {
		t.Fatal(err)
	}
	holds(t, mustOpenLocal(t, dir), keys, embeddings)
	if info, err := os.Stat(path); err != nil || info.Size() > vectorHeader {
		t.Errorf("then the floats take %d bytes, %v", info.Size(), err)
	}
}

// quantisedFolder returns the folder of a quantised collection, with a copy of its
// file.
func quantisedFolder(tb testing.TB, keys []Key, embeddings [][]float32) (dir, path string, raw []byte) {
	tb.Helper()
	dir = tb.TempDir()
	m := mustOpenLocal(tb, dir)
	put(tb, m, keys, embeddings)
	if err := m.quantise(all); err != nil {
		tb.Fatal(err)
	}
	path = quantisedPath(m.file.file.Name())
	raw, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return dir, path, raw
}

// The undamaged part of a file is used; the rest is missing and can be put again.
func TestDamagedQuantisedFileIsRepaired(t *testing.T) {
	keys, embeddings := someVectors(1, 300, 40)
	for name, c := range map[string]struct {
		damage func([]byte) []byte
		least  int // least number missing
	}{
		"header":             {func(b []byte) []byte { b[20] ^= 1; return b }, 300},
		"a key":              {func(b []byte) []byte { b[vectorHeader+100*96] ^= 128; return b }, 1},
		"a byte":             {func(b []byte) []byte { b[vectorHeader+96*5-1] ^= 1; return b }, 1},
		"a fine part":        {func(b []byte) []byte { b[len(b)-7] ^= 1; return b }, 0},
		"cut in the fine":    {func(b []byte) []byte { return b[:len(b)-500] }, 0},
		"cut in the records": {func(b []byte) []byte { return b[:vectorHeader+96*100+50] }, 200},
		"cut in the header":  {func(b []byte) []byte { return b[:50] }, 300},
		"empty":              {func([]byte) []byte { return nil }, 300},
		"longer":             {func(b []byte) []byte { return append(b, b...) }, 0},
		"gone":               {nil, 300},
	} {
		t.Run(name, func(t *testing.T) {
			dir, path, raw := quantisedFolder(t, keys, embeddings)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if c.damage != nil {
				if err := os.WriteFile(path, c.damage(raw), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m := mustOpenLocal(t, dir)
			if !m.Fresh() {
				t.Error("a damaged file is taken for a new one at every search")
			}
			missing, err := m.Missing(t.Context(), keys)
			if err != nil || len(missing) != c.least {
				t.Errorf("it misses %d, %v; want %d", len(missing), err, c.least)
			}
			for i, k := range keys {
				found, err := m.Nearest(t.Context(), embeddings[i], 1)
				if err != nil || !slices.Contains(missing, k) &&
					(found[0].Key != k || math.Abs(found[0].Cosine-1) > 0.01) {
					t.Fatalf("what is whole is not found: %v, %v", found, err)
				}
			}
			put(t, m, keys, embeddings)
			if err := m.quantise(all); err != nil { // without those whose fine part is damaged
				t.Fatal(err)
			}
			put(t, m, keys, embeddings)
			holds(t, mustOpenLocal(t, dir), keys, embeddings)
		})
	}
}

// Searches are right while vectors are added, quantised and removed, also in a second
// collection that reads the same files.
func TestSearchesContinueWhileVectorsAreQuantised(t *testing.T) {
	dir := t.TempDir()
	keys, embeddings := someVectors(1, 2000, 32)
	m := mustOpenLocal(t, dir)
	put(t, m, keys[:1000], embeddings[:1000])
	over, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for reader := range 2 {
		readers.Go(func() {
			for i := 0; over.Err() == nil; i = (i + 1) % 1000 {
				c := m
				if reader == 1 {
					c = mustOpenLocal(t, dir)
				}
				found, err := c.Nearest(t.Context(), embeddings[i], 1)
				if err != nil || len(found) != 1 || found[0].Key != keys[i] {
					t.Errorf("meanwhile vector %d is not found: %v, %v", i, found, err)
					return
				}
				if reader == 1 {
					c.Close() //nolint:errcheck // only read
				}
			}
		})
	}
	for i := 1000; i < 2000; i += 50 {
		put(t, m, keys[i:i+50], embeddings[i:i+50])
		m.mu.Lock()
		err := m.quantise(all)
		m.mu.Unlock()
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	readers.Wait()
	holds(t, mustOpenLocal(t, dir), keys, embeddings)
}

// FuzzQuantised: no bytes make the reader fail or return vectors that were never added.
func FuzzQuantised(f *testing.F) {
	keys, embeddings := someVectors(1, 5, 33)
	_, _, raw := quantisedFolder(f, keys, embeddings)
	f.Add(raw[:vectorHeader], raw[vectorHeader:])
	f.Add(raw[:vectorHeader], raw[vectorHeader:len(raw)-40])
	f.Add(writeVectorHeader(quantisedMagic, 33, math.MaxInt32, "model"), raw[vectorHeader:])
	f.Add(bytes.Repeat([]byte{0}, vectorHeader), []byte{})
	f.Fuzz(func(t *testing.T, header, rest []byte) {
		dir := t.TempDir()
		path, _ := Local{Dir: dir}.Path("model")
		if err := os.WriteFile(quantisedPath(path), append(header, rest...), 0o600); err != nil {
			t.Fatal(err)
		}
		m := mustOpenLocal(t, dir)
		_, dimension, err := m.Size(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		dimension = cmp.Or(dimension, 33)
		question, err := Normalise(slices.Repeat([]float32{1}, dimension))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Nearest(t.Context(), question, 3); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Among(t.Context(), question, keys, len(keys)); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Get(t.Context(), keys); err != nil {
			t.Fatal(err)
		}
		if dimension == 33 {
			put(t, m, keys, embeddings)
			holds(t, m, keys, embeddings)
		}
	})
}

// TestMain makes the test binary a process that adds and quantises vectors until it is
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LIFEHUB_VECTORS"); dir != "" {
		putForEver(dir)
	}
	os.Exit(m.Run())
}

// batchOf returns the vectors of a batch that the process adds.
func batchOf(i int) ([]Key, [][]float32) { return someVectors(uint64(1000+i), 20, 32) }

// putForEver prints the number of batches after each.
func putForEver(dir string) {
	c, err := Local{Dir: dir}.Open("model")
	check(err)
	m := c.(*localVectors)
	for i := m.size() / 20; ; i++ {
		keys, embeddings := batchOf(i)
		check(m.Put(context.Background(), keys, embeddings))
		if i%3 == 0 {
			check(m.quantise(all))
		}
		fmt.Println(i + 1)
	}
}

func check(err error) {
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// Whenever a process that adds and quantises is killed, no vector is lost or
// duplicated.
func TestKilledWhileQuantising(t *testing.T) {
	testenv.WithoutRace(t)
	dir, kills := t.TempDir(), 20
	if os.Getenv("LIFEHUB_SOAK") != "" {
		kills = 300
	}
	random := rand.New(rand.NewPCG(5, 5))
	done := 0
	for range kills {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "LIFEHUB_VECTORS="+dir)
		output, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		for after := random.IntN(8); lines.Scan(); after-- {
			if done, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(lines.Text())
			}
			if after == 0 {
				//nolint:errcheck // when it is killed is the point of the test
				time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, func() { child.Process.Kill() })
			}
		}
		child.Wait() //nolint:errcheck // it was killed
		m := mustOpenLocal(t, dir)
		if count := m.size(); count < 20*done {
			t.Fatalf("of %d batches of 20, %d vectors are there", done, count)
		}
		for i := range done {
			keys, _ := batchOf(i)
			if missing, err := m.Missing(t.Context(), keys); err != nil || len(missing) > 0 {
				t.Fatalf("of batch %d, %d are missing, %v", i, len(missing), err)
			}
		}
		all, err := m.Nearest(t.Context(), slices.Repeat([]float32{1}, 32), 2*m.size())
		if err != nil || len(all) != m.size() {
			t.Fatalf("of %d vectors %d are found, %v", m.size(), len(all), err)
		}
		seen := map[Key]bool{}
		for _, found := range all {
			if seen[found.Key] {
				t.Fatalf("%x is there twice", found.Key)
			}
			seen[found.Key] = true
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// If a file cannot be written, everything remains as it was.
func TestAFullDiskLosesNoVector(t *testing.T) {
	keys, embeddings := someVectors(1, 300, 40)
	dir, path, _ := quantisedFolder(t, keys[:200], embeddings[:200])
	if err := os.Mkdir(path+".new", 0o700); err != nil {
		t.Fatal(err)
	}
	m := mustOpenLocal(t, dir)
	put(t, m, keys[200:], embeddings[200:])
	if err := m.Flush(); err == nil {
		t.Error("it says nothing")
	}
	holds(t, m, keys, embeddings)
	holds(t, mustOpenLocal(t, dir), keys, embeddings)
}
