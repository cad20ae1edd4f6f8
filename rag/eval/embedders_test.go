package eval

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/llm"
	"lifehub/llm/llmtest"
	"lifehub/llm/servers"
)

// staticModel returns the small model of ../shared/ollama on a real server. It is weak,
// but knows some words.
func staticModel(t *testing.T) llm.Embedder {
	t.Helper()
	gguf, err := os.ReadFile(testenv.Shared(t, "ollama/models/m2v-static.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	server := llmtest.StartEmptyOllama(t)
	server.Create(llmtest.Model{Name: "m2v-static", GGUF: gguf})
	provider, err := servers.Open(llm.Settings{Provider: "ollama", OllamaHost: server.URL, Embedding: "m2v-static"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { provider.Close() }) //nolint:errcheck // nothing to lose
	embedder, err := provider.Embedder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return embedder
}

// cached stores the vectors of an embedder in a file of the cache folder, so that a
// second `make eval` requests only new ones.
type cached struct {
	llm.Embedder
	mu    sync.Mutex // two batches may arrive at the same time
	file  *os.File
	known map[[16]byte][]float32
}

func keep(t *testing.T, name string, embedder llm.Embedder) llm.Embedder {
	t.Helper()
	dir, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(dir, "lifehub", "eval")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(dir, name+".vectors"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() }) //nolint:errcheck // a cache
	c := &cached{Embedder: embedder, file: file, known: map[[16]byte][]float32{}}
	for in := bufio.NewReader(file); ; {
		var head struct {
			Key  [16]byte
			Size uint32
		}
		if binary.Read(in, binary.LittleEndian, &head) != nil || head.Size > 1<<14 {
			return c
		}
		vector := make([]float32, head.Size)
		if binary.Read(in, binary.LittleEndian, vector) != nil {
			return c
		}
		c.known[head.Key] = vector
	}
}

func textKey(text string) (k [16]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

func (c *cached) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var missing []string
	for _, text := range texts {
		if c.known[textKey(text)] == nil {
			missing = append(missing, text)
		}
	}
	if len(missing) > 0 {
		made, err := c.Embedder.Embed(ctx, missing)
		if err != nil {
			return nil, err
		}
		if len(made) != len(missing) {
			return nil, errors.New("the embedder returned too few vectors")
		}
		var record bytes.Buffer
		for i, vector := range made {
			k := textKey(missing[i])
			c.known[k] = vector
			record.Write(k[:])
			if err := errors.Join(binary.Write(&record, binary.LittleEndian, uint32(len(vector))), binary.Write(&record, binary.LittleEndian, vector)); err != nil {
				return nil, err
			}
		}
		if _, err := c.file.Write(record.Bytes()); err != nil {
			return nil, err
		}
	}
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		vectors[i] = c.known[textKey(text)]
	}
	return vectors, nil
}

// randomVectors is an embedder without any understanding.
type randomVectors struct{}

func (randomVectors) Name() string { return "random" }

func (randomVectors) Embed(_ context.Context, texts []string) ([][]float32, error) {
	vectors := make([][]float32, len(texts))
	for i, text := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		random := rand.New(rand.NewPCG(h.Sum64(), 1))
		vectors[i] = make([]float32, 64)
		for j := range vectors[i] {
			vectors[i][j] = float32(random.NormFloat64())
		}
	}
	return vectors, nil
}

// useLite starts the sentence encoder of ../shared/embedder.
func useLite(t *testing.T) llm.Embedder {
	t.Helper()
	command := testenv.Encoder(t)
	server := exec.CommandContext(t.Context(), command[0], command[1:]...)
	output, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Kill() //nolint:errcheck // it may have ended
		server.Wait()         //nolint:errcheck // it was killed
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, output) //nolint:errcheck // ends with the server
	url := strings.TrimSpace(strings.TrimPrefix(line, "listening on "))
	provider, err := servers.Open(llm.Settings{Provider: "openai", OpenAIURL: url, Model: "use-lite", Embedding: "use-lite"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { provider.Close() }) //nolint:errcheck // nothing to lose
	embedder, err := provider.Embedder(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return embedder
}
