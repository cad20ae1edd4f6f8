package testenv

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// Passage is about a dozen lines of a note in the shared corpora.
type Passage struct {
	Path, Text    string
	Line, EndLine int
}

// Passages cuts the notes of a shared folder into passages, at most three per
// note and most in total.
func Passages(t testing.TB, folder string, most int) (passages []Passage) {
	root := Shared(t, folder)
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" || len(passages) >= most {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !utf8.Valid(text) {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimRight(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n"), "\n")
		for at := 0; at < len(lines) && at < 36; at += 12 {
			piece := lines[at:min(at+12, len(lines))]
			for len(piece) > 0 && strings.TrimSpace(piece[len(piece)-1]) == "" {
				piece = piece[:len(piece)-1]
			}
			if len(piece) > 0 {
				passages = append(passages, Passage{
					Path: filepath.ToSlash(name), Line: at + 1,
					EndLine: at + len(piece), Text: strings.Join(piece, "\n"),
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return passages
}
