package search

import (
	"path/filepath"
	"testing"

	"lifehub/internal/text"
	"lifehub/rag/words"
)

func TestQuestionInAnotherLanguageIsRecognised(t *testing.T) {
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
	if foreign, err := inOtherLanguage(t.Context(), db, "Wo wurde die Heizung gewartet?", []text.Lang{"de"},
		5); foreign || err != nil {
		t.Error("a German question is foreign to German notes", err)
	}
}
