package rag

import (
	"strings"
	"testing"

	"lifehub/rag/encoder"
)

// A word that no note has is asked about, if it may be a typo of a content word of the
// notes, as a whole. It is no reason to decline.
func TestUnknownWordsAreAskedAbout(t *testing.T) {
	t.Parallel()
	english, x := vault(t, map[string]string{
		"health.md": "# Health\n\nBlood pressure 120/80 in March. The doctor wants it measured weekly.\n",
		"car.md":    "# Car\n\nNew winter tyres in November, 400 euros, paid in cash.\n",
		"trip.md":   "# Trip\n\nThe tickets to Lisbon are in the blue folder, the golf clubs stay here.\n",
	})
	german, y := vault(t, map[string]string{
		"hof.md": "# Draußen\n\nDas Gartenhaus ist im Sommer zu heiß und im Winter zu kalt, wir müssen das Dach " +
			"dämmen, mit Wolle.\n",
		"auto.md":  "# Auto\n\nDie Versicherung für das Auto kostet 400 Euro im Jahr und wird im Januar fällig.\n",
		"arzt.md":  "# Arzt\n\nDer Blutdruck war im März zu hoch und soll jede Woche gemessen werden.\n",
		"reise.md": "# Reise\n\nDie Fähre nach Rømø geht um acht, wir haben sie im Mai gebucht, und es war teuer.\n",
	})
	syncNow(t, x, english, encoder.Encoder{})
	syncNow(t, y, german, encoder.Encoder{})
	for _, c := range []struct {
		x                     *Index
		question, note, asked string
	}{
		{x, "blod presure", "health.md", "blod=Blood presure=pressure"},
		{x, "bolod pressure", "health.md", "bolod=Blood"},
		{x, "tickets to Lissbon", "trip.md", "Lissbon=Lisbon"},
		{x, "blood presure in Novembre", "health.md", "presure=pressure Novembre=November"},
		{y, "wie hoch ist mein Blutdurck?", "arzt.md", "Blutdurck=Blutdruck"},
		{y, "Autoversicherung", "auto.md", "Autoversicherung="},
		{y, "wo ist das Haus?", "hof.md", ""},
		{x, "How often is the blood pressure measured?", "health.md", ""},
		{x, "how much for the tickets to Lisbon", "trip.md", ""},
		{y, "Miete", "", "Miete="},       // not "mit"
		{y, "Fahrzeug", "", "Fahrzeug="}, // not "Fähre"
		{y, "Blutdruck", "arzt.md", ""},
	} {
		found, err := c.x.Search(t.Context(), Query{Text: c.question})
		if err != nil {
			t.Fatal(err)
		}
		var asked []string // word=what may be meant
		for _, w := range found.Missing.Words {
			asked = append(asked, w.Word+"="+w.Meant)
		}
		if strings.Join(asked, " ") != c.asked || c.note != "" &&
			(len(found.Passages) == 0 || found.Passages[0].Path != c.note) || found.Declined() {
			t.Errorf("%s: %q, %q, %+v", c.question, asked, found.Notice(), found.Passages)
		}
	}
	if words, _ := x.Search(t.Context(), Query{
		Text: "blod presure",
		Side: KeywordsAlone,
	}); !strings.HasPrefix(words.Passages[0].Text, "# Health") {
		t.Errorf("by keywords alone: %+v", words.Passages)
	}
	hidden, err := x.Search(t.Context(), Query{
		Text:    "blod",
		Without: map[string][]string{x.options.Vault: {"health.md"}},
	})
	if err != nil || strings.Contains(hidden.Lacking(), "mean") {
		t.Errorf("a word of a note that is left out: %q, %v", hidden.Lacking(), err)
	}
	both, err := Library{Indexes: []*Index{x, y}}.Search(t.Context(), Query{Text: "Blutdrukc and blood"})
	if err != nil || strings.Contains(both.Lacking(), "blood") {
		t.Errorf("a word that one of two vaults has: %q, %v", both.Lacking(), err)
	}
}

// A passage with a word of the question comes before one with a guess.
func TestNoGuessOutranksAWord(t *testing.T) {
	t.Parallel()
	folder, x := vault(t, map[string]string{
		"a.md": "# Mieter\n\nDer Mieter und die Mieterin, Mieter um Mieter, und das Haus.\n",
		"b.md": "# Vertrag\n\nIm Vertrag steht es, und im Vertrag vom Mai auch, im Vertrag vom Juni nicht.\n",
		"c.md": "# Haus\n\nEin Vertrag.\n",
	})
	syncNow(t, x, folder, nil)
	found, err := x.Search(t.Context(), Query{Text: "Vertrag Mietrr"})
	if err != nil || len(found.Passages) != 3 || found.Passages[2].Path != "a.md" || found.Missing.IsZero() {
		t.Errorf("%+v, %v", found, err)
	}
}
