package rag

import (
	"testing"
)

// TestInflectedFormsFindEachOther: in languages with a stemmer, a question with one form
// of a word finds notes with another, and a note with the same form comes first.
func TestInflectedFormsFindEachOther(t *testing.T) {
	t.Parallel()
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
