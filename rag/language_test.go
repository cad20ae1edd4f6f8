package rag

import "testing"

func TestANoteShowsItsLanguage(t *testing.T) {
	for text, want := range map[string]language{
		"The boiler was serviced in March and the filter was changed.":                              "",
		"Die Heizung wurde im März gewartet, und der Filter ist neu.":                               "de",
		"La chaudière a été révisée en mars et le filtre est neuf pour cette année.":                "fr",
		"La caldera fue revisada en marzo y el filtro es nuevo para este año, como siempre.":        "es",
		"La caldaia è stata revisionata a marzo e il filtro è nuovo, come per la casa della nonna.": "it",
		"A caldeira foi revista em março e o filtro não é novo, mas está como nos outros anos.":     "pt",
		"De ketel is in maart nagekeken en het filter werd vervangen door een nieuw.":               "nl",
		"Pannan servades i mars och filtret är nytt, men den gamla har vi inte kvar.":               "sv",
		"Котёл проверили в марте, и фильтр был новый, но его уже нет в доме.":                       "ru",
		"Купить печку":                                                       "ru", // its script tells, where it is too short for small words
		"أضف الكمون والكزبرة إلى الحساء":                                     "ar",
		"Kazan mart ayında bakıldı ve filtre yeni, ama bu ev için çok eski.": "tr",
		"see “печка” in the dictionary":                                      "",
		"kubectl get pods -n prod -o wide --sort-by=.metadata.name":          "",
		"Milch, Brot, Eier": "",
		"He said \"je ne sais quoi\" and that was it: nobody at the table knew what to make of the words.": "",
		"": "",
	} {
		if got := languageOf(text); got != want {
			t.Errorf("%q is in %q, want %q", text, got, want)
		}
	}
}

// TestFormsOfAWordFindOneAnother: in the languages with a stemmer, a question
// in one form finds the note in another, and the note with the very form
// still comes first.
func TestFormsOfAWordFindOneAnother(t *testing.T) {
	folder, x := vault(t, map[string]string{
		"de.md":    "Auf der Reise haben wir die alten Häuser und Gärten gesehen, und es war schön.\n",
		"de2.md":   "Der Zug nach Berlin ist um acht Uhr gefahren, und wir sind mit dem Rad zurück.\n",
		"fr.md":    "Nous avons acheté des chevaux et les voisins sont venus avec leurs enfants pour les voir.\n",
		"es.md":    "Las canciones que cantamos en la fiesta son muy antiguas y todos las conocen.\n",
		"it.md":    "I ragazzi sono andati alla stazione con le biciclette e non sono tornati per la cena.\n",
		"ru.md":    "Мы купили новые книги и уже прочитали их, но не все они были хорошие.\n",
		"sv.md":    "Vi har planterat blommor i trädgården och de är mycket fina, men det var inte lätt.\n",
		"ar.md":    "أضف الكمون والكزبرة إلى الحساء.\n",
		"tr.md":    "Bahçede domatesler ve biberler var, ama bu yıl çok az çiçek oldu.\n",
		"ru2.md":   "Купить печку.\n",
		"en.md":    "We planted the tomatoes and watered the seedlings in the greenhouse.\n",
		"mixed.md": "Haus\n",
	})
	syncNow(t, x, folder, nil)
	for question, want := range map[string]string{
		"Garten":             "de.md",
		"gaerten Gartens":    "de.md",
		"cheval voisine":     "fr.md",
		"canción cantamos":   "es.md",
		"cancion antigua":    "es.md",
		"ragazzo bicicletta": "it.md",
		"книга":              "ru.md",
		"blomma trädgårdar":  "sv.md",
		"كزبرة حساء":         "ar.md",
		"domates":            "tr.md",
		"печка":              "ru2.md",
		"tomato seedling":    "en.md",
		"Haus":               "mixed.md",
		`"alten Häuser"`:     "de.md",
		`"alte Haus"`:        "de.md",
	} {
		if got := paths(t, x, question); len(got) == 0 || got[0] != want {
			t.Errorf("%s finds %v, want %s first", question, got, want)
		}
	}
}

func TestAQuestionInAnotherLanguageIsKnown(t *testing.T) {
	for question, want := range map[string]bool{
		"Wo wurde die Heizung gewartet?":         true,
		"Où est la chaudière?":                   true,
		"where was the boiler serviced":          false,
		"boiler service interval":                false,
		"git stash pop in a worktree":            false,
		"What does die Heizung mean in English?": false,
		"Heizung":                                false,
	} {
		if got := isForeign(question, nil); got != want {
			t.Errorf("%q is foreign to English notes: %v, want %v", question, got, want)
		}
	}
	if isForeign("Wo wurde die Heizung gewartet?", []language{"de"}) {
		t.Error("a German question is foreign to German notes")
	}
}
