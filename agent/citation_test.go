package agent

import (
	"fmt"
	"strings"
	"testing"
)

var tea = Source{
	Path: "kitchen/tea.md", Line: 1, EndLine: 6, Heading: "Tea",
	Text: "# Tea\n\nSteep green tea for two minutes at 75 °C. Never use boiling water.\n\n- Black tea: four minutes\n- Drink it *without* sugar",
}

func numbered(sources ...Source) []Source {
	for i := range sources {
		sources[i].N = i + 1
	}
	return sources
}

// verdicts writes citations short: 1 verified fitness.md:12.
func verdicts(citations []Citation) string {
	var list []string
	for _, c := range citations {
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%d %s %s:%d", c.N, c.Verdict, c.Path, c.Line), " :0"))
	}
	return strings.Join(list, ", ")
}

func TestCitationsAreJudged(t *testing.T) {
	tests := map[string]struct{ answer, want string }{
		"the words of the source":              {"You run three times a week [1].", "1 verified fitness.md:12"},
		"the line of the sentence":             {"Raise the long run by 10% each week [1].", "1 verified fitness.md:13"},
		"a plural":                             {"Raise the long runs by 10 % each week. [1]", "1 verified fitness.md:13"},
		"a quotation":                          {"It says “raise the  long **run** by 10 %” [1].", "1 verified fitness.md:13"},
		"a quotation over two lines":           {"„by 10 % each week. Rest on Monday“ [1]", "1 verified fitness.md:13"},
		"a quotation with a gap":               {"\"Run three times … Sunday\" [1]", "1 verified fitness.md:12"},
		"guillemets":                           {"«Rest on Monday» [1]", "1 verified fitness.md:14"},
		"a block of quoted lines":              {"Your note says [2]:\n\n> Black tea: four minutes", "2 verified kitchen/tea.md:5"},
		"a block of quoted lines, named after": {"> Black tea: four minutes\n\n— [2]", "2 verified kitchen/tea.md:5"},
		"a marker inside the quoted lines":     {"> Black tea: four minutes [2]", "2 verified kitchen/tea.md:5"},
		"code words":                           {"`Rest on Monday` [1].", "1 verified fitness.md:14"},
		"a sentence that begins with it":       {"According to [1], rest on Monday.", "1 verified fitness.md:14"},
		"two in one sentence":                  {"Rest on Monday [1], and steep green tea for two minutes [2].", "1 verified fitness.md:14, 2 verified kitchen/tea.md:3"},
		"a range of numbers":                   {"Rest on Monday [1-2].", "1 verified fitness.md:14, 2 paraphrase kitchen/tea.md:1"},
		"brackets of other models":             {"Rest on Monday【1†fitness】.", "1 verified fitness.md:14"},
		"close to its word":                    {"Rest on Monday[1].", "1 verified fitness.md:14"},
		"a quotation in one of two sources":    {"“Rest on Monday” [1][2]", "1 verified fitness.md:14, 2 paraphrase kitchen/tea.md:1"},
		"the title in quotes":                  {"As “Running plan” has it, rest on Monday [1].", "1 verified fitness.md:14"},

		"other words":                     {"You train on three days [1].", "1 paraphrase fitness.md:12"},
		"other number in the words":       {"Raise the long run by 20 % each week [1].", "1 paraphrase fitness.md:13"},
		"other order":                     {"Three weeks: run times [1].", "1 paraphrase fitness.md:12"},
		"a not left out":                  {"Use boiling water for tea [2].", "2 paraphrase kitchen/tea.md:3"},
		"a without left out":              {"Drink it with sugar [2].", "2 paraphrase kitchen/tea.md:6"},
		"the other source's words":        {"Rest on Monday [2].", "2 paraphrase kitchen/tea.md:1"},
		"far apart in the source":         {"Run on Monday [1].", "1 paraphrase fitness.md:14"},
		"no such source":                  {"Rest on Monday [7].", "7 not_found"},
		"zero":                            {"Rest on Monday [0].", "0 not_found"},
		"a quotation that is not in it":   {"“Rest on Tuesday” [1]", "1 not_found fitness.md:12"},
		"a quotation stitched from two":   {"“Rest on Monday. Black tea: four minutes” [1][2]", "1 not_found fitness.md:14, 2 not_found kitchen/tea.md:5"},
		"a quotation with words left out": {"“Drink it sugar” [2]", "2 not_found kitchen/tea.md:6"},
		"one of two quotations is not it": {"“Rest on Monday” and “run daily” [1].", "1 not_found fitness.md:14"},
		"a quotation of the other source": {"“Rest on Monday” [2].", "2 not_found kitchen/tea.md:1"},

		"a link":            {"See [1](https://example.org).", ""},
		"a footnote":        {"Rest[^1].\n\n[^1]: fitness", ""},
		"an index":          {"arr[1] is the second item, x[1] = 3.", ""},
		"an index in code":  {"Use `week[1]`.\n\n```go\nweek [1]\n```", ""},
		"a link definition": {"[1]: https://example.org", ""},
		"a year":            {"It happened [2024].", ""},
		"a task":            {"- [ ] run\n- [x] rest", ""},
		"nothing":           {"", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := verdicts(CheckCitations(tc.answer, numbered(fitness, tea), nil))
			if got != tc.want {
				t.Errorf("%q\n got %s\nwant %s", tc.answer, got, tc.want)
			}
		})
	}
}
