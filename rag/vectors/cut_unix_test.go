//go:build unix

package vectors

import (
	"os"
	"strings"
	"testing"
)

// If another program truncates a mapped file, that search fails without a crash, and
// the next one uses what is left.
func TestTruncatedFileIsAnError(t *testing.T) {
	keys, embeddings := someVectors(1, 3000, 64)
	dir, path, _ := quantisedFolder(t, keys, embeddings)
	for name, use := range map[string]func(m *localVectors) error{
		"nearest": func(m *localVectors) error { _, err := m.Nearest(t.Context(), embeddings[0], 3); return err },
		"among": func(m *localVectors) error {
			_, err := m.Among(t.Context(), embeddings[0], keys, len(keys))
			return err
		},
		"get":     func(m *localVectors) error { _, err := m.Get(t.Context(), keys); return err },
		"missing": func(m *localVectors) error { _, err := m.Missing(t.Context(), keys); return err },
		"forget":  func(m *localVectors) error { return m.Forget(t.Context(), nil) },
		"put":     func(m *localVectors) error { return m.Put(t.Context(), keys, embeddings) },
		"flush":   func(m *localVectors) error { m.quantised.count++; return m.Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := mustOpenLocal(t, dir)
			if err := os.Truncate(path, vectorHeader+100*96+5); err != nil {
				t.Fatal(err)
			}
			if err := use(m); err == nil || !strings.Contains(err.Error(), "another program changed their file") {
				t.Errorf("it says %v", err)
			}
			if m.Fresh() {
				t.Error("it is not read again")
			}
			if count, _, err := mustOpenLocal(t, dir).Size(t.Context()); err != nil || count != 100 {
				t.Errorf("then it has %d vectors, %v; want 100", count, err)
			}
			if err := os.WriteFile(path, raw, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}
