package citation

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
)

// foundOf formats what was found: the source, line and end of each.
func foundOf(citations []agent.Citation) string {
	var list []string
	for _, c := range citations {
		list = append(list, fmt.Sprintf("%d %s", c.N, c.Place()))
	}
	return strings.Join(list, ", ")
}

func TestSentencesAreFound(t *testing.T) {
	mixed := agent.Source{
		Path: "notes.md", Line: 1, EndLine: 3,
		Text: "我每周跑步三次，星期天休息。\n\nDer Zug nach Köln fährt um 7:45 Uhr ab.",
	}
	sources := numbered(fitness, tea, mixed)
	for answer, want := range map[string]string{
		"You run three times a week.":                            "1 fitness.md:12",
		"Black tea takes four minutes. You rest on Monday.":      "2 kitchen/tea.md:5, 1 fitness.md:14",
		"- Green tea: two minutes\n- the long run grows by 10 %": "2 kitchen/tea.md:3, 1 fitness.md:13",
		"| black tea | four minutes |":                           "2 kitchen/tea.md:5",
		"Der Kölner Zug: Köln, 7:45 Uhr.":                        "3 notes.md:3",
		"你每周跑步三次。":                                               "3 notes.md:1",
		"Monday.":                                                "1 fitness.md:14",

		"“Rest on Monday” is your rule.": "",
		"You rest on Monday [1].":        "",
		"> Rest on Monday":               "",
		"# Rest on Monday":               "",
		"```\nRest on Monday\n```":       "",
		"Do you rest on Monday?":         "",
		"That is not in your notes.":     "",
		"You are welcome.":               "",
		"":                               "",
	} {
		got := Found(answer, sources, nil)
		if foundOf(got) != want {
			t.Errorf("%q: found %s, want %s", answer, foundOf(got), want)
		}
		for _, c := range got {
			if c.Verdict != agent.Found || c.Label() != "" || c.Sign() != "" || c.At > len(answer) ||
				!strings.Contains(answer, c.Sentence) || c.Quote == "" {
				t.Errorf("%q: %+v", answer, c)
			}
		}
	}
	if got := Found("You run three times a week.", nil, nil); got != nil {
		t.Errorf("without sources: %+v", got)
	}
}

func TestFoundSentenceHasItsLineOnDisk(t *testing.T) {
	for _, c := range []struct {
		now, want string
	}{{"\n\n" + strings.Repeat("\n", 11) + fitness.Text, "1 fitness.md:14"}, {"Changed.", "1 fitness.md:12"}} {
		got := Found("You run three times a week.", numbered(fitness),
			onDisk(func(agent.Source) (string, bool) { return c.now, true }))
		if foundOf(got) != c.want || got[0].Verdict != agent.Found {
			t.Errorf("%+v, want %s", got, c.want)
		}
	}
}

// A sentence of a source in another order of words is found on its line.
func TestAnySentenceOfTheSourcesIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someSource(t, "a"), someSource(t, "b")
		at := rapid.IntRange(0, 3).Draw(t, "sentence")
		line := strings.Split(a.Text, "\n")[at]
		said := strings.Join(rapid.Permutation(strings.Fields(strings.TrimSuffix(line, "."))).Draw(t, "words"), " ") +
			"."
		got := Found(said, numbered(a, b), nil)
		if len(got) != 1 || got[0].Quote != line || got[0].N == 1 && got[0].Line != a.Line+at {
			t.Fatalf("%q: %+v", said, got)
		}
	})
}
