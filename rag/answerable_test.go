package rag

import (
	"fmt"
	"testing"

	"lifehub/internal/testenv"
	"lifehub/rag/encoder"
)

// recipes are notes that differ in their words only.
func recipes(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		word := func(of string) string { return fmt.Sprintf("%s%c%c", of, 'a'+rune(i%26), 'a'+rune(i/26)) }
		files[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# Stew\n\nThe %s wants two spoons of %s and an hour of %s over "+
			"a small fire.\n", word("sorrel"), word("barley"), word("simmer"))
	}
	return files
}

// A question is declined if no note has a fifth of its words. If the notes have none of
// its words, the closest passages are listed, with a notice.
func TestQuestionWithFewKnownWordsIsDeclined(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, recipes(40))
	cooking, y := vault(t, recipes(40))
	things, z := vault(t, map[string]string{
		"bike.md": "# Bike\n\nNew brake pads and oil for the chain.\n",
		"soup.md": "# Soup\n\nRed lentils, cumin and a lemon at the end.\n",
		"rent.md": "# Rent\n\nDue on the first, by bank transfer.\n",
	})
	syncNow(t, x, folder, encoder.Encoder{})
	syncNow(t, y, cooking, nil)
	syncNow(t, z, things, encoder.Encoder{})
	for _, c := range []struct {
		x        *Index
		question string
		want     Verdict
		closest  bool
	}{
		{x, "sorrelca barleyca simmerca", Likely, false},
		{x, "barley fire opera ceiling painter", Likely, false},
		{x, "fire opera ceiling painter museum ticket", Close, false},
		{x, "who painted the ceiling of the opera?", Likely, true},
		{z, "which bicycle?", Likely, true},
		{y, "who painted the ceiling of the opera?", NothingClose, false},
		{y, "fire", Likely, false},
	} {
		found, err := c.x.Search(t.Context(), Query{Text: c.question})
		if err != nil || found.Verdict != c.want || found.SemanticOnly != c.closest {
			t.Errorf("%s: verdict %d, want %d, by meaning %v; %+v, %v", c.question, found.Verdict, c.want,
				found.SemanticOnly, found.Signals, err)
		}
		if c.x == z && (len(found.Passages) != 3 || found.Passages[0].Path != "bike.md" || found.Missing.IsZero()) {
			t.Errorf("%s: %q %+v, want the bike first of all three", c.question, found.Notice(), found.Passages)
		}
	}
}

// Where every note has the words of the question, they still count.
func TestWordsOfEveryNoteCount(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"green.md": "# Green tea\n\nGreen tea steeps for two minutes.\n",
		"black.md": "# Black tea\n\nBlack tea steeps for four minutes.\n",
		"mint.md":  "# Mint tea\n\nMint tea steeps for ten minutes.\n",
	})
	syncNow(t, x, folder, encoder.Encoder{})
	found, err := x.Search(t.Context(), Query{Text: "how long does tea steep?"})
	if err != nil || len(found.Passages) != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, p := range found.Passages {
		if p.Score < 0.25 {
			t.Errorf("%s has a score of %.2f", p.Path, p.Score)
		}
	}
}

// A question in a language that no note is in is not declined, since keywords cannot
// match. One in the notes' language is, whatever its script.
func TestQuestionInAnotherLanguageIsNotDeclined(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	folder, x := vault(t, recipes(40))
	syncNow(t, x, folder, nil)
	chinese := map[string]string{}
	for i := range 30 {
		chinese[fmt.Sprintf("%d.md", i)] = fmt.Sprintf("# 第%d天\n\n早上在公园里跑步，下午和朋友一起喝咖啡，谈了%d本书和一次旅行的计划。晚上做了红烧豆腐，还给母亲打了电话，说起老家的院子。\n", i, i)
	}
	chineseFolder, y := vault(t, chinese)
	syncNow(t, y, chineseFolder, nil)
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
			t.Errorf("%s: verdict %d, want %d (%.3f, %d passages); %v", c.question, found.Verdict, c.want,
				found.Answerable, len(found.Passages), err)
		}
	}
	all := Library{Indexes: []*Index{x, y}}
	if found, err := all.Search(t.Context(), Query{Text: "跑步和咖啡"}); err != nil || found.Verdict != Likely {
		t.Errorf("of two vaults one holds it: verdict %d, %v", found.Verdict, err)
	}
}
