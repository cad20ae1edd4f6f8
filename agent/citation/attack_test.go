package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// plain reports whether a citation has a check mark without any qualification.
func plain(c agent.Citation) bool { return c.Verdict == agent.Verified && c.Context == "" }

// An answer that twists a note's words, or claims what the note does not say, never
// gets a plain check mark.
func TestNoAttackIsVerified(t *testing.T) {
	notes := []agent.Source{
		{Path: "a.md", Text: "The train to Lisbon leaves at 7:45 from platform 9.\nAnna refuses to eat fish.\nStore " +
			"the yeast at -18 °C.\nThe radio sends with 10 mW.\n" +
			"Adams, unlike Carla, lent the drill to Bob.\nSteep green tea for less than two minutes.\nI dreamt that " +
			"the boiler was serviced by Anna on 3 May 2025.\n" +
			"I owe Carla 300 € until June.\n~~The rent is 900 €.~~\nDo not prune the apple tree in autumn.\nThe plot " +
			"has 10² m.\nMeeting with Ines on Monday at 10: cancelled.\n❌ Buy the blue kayak from Bob\nAdd 1½ " +
			"cups of flour to the bowl."},
		{Path: "b.md", Text: "The ferry to Tangier sails at noon.\nThe non-smoking room costs 50 € a night."},
	}
	for i := range notes {
		notes[i].Line, notes[i].EndLine = 1, 1+strings.Count(notes[i].Text, "\n")
	}
	notes = numbered(notes...)
	for _, answer := range []string{
		"The train from Lisbon leaves at 7:45 to platform 9 [1].",
		"The train to Lisbon does not leave at 7:45 from platform 9 [1].",
		"The train to Lisbon leaves at 7:54 from platform 9 [1].",
		"The train to Lisbon leaves at 7:45 from platform 9 on Sundays [1].",
		"Anna eats fish [1].", "Anna to eat fish [1].", "Store the yeast at 18 °C [1].",
		"Store the yeast at -18 °F [1].", "The radio sends with 10 MW [1].",
		"Carla lent the drill to Bob [1].", "Adam, unlike Carla, lent the drill to Bob [1].",
		"Steep green tea for two minutes [1].",
		"The boiler was serviced by Anna on 3 May 2025 [1].", "Carla owes you 300 € until June [1].",
		"You owe me 300 € until June [1].", "The rent is 900 € [1].",
		"Prune the apple tree in autumn [1].", "Never “prune the apple tree in autumn” [2].", "The plot has 102 m [1].",
		"You have a meeting with Ines on Monday at 10 [1].", "Buy the blue kayak from Bob [1].",
		"Add 1 cups of flour to the bowl [1].", "Add 12 cups of flour to the bowl [1].",
		"“The train to Lisbon … sails at noon” [1][2]", "“The train to Lisbon … Anna refuses to eat fish” [1, 2]",
		"“The train to Lisbon sails at noon” [1-2]",
		"“The train to Lisbon usually leaves at 7:45” [1]", "„Der Zug nach Lissabon“ [1]",
		"«The ferry to Tangier» [1]", "「渡轮去丹吉尔」[2]",
		"Pay Anna “7:45” euros [1].", "The smoking room costs 50 € a night [2].",
		"The train to Lisbon leaves at 7:45 from platform 9 [3].",
		"The train to Lisbon leaves at 7:45 from platform 9 [2].",
		"Is it that the train to Lisbon leaves at 7:45 from platform 9? [1]",
		"The train to Lisbon leaves at 7:45 from platform 9 (a.md:900).", "`the ferry` sails from `c/x.md:3`",
		"See [^1] and `[1]`.", "```\nThe ferry to Tangier sails at noon [2]\n```",
	} {
		for _, c := range Check(answer, notes, nil) {
			if plain(c) {
				t.Errorf("%q is verified by %q", answer, c.Quote)
			}
		}
	}
	for _, answer := range []string{
		"The “train to Lisbon leaves at 7:45 from platform 9” [1].", "You note “I owe Carla 300 € until June” [1].",
		"As you put it, “Anna refuses to eat fish.” [1].",
		"Do not prune apple trees... [2] “Do not prune the apple tree” [1].",
		"The guide recommends: “Steep green tea for less than two minutes.” [1]",
		"“The train to Lisbon leaves … from platform 9” [1]",
		"“Store the yeast at -18 °C” [1].", "> The ferry to Tangier sails at noon [2].",
	} {
		verified := false
		for _, c := range Check(answer, notes, nil) {
			verified = verified || c.Verdict == agent.Verified
		}
		if !verified {
			t.Errorf("%q is %s", answer, verdicts(Check(answer, notes, nil)))
		}
	}
}

func TestQuotationsGetTheirVerdicts(t *testing.T) {
	got := Check("“Rest on Monday” and “run daily before breakfast” [1].", numbered(fitness, tea), nil)
	if len(got) != 1 || len(got[0].Quoted) != 2 || got[0].Quoted[0] != (agent.Quoted{
		Text:    "Rest on Monday",
		Verdict: agent.Verified,
	}) || got[0].Quoted[1] != (agent.Quoted{
		Text:    "run daily before breakfast",
		Verdict: agent.NotFound,
	}) {
		t.Errorf("got %+v", got)
	}
}

func TestSumEndsItsSentence(t *testing.T) {
	note := agent.Source{Path: "a.md", Line: 1, EndLine: 3, Text: "The rent is 900 €.\nThe deposit is 1,800 " +
		"€.\nStore it at −18 °C."}
	for answer, want := range map[string]string{
		"“The deposit is 1,800 €” [1].": "1 verified a.md:2", "“The rent is 900 €” [1].": "1 verified a.md:1",
		"“Store it at -18 °C” [1].": "1 verified a.md:3", "“Store it at 18 °C” [1].": "1 not_found a.md:3",
		"The rent is 900 € [1-1].": "1 verified a.md:1", "The rent is 900 € [2-1].": "",
	} {
		if got := verdicts(Check(answer, numbered(note), nil)); got != want {
			t.Errorf("%q is %s, want %s", answer, got, want)
		}
	}
}
