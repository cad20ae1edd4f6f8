package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"lifehub/internal/text"
	"lifehub/notes"
	"lifehub/rag/passage"
	"lifehub/rag/words"
)

// passagesOf is a database of n notes of one passage each.
func passagesOf(t *testing.T, n int) *sql.DB {
	t.Helper()
	db, err := words.Make(filepath.Join(t.TempDir(), "words.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	writer := words.Writer{Tx: tx}
	for i := range n {
		name := fmt.Sprintf("note%d.md", i)
		note := notes.Parse(notes.Entry{Path: name}, fmt.Appendf(nil, "# Day %d\n\nBread, a walk and %d letters home.\n", i, i))
		if err := writer.WriteNote(0, note, []byte(name), "", passage.Cut(note, 256), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return db
}

func TestTheSampleOfLettersGrowsWithTheIndex(t *testing.T) {
	var kept Letters
	for _, c := range []struct{ passages, want int }{{1, 1}, {34, 34}, {40, 34}, {1000, 166}} {
		s := newSearch(Vault{DB: passagesOf(t, c.passages), Letters: &kept}, Query{Text: "bread"})
		s.words.passages = c.passages
		if _, err := s.sampleLetters(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(kept.sample); n != c.want {
			t.Errorf("the sample of %d passages is %d, want %d", c.passages, n, c.want)
		}
	}
}

func TestASearchThatIsGivenUpTakesNoSample(t *testing.T) {
	var kept Letters
	s := newSearch(Vault{DB: passagesOf(t, 33), Letters: &kept}, Query{Text: "Gobi"})
	s.words.passages = 33
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.sampleLetters(ctx); !errors.Is(err, ctx.Err()) || kept.sample != nil {
		t.Errorf("a search given up ends with %v and a sample of %d", err, len(kept.sample))
	}
}

func TestAQuestionInAnotherLanguageIsKnown(t *testing.T) {
	db, err := words.Make(filepath.Join(t.TempDir(), "words.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() //nolint:errcheck // nothing to lose
	for question, want := range map[string]bool{
		"自行车在哪里":                                 true,
		"Где велосипед?":                         true,
		"what does 自行车 mean":                     false,
		"2026":                                   false,
		"Wo wurde die Heizung gewartet?":         true,
		"Où est la chaudière?":                   true,
		"where was the boiler serviced":          false,
		"boiler service interval":                false,
		"git stash pop in a worktree":            false,
		"What does die Heizung mean in English?": false,
		"Heizung":                                false,
	} {
		if got, err := inOtherLanguage(t.Context(), db, question, nil, 5); got != want || err != nil {
			t.Errorf("%q is foreign to English notes: %v, want %v; %v", question, got, want, err)
		}
	}
	if foreign, err := inOtherLanguage(t.Context(), db, "Wo wurde die Heizung gewartet?", []text.Lang{"de"}, 5); foreign || err != nil {
		t.Error("a German question is foreign to German notes", err)
	}
}
