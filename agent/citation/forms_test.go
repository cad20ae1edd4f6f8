package citation

import (
	"testing"

	"lifehub/agent"
)

// A citation may include the quoted words, or name its source in words.
func TestFormsOfCitations(t *testing.T) {
	notes := []agent.Source{
		{N: 1, Path: "plan.md", Line: 1, EndLine: 1, Text: "Run three times a week. Never on Mondays."},
		{N: 2, Path: "log.md", Line: 1, EndLine: 1, Text: "Ran 12 km on Sunday."},
	}
	for answer, want := range map[string][]agent.Verdict{
		`You train on three days [1: "Run three times a week."].`:                                       {agent.Verified},
		`You train on four days [1: “Run four times a week.”].`:                                         {agent.NotFound},
		`Three days [1: "Run three times a week."], twelve km on one of them [2: "Ran 12 km"].`:         {agent.Verified, agent.Verified},
		`Three days [1: "Ran 12 km on Sunday."], and km on one of them [2: "Run three times a week."].`: {agent.NotFound, agent.NotFound},
		"You run three times a week (Source 1).":                                                        {agent.Cites},
		"You ran 13 km on Sunday (source 2).":                                                           {agent.Cites},
		"You ran 12 km on Sunday [Sources 1, 2].":                                                       {agent.Cites, agent.Cites},
	} {
		var got []agent.Verdict
		for _, c := range Check(answer, notes, nil) {
			got = append(got, c.Verdict)
		}
		if len(got) != len(want) {
			t.Errorf("%s: got %v, want %v", answer, got, want)
			continue
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s: got %v, want %v", answer, got, want)
			}
		}
	}
}

func TestQuotationOfTheUserIsNotACitation(t *testing.T) {
	note := []agent.Source{{N: 1, Path: "tasks.md", Line: 1, EndLine: 1, Text: "Physio is on Friday. Never skip it."}}
	isTyped := func(words string) bool { return words == "book the physio" }
	for answer, want := range map[string]agent.Verdict{
		"You asked to “book the physio”: it is on Friday [1].": agent.Cites,
		"“book the dentist, too”: it is on Friday [1].":        agent.NotFound,
		"You said “Physio is on Friday.” [1]":                  agent.Verified,
	} {
		if got := CheckExcept(answer, note, nil, isTyped); len(got) != 1 || got[0].Verdict != want {
			t.Errorf("%s: got %+v, want %s", answer, got, want)
		}
	}
}

func TestWithPathsReplacesNumbersByPaths(t *testing.T) {
	sources := []agent.Source{{N: 1, Path: "a.md"}, {N: 2, Path: "b.md"}, {N: 3, Path: "weather", Call: "s1"}, {N: 4, Path: "https://x.example/"}}
	const answer = "On Sunday [1][2], dry [3]. So [1: \"words\"]. A page [4] adds it\nas a list [3]\n\nNot `x[1]`."
	if got, want := WithPaths(answer, sources), "On Sunday (a.md, b.md), dry. So (a.md). A page adds it\nas a list\n\nNot `x[1]`."; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
