package rag

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag/search"
	"lifehub/rag/words"
)

// recipes are notes that are told apart by their words.
func recipes(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		word := func(of string) string { return fmt.Sprintf("%s%c%c", of, 'a'+rune(i%26), 'a'+rune(i/26)) }
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# Stew\n\nThe %s wants two spoons of %s and an hour of %s over a small fire.\n", word("sorrel"), word("barley"), word("simmer"))
	}
	return files
}

// What a score means is measured when notes are indexed, and again when they
// have doubled; an index without it is searched all the same.
func TestScoresAreCalibratedOnTheNotes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, recipes(60))
	saved := func() string { return words.Meta(t.Context(), x.words.db, "calibration") }
	verdict := func(question string, want Verdict) {
		t.Helper()
		found, err := x.Search(t.Context(), Query{Text: question})
		if err != nil || found.Verdict != want {
			t.Errorf("%s: verdict %d, want %d; scored %.3f on %s; %v", question, found.Verdict, want, found.Answerable, saved(), err)
		}
	}
	syncNow(t, x, folder, nil)
	first := saved()
	if !strings.Contains(first, `"Passages":60`) {
		t.Fatalf("calibrated: %q", first)
	}
	verdict("sorrelca barleyca simmerca", Likely)
	verdict("who painted the ceiling of the opera?", NothingClose)

	write(t, folder.Dir(), map[string]string{"new.md": "One more.\n"})
	syncNow(t, x, folder, nil)
	if saved() != first {
		t.Errorf("calibrated again for one note: %s, before %s", saved(), first)
	}
	write(t, folder.Dir(), recipes(130))
	syncNow(t, x, folder, nil)
	if !strings.Contains(saved(), `"Passages":131`) {
		t.Errorf("not calibrated again though the notes have doubled: %s", saved())
	}

	for _, old := range []string{"", "{", `{"Found":0}`} { // none, damaged, of no use
		if err := words.SetMeta(t.Context(), x.words.db, "calibration", old); err != nil {
			t.Fatal(err)
		}
		verdict("sorrelca barleyca simmerca", Likely)
		verdict("who painted the ceiling of the opera?", NothingClose)
	}
	syncNow(t, x, folder, nil)
	if !strings.Contains(saved(), `"Passages":131`) {
		t.Errorf("an index without a calibration was not calibrated by the next sync: %q", saved())
	}
}

// A question in a language that no note is in is not declined: its words cannot
// tell. One in the notes' language is, whatever the script.
func TestAQuestionInAnotherLanguageIsNotDeclined(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, recipes(40))
	syncNow(t, x, folder, nil)
	chinese := map[string]string{}
	for i := range 30 {
		chinese[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# 第%d天\n\n早上在公园里跑步，下午和朋友一起喝咖啡，谈了%d本书和一次旅行的计划。晚上做了红烧豆腐，还给母亲打了电话，说起老家的院子。\n", i, i)
	}
	theirs, y := vault(t, chinese)
	syncNow(t, y, theirs, nil)
	for _, c := range []struct {
		x        *Index
		question string
		want     Verdict
	}{
		{x, "谁画了歌剧院的天花板？", OtherLanguage},
		{x, "Wo wurde die Oper gebaut und von wem?", OtherLanguage},
		{x, "Кто построил оперный театр?", OtherLanguage},
		{x, "who built the opera?", NothingClose},
		{y, "谁画了歌剧院的天花板？", NothingClose},
		{y, "跑步和咖啡", Likely},
		{y, "who built the opera?", OtherLanguage},
	} {
		found, err := c.x.Search(t.Context(), Query{Text: c.question})
		if err != nil || found.Verdict != c.want {
			t.Errorf("%s: verdict %d, want %d (%.3f, %d passages); %v", c.question, found.Verdict, c.want, found.Answerable, len(found.Passages), err)
		}
	}
	all := Library{Indexes: []*Index{x, y}}
	if found, err := all.Search(t.Context(), Query{Text: "跑步和咖啡"}); err != nil || found.Verdict != Likely {
		t.Errorf("of two vaults one holds it: verdict %d, %v", found.Verdict, err)
	}
}

// What a question scores without its note is read from the search with it: a
// search that leaves the note out scores the same. Of 100 sentences 60 are there:
// the other vaults count for the rest.
func TestCalibrationScoresAsASearchWithoutTheNote(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, recipes(60))
	syncNow(t, x, folder, nil)
	var found, hidden []float64
	for path, text := range recipes(60) {
		_, sentence, _ := strings.Cut(text, "\n\n")
		var half []string
		for i, word := range strings.Fields(sentence) {
			if i%2 == 0 {
				half = append(half, word)
			}
		}
		for _, ask := range []struct {
			without []string
			scores  *[]float64
		}{{nil, &found}, {[]string{path}, &hidden}} {
			out, err := search.Run(t.Context(), search.Vault{DB: x.words.db}, Query{Text: strings.Join(half, " "), Side: search.WordsAlone, Without: ask.without})
			if err != nil {
				t.Fatal(err)
			}
			*ask.scores = append(*ask.scores, out.Signals.Answerable())
		}
	}
	slices.Sort(found)
	slices.Sort(hidden)
	var saved struct{ Found, Hidden float64 }
	if err := json.Unmarshal([]byte(words.Meta(t.Context(), x.words.db, "calibration")), &saved); err != nil {
		t.Fatal(err)
	}
	if want := 0.6*found[len(found)/4] + 0.4*0.65; math.Abs(saved.Found-want) > 1e-9 {
		t.Errorf("with their notes: %v, searches score %v", saved.Found, want)
	}
	if want := 0.6*hidden[len(hidden)/10] + 0.4*0.05; math.Abs(saved.Hidden-want) > 1e-9 || saved.Hidden >= saved.Found {
		t.Errorf("without their notes: %v, searches score %v", saved.Hidden, want)
	}
}
