package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// quotationVerdicts formats the verdicts on quotations without a number.
func quotationVerdicts(citations []agent.Citation) string {
	var list []string
	for _, c := range citations {
		if c.Words != "" {
			list = append(list, strings.TrimSuffix(strings.TrimSpace(string(c.Verdict)+" "+c.Place()), ":0"))
		}
	}
	return strings.Join(list, ", ")
}

func TestQuotationsWithoutANumberAreJudged(t *testing.T) {
	plan := agent.Source{Path: "计划.md", Line: 1, EndLine: 2, Text: "每周跑步三次，星期天跑长距离。\n星期一休息。"}
	sources := numbered(fitness, tea, plan)
	for name, test := range map[string]struct{ answer, want string }{
		"in curly quotes": {
			"Your plan says “Raise the long run by 10 % each week”.",
			"verified fitness.md:13",
		},
		"in straight ones": {`It says "Steep green tea for two minutes".`, "verified kitchen/tea.md:3"},
		"in German ones":   {"Dort steht „Steep green tea for two minutes“.", "verified kitchen/tea.md:3"},
		"in guillemets": {
			"Il est écrit « Steep green tea for two minutes ».",
			"verified kitchen/tea.md:3",
		},
		"in corner brackets": {"你写过「每周跑步三次，星期天跑长距离」。", "verified 计划.md:1"},
		"in a block": {"Your note:\n\n> Steep green tea for two minutes at 75 °C.\n> Never use " +
			"boiling water.", "verified kitchen/tea.md:3"},
		"with its note behind a dash": {
			"> «Steep green tea for two minutes at 75 °C.» — Tea",
			"verified kitchen/tea.md:3",
		},
		"with its note in brackets": {"> Rest on Monday, all of it (Running plan)\n", "not_found"},
		"with its heading": {
			"> Raise the long run by 10 % each week. (Running plan)",
			"verified fitness.md:13",
		},
		"with a link": {
			"> Steep green tea for two minutes at 75 °C. [[tea|my note]]",
			"verified kitchen/tea.md:3",
		},
		"with a link in brackets": {
			"> Steep green tea for two minutes at 75 °C. ([[tea]])",
			"verified kitchen/tea.md:3",
		},
		"with another note":     {"> Steep green tea for two minutes at 75 °C. — fitness", "not_found"},
		"with an addition":      {"> Steep green tea for two minutes at 75 °C — never longer", "not_found"},
		"with one in brackets":  {"> Raise the long run by 10 % each week (of the month)", "not_found"},
		"with a gap":            {"“Steep green tea … at 75 °C” it says.", "verified kitchen/tea.md:3"},
		"invented":              {"Your plan says “Raise the long run by 20 % each week”.", "not_found"},
		"invented, in a script": {"你写过「每周跑步五次，星期天休息」。", "not_found"},
		"invented, in a block": {
			"> Steep green tea for two minutes at 75 °C.\n> Then add a spoon of honey.",
			"verified kitchen/tea.md:3, not_found",
		},
		"stitched of two notes": {"“Steep green tea for two minutes. Rest on Monday”", "not_found"},
		"cut so that it turns": {
			"It says to “use boiling water” and to “use boiling water for black tea”.",
			"not_found",
		},
		"one with, one without": {"“Rest on Monday” [1]. Also “Run five times a week”.", "not_found"},
		"twice": {"“Raise the long run by 10 % each week”. Again: “Raise the long run by 10 % " +
			"each week”.", "verified fitness.md:13"},
		"a single word":         {"The word “tea” stands there.", ""},
		"three words":           {"The “best long run” is yours.", ""},
		"a title":               {"Look at “The Old Man and the Sea” for that.", ""},
		"the title of the note": {"In “fitness / Running plan” it stands.", ""},
		"a question":            {"You could ask “which of my runs was the longest?”.", ""},
		"code": {"Run `echo \"never saw this line before\"` or\n\n```\nprint(\"this was never " +
			"in any note\")\n```", ""},
		"a callout": {"> **Tip:** Ask me about your other plans as well.\n\n> [!NOTE]\n> There is " +
			"more to say about this.", ""},
		"with a number in its block": {"> Steep green tea for two minutes [2]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := quotationVerdicts(Check(test.answer, sources, nil)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUnnumberedQuotationOfAChangedNoteIsStale(t *testing.T) {
	now := onDisk(func(s agent.Source) (string, bool) { return strings.ReplaceAll(s.Text, "10", "15"), true })
	if got := quotationVerdicts(Check("“Raise the long run by 10 % each week”", numbered(fitness),
		now)); got != "stale fitness.md:13" {
		t.Errorf("got %q", got)
	}
}
