package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

const tools = "| Tool | Price | Place |\n|---|---|---|\n| Drill | 45 € a day, four hours | Elm Street |\n| Saw | 30 " +
	"€ a day, four hours | Lake Road, Thorn |"

// verdicts of quotations on notes, by what they test.
func TestVerdictsOnMarkup(t *testing.T) {
	for _, c := range []struct{ name, note, answer, want string }{
		// A sentence begins after what is none of its words.
		{"label", "**Note:** The ferry sails at noon.", "The ferry sails at noon. [1]", "verified"},
		{"label", "备注：渡轮中午从码头开。", "渡轮中午从码头开。[1]", "verified"},
		{"comment", "<!-- was at ten -->\nThe ferry sails at noon.", "The ferry sails at noon. [1]", "verified"},
		{
			"struck out", "~~The ferry sails at ten.~~ The ferry sails at noon.",
			"The ferry sails at noon. [1]", "verified",
		},
		{
			"planning", "SCHEDULED: <2026-10-01 Thu>\nThe ferry sails at noon.",
			"The ferry sails at noon. [1]", "verified",
		},
		{
			"planning", "The ferry sails at noon.\nDEADLINE: <2026-10-01 Thu>",
			"The ferry sails at noon. [1]", "verified",
		},
		{"property", "due:: 2026-10-01\nNew pads on the bike.", "“New pads on the bike.” [1]", "verified"},
		{"time", "10:30 New pads on the bike.", "“New pads on the bike.” [1]", "verified"},
		{"words", "On Sundays the ferry sails at noon.", "The ferry sails at noon. [1]", "cited"},
		// Chinese and Japanese.
		{"four characters", "渡轮中午从码头开。", "“渡轮中午”在那里。", "verified"},
		{"four characters", "渡轮中午从码头开。", "“渡轮晚上”在那里。", "not_found"},
		{"three characters", "渡轮中午从码头开。", "“渡轮晚”在那里。", ""},
		{"katakana", "船は正午に出ます。", "「コーヒー」を飲む。", ""},
		// Signs.
		{"times", "Intervals: 6 x 400 m, rest 90 s.", "“6 × 400 m, rest 90 s” [1]", "verified"},
		{"times", "Intervals: 6×400 m, rest 90 s.", "“6x400 m, rest 90 s” [1]", "verified"},
		{"times", "It is about 4 x the price of it.", "“about 4× the price of it” [1]", "verified"},
		{"times", "Intervals: 6×400 m, rest 90 s.", "“Intervals: 6 400 m, rest 90 s.” [1]", "not_found"},
		{"highlight", "Bring the ==blue== tent, and rope.", "“Bring the blue tent, and rope.” [1]", "verified"},
		{"operator", "Stop if a == b and then c.", "“Stop if a = b and then c.” [1]", "not_found"},
		{"link", "Il faut de l'[[water|eau]] et du sel.", "“Il faut de l'eau et du sel.” [1]", "verified"},
		// Numbers of lists, and days that look like them.
		{
			"list", "1. Heat the milk slowly\n2. Add the flour at once",
			"“1. Heat the milk slowly 2. Add the flour at once” [1]", "verified",
		},
		{
			"list", "1. Heat the milk slowly\n2. Add the flour at once",
			"“Heat the milk slowly Add the flour at once” [1]", "verified",
		},
		{
			"renumbered", "1. Heat the milk slowly\n2. Add the flour at once",
			"> 1. Add the flour at once\n\n— [1]", "cited",
		},
		{"day", "12. Mai: der Zahnarzt in der Stadt", "“13. Mai: der Zahnarzt in der Stadt” [1]", "cited"},
		{"day", "am 12. Mai: der Zahnarzt in der Stadt", "“13. Mai: der Zahnarzt in der Stadt” [1]", "cited"},
		{"day", "am 12. Mai: der Zahnarzt in der Stadt", "“12. Mai: der Zahnarzt in der Stadt” [1]", "verified"},
		// Cells of tables.
		{"own row", tools, "Saw: “30 € a day, four hours” [1]", "verified"},
		{"another row", tools, "Drill: “30 € a day, four hours” [1]", "cited"},
		{"another row", tools, "| Drill | “30 € a day, four hours” [1] |", "cited"},
		{"another row", tools, "“Drill: 30 € a day, four hours” [1]", "not_found"},
		{"no row", tools, "You pay: “30 € a day, four hours” [1]", "verified"},
		{"own column", tools, "“Price: 30 € a day, four hours” [1]", "verified"},
		{"own row and column", tools, "“Saw – Price: 30 € a day, four hours” [1]", "verified"},
		{"another column", tools, "“Place: 30 € a day, four hours” [1]", "not_found"},
		{"equal cells", strings.ReplaceAll(tools, "45", "30"), "Saw: “30 € a day, four hours” [1]", "verified"},
	} {
		source := agent.Source{N: 1, Path: "note.md", Line: 1, EndLine: 1 + strings.Count(c.note, "\n"), Text: c.note}
		got := ""
		for _, one := range Check(c.answer, []agent.Source{source}, nil) {
			got = string(one.Verdict)
			if one.Context != "" {
				t.Errorf("%s: %s on %q has the remark %q", c.name, c.answer, c.note, one.Context)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s on %q is %q, want %q", c.name, c.answer, c.note, got, c.want)
		}
	}
}
