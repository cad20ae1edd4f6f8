package rag

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/notes"
	"lifehub/rag/encoder"
	"lifehub/rag/search"
)

func TestRepetitiveNotesAreStillDistinguished(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	dir := t.TempDir()
	for day := range 40 { // every daily note is made from a template
		text := "# Day\n\n## Mood\n\nSame as every day, nothing to tell about it.\n\n## Food\n\nBread and cheese.\n"
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("day%02d.md", day)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := notes.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	x, err := Open(t.TempDir(), Options{Vault: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if _, err := x.Sync(context.Background(), folder, encoder.Encoder{}, func(Progress) {}); err != nil {
		t.Fatal(err)
	}
	found, err := x.Search(context.Background(), search.Query{Text: "cheese"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(found.Coverage.Embedder, "passages embedded") {
		t.Errorf("all texts have a meaning, yet the search says %q", found.Coverage.Embedder)
	}
}
