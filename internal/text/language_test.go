package text

import (
	"slices"
	"testing"
)

func TestLanguageIsDetected(t *testing.T) {
	for text, want := range map[string]Lang{
		"The boiler was serviced in March and the filter was changed.":                              "",
		"Die Heizung wurde im März gewartet, und der Filter ist neu.":                               "de",
		"La chaudière a été révisée en mars et le filtre est neuf pour cette année.":                "fr",
		"La caldera fue revisada en marzo y el filtro es nuevo para este año, como siempre.":        "es",
		"La caldaia è stata revisionata a marzo e il filtro è nuovo, come per la casa della nonna.": "it",
		"A caldeira foi revista em março e o filtro não é novo, mas está como nos outros anos.":     "pt",
		"De ketel is in maart nagekeken en het filter werd vervangen door een nieuw.":               "nl",
		"Pannan servades i mars och filtret är nytt, men den gamla har vi inte kvar.":               "sv",
		"Котёл проверили в марте, и фильтр был новый, но его уже нет в доме.":                       "ru",
		// its script tells, where it is too short for stop words
		"Купить печку":                                                       "ru",
		"أضف الكمون والكزبرة إلى الحساء":                                     "ar",
		"Kazan mart ayında bakıldı ve filtre yeni, ama bu ev için çok eski.": "tr",
		"see “печка” in the dictionary":                                      "",
		"kubectl get pods -n prod -o wide --sort-by=.metadata.name":          "",
		"Milch, Brot, Eier": "",
		"He said \"je ne sais quoi\" and that was it: nobody at the table knew what to make of the words.": "",
		"": "",
		// questions
		"Wo wurde die Heizung gewartet?":         "de",
		"Wie heißt mein Zahnarzt?":               "de",
		"Où est la chaudière?":                   "fr",
		"where was the boiler serviced":          "",
		"boiler service interval":                "",
		"git stash pop in a worktree":            "",
		"What does die Heizung mean in English?": "",
		"Heizung":                                "",
	} {
		if got := Language(text); got != want {
			t.Errorf("%q is in %q, want %q", text, got, want)
		}
	}
}

func TestSimilarLanguagesAreAllReturned(t *testing.T) {
	if got := Languages("Er det ikke på den?"); !slices.Contains(got, "da") || !slices.Contains(got, "no") {
		t.Errorf("got %q", got)
	}
}

func TestStopWords(t *testing.T) {
	for _, c := range []struct {
		word string
		in   Lang
		want bool
	}{
		{"the", "", true},
		{"i", "", true},
		{"die", "", false},
		{"die", "de", true},
		{"boiler", "", false},
		{"und", "", false},
		{"the", "xx", false},
		{"", "", false},
	} {
		if got := StopWord(c.word, c.in); got != c.want {
			t.Errorf("%q in %q: %v", c.word, c.in, got)
		}
	}
}

func TestInflectedFormsHaveOneStem(t *testing.T) {
	for in, forms := range map[Lang][]string{
		"":   {"run running runs Running", "database databases", "café cafes", "北京"},
		"de": {"Garten Gartens gärten", "Straße Strassen"},
		"fr": {"cheval chevaux"}, "ru": {"книга книги"}, "sv": {"blomma blommor"},
	} {
		for _, all := range forms {
			stems := map[string]bool{}
			for w := range Words(all) {
				stems[FoldedStem(w.Text, in)] = true
			}
			if len(stems) != 1 {
				t.Errorf("%s in %q: %v", all, in, stems)
			}
		}
	}
}

func TestStemIsNeverEmpty(t *testing.T) {
	for _, word := range []string{"s", "ing", "的", "がくせい", string(make([]byte, 100))} {
		for _, in := range languages {
			if FoldedStem(word, in) == "" {
				t.Errorf("%q in %q has no stem", word, in)
			}
		}
	}
}
