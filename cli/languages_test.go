package cli

import (
	"os"
	"strings"
	"testing"

	"lifehub/rag/encoder"
)

// TestPagesNameTheLanguages: the pages have the list of the encoder.
func TestPagesNameTheLanguages(t *testing.T) {
	t.Parallel()
	for _, page := range []string{"../README.md", "../docs/notes.md", "../docs/guide/models.md"} {
		raw, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(strings.Join(strings.Fields(string(raw)), " "), encoder.Languages) {
			t.Errorf("%s does not name the languages", page)
		}
	}
}
