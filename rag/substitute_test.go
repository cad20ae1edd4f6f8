package rag

import (
	"strings"
	"testing"

	"lifehub/rag/encoder"
)

// A word that no note has is replaced by words of the notes: as a typo, as a compound
// of their words, or as a part of one. The notice names the replacement, which is no
// reason to decline.
func TestUnknownWordsAreReplacedByKnownOnes(t *testing.T) {
	t.Parallel()
	english, x := vault(t, map[string]string{
		"health.md": "# Health\n\nBlood pressure 120/80 in March. The doctor wants it measured weekly.\n",
		"car.md":    "# Car\n\nNew winter tyres in November, 400 euros, paid in cash.\n",
		"trip.md":   "# Trip\n\nThe tickets to Lisbon are in the blue folder, the golf clubs stay here.\n",
	})
	german, y := vault(t, map[string]string{
		"hof.md":  "# Draußen\n\nDas Gartenhaus ist im Sommer zu heiß und im Winter zu kalt, wir müssen das Dach dämmen.\n",
		"auto.md": "# Auto\n\nDie Versicherung für das Auto kostet 400 Euro im Jahr und wird im Januar fällig.\n",
		"arzt.md": "# Arzt\n\nDer Blutdruck war im März zu hoch und soll jede Woche gemessen werden.\n",
	})
	syncNow(t, x, english, encoder.Encoder{})
	syncNow(t, y, german, encoder.Encoder{})
	for _, c := range []struct {
		x                        *Index
		question, note, reported string
	}{
		{x, "blod presure", "health.md", "blod presure → blood pressure"},
		{x, "bolod pressure", "health.md", "bolod → blood"},
		{x, "tickets to Lissbon", "trip.md", "Lissbon → lisbon"},
		{x, "gold", "", ""}, // an English word is not a typo for golf
		{y, "Autoversicherung", "auto.md", "Autoversicherung → auto versicherung"},
		{y, "Versicherungsnummer", "auto.md", "Versicherungsnummer → versicherung"},
		{y, "wie hoch ist mein Blutdurck?", "arzt.md", "Blutdurck → blutdruck"},
		{y, "wo ist das Haus?", "hof.md", "Haus → gartenhaus"},
	} {
		found, err := c.x.Search(t.Context(), Query{Text: c.question})
		if err != nil {
			t.Fatal(err)
		}
		if found.Substituted != c.reported || c.note != "" && (len(found.Passages) == 0 || found.Passages[0].Path != c.note || found.Declined() || found.SemanticOnly) {
			t.Errorf("%s: %q, %q, %+v", c.question, found.Substituted, found.Notice(), found.Passages)
		}
	}
	if words, _ := x.Search(t.Context(), Query{Text: "blod presure", Side: KeywordsAlone}); !strings.HasPrefix(words.Passages[0].Text, "# Health") {
		t.Errorf("by keywords alone: %+v", words.Passages)
	}
}
