package citation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lifehub/agent"
)

var fitness = agent.Source{
	Path: "fitness.md", Vault: "/vault", Line: 12, EndLine: 14, Heading: "Running › Plan", Score: 0.8,
	Text: "Run three times a week: Tuesday, Thursday, Sunday.\nRaise the long run by 10 % each week.\nRest on Monday.",
}

var tea = agent.Source{
	Path: "kitchen/tea.md", Line: 1, EndLine: 6, Heading: "Tea",
	Text: "# Tea\n\nSteep green tea for two minutes at 75 °C. Never use boiling water.\n\n- Black tea: four " +
		"minutes\n- Drink it *without* sugar",
}

// onDisk reads a source again.
type onDisk func(agent.Source) (string, bool)

func (read onDisk) Reread(s agent.Source) (string, bool) { return read(s) }

func numbered(sources ...agent.Source) []agent.Source {
	for i := range sources {
		sources[i].N = i + 1
	}
	return sources
}

// verdicts formats citations: "1 verified fitness.md:12".
func verdicts(citations []agent.Citation) string {
	var list []string
	for _, c := range citations {
		list = append(list, strings.TrimSuffix(fmt.Sprintf("%d %s %s:%d", c.N, c.Verdict, c.Path, c.Line), " :0"))
	}
	return strings.Join(list, ", ")
}

func TestCitationsAreJudged(t *testing.T) {
	tests := map[string]struct{ answer, want string }{
		"the words of the source": {"You run three times a week [1].", "1 cited fitness.md:12"},
		"the line of the sentence": {
			"Raise the long run by 10% each week [1].",
			"1 verified fitness.md:13",
		},
		"a plural": {"Raise the long runs by 10 % each week. [1]", "1 cited fitness.md:13"},
		"a quotation": {
			"It says “raise the  long **run** by 10 %” [1].",
			"1 verified fitness.md:13",
		},
		"a quotation over two lines": {"„by 10 % each week. Rest on Monday“ [1]", "1 verified fitness.md:13"},
		"a quotation with a gap":     {"\"Run three times … Sunday\" [1]", "1 verified fitness.md:12"},
		"guillemets":                 {"«Rest on Monday» [1]", "1 verified fitness.md:14"},
		"a block of quoted lines": {
			"Your note says [2]:\n\n> Black tea: four minutes",
			"2 verified kitchen/tea.md:5",
		},
		"a block of quoted lines, named after": {"> Black tea: four minutes\n\n— [2]", "2 verified kitchen/tea.md:5"},
		"a marker inside the quoted lines":     {"> Black tea: four minutes [2]", "2 verified kitchen/tea.md:5"},
		"code words":                           {"`Rest on Monday` [1].", "1 verified fitness.md:14"},
		"a sentence that begins with it":       {"According to [1], rest on Monday.", "1 cited fitness.md:14"},
		"two in one sentence":                  {"Rest on Monday [1], and steep green tea for two minutes at 75 °C [2].", "1 cited fitness.md:14, 2 cited kitchen/tea.md:3"},
		"a range of numbers": {
			"Rest on Monday [1-2].",
			"1 verified fitness.md:14, 2 cited kitchen/tea.md:1",
		},
		"brackets of other models": {"Rest on Monday【1†fitness】.", "1 verified fitness.md:14"},
		"close to its word":        {"Rest on Monday[1].", "1 verified fitness.md:14"},
		"a footnote":               {"Rest on Monday[^1].\n\n[^1]: fitness", "1 verified fitness.md:14"},
		"a link of a number":       {"Rest on Monday [[1]](fitness.md).", "1 verified fitness.md:14"},
		"in a line of its own":     {"Rest on Monday.\n[1]", "1 verified fitness.md:14"},
		"in a cell of its own":     {"| Rest on Monday | [1] |", "1 verified fitness.md:14"},
		"a number of no source":    {"“Rest on Monday and more” [7].", "0 not_found"},
		"a quotation in one of two sources": {
			"“Rest on Monday” [1][2]",
			"1 verified fitness.md:14, 2 cited kitchen/tea.md:1",
		},
		"the title in quotes": {
			"As “Running plan” has it, rest on Monday [1].",
			"1 cited fitness.md:14",
		},

		"other words":                   {"You train on three days [1].", "1 cited fitness.md:12"},
		"other number in the words":     {"Raise the long run by 20 % each week [1].", "1 cited fitness.md:13"},
		"other order":                   {"Three weeks: run times [1].", "1 cited fitness.md:12"},
		"a not left out":                {"Use boiling water for tea [2].", "2 cited kitchen/tea.md:3"},
		"a without left out":            {"Drink it with sugar [2].", "2 cited kitchen/tea.md:6"},
		"the other source's words":      {"Rest on Monday [2].", "2 cited kitchen/tea.md:1"},
		"far apart in the source":       {"Run on Monday [1].", "1 cited fitness.md:14"},
		"a quotation that is not in it": {"“Rest only on Tuesday” [1]", "1 not_found fitness.md:12"},
		"a quotation stitched from two": {
			"“Rest on Monday. Black tea: four minutes” [1][2]",
			"1 not_found fitness.md:14, 2 not_found kitchen/tea.md:5",
		},
		"a quotation with words left out": {"“Drink it sugar free” [2]", "2 not_found kitchen/tea.md:6"},
		"one of two quotations is not it": {
			"“Rest on Monday” and “run daily before breakfast” [1].",
			"1 not_found fitness.md:14",
		},
		"a quotation of the other source": {"“Raise the long run” [2].", "2 not_found kitchen/tea.md:1"},
		"a term":                          {"“Rest on Tuesday” [1]", "1 cited fitness.md:12"},

		"a link":            {"See [1](https://example.org).", ""},
		"no such source":    {"Rest on Monday [7].", ""},
		"zero":              {"Rest on Monday [0].", ""},
		"one of no source":  {"Rest on Monday [1, 7].", ""},
		"an expression":     {"It matches [0-9]+.", ""},
		"an index":          {"Then x[1] = 3.", ""},
		"a list of sources": {"Sources:\n[1] fitness.md\n\n- [2] tea.md\n- [^1]: fitness", ""},
		"an index in code":  {"Use `week[1]`.\n\n```go\nweek [1]\n```", ""},
		"a link definition": {"[1]: https://example.org", ""},
		"a year":            {"It happened [2024].", ""},
		"a task":            {"- [ ] run\n- [x] rest", ""},
		"nothing":           {"", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := verdicts(Check(tc.answer, numbered(fitness, tea), nil))
			if got != tc.want {
				t.Errorf("%q\n got %s\nwant %s", tc.answer, got, tc.want)
			}
		})
	}
}

func TestChangedSourceIsStale(t *testing.T) {
	const moved = "New first line.\nRun three times a week: Tuesday, Thursday, Sunday.\nRest on Monday."
	tests := map[string]struct {
		answer, now string
		gone        bool
		want        string
	}{
		"unchanged":          {"“Rest on Monday” [1].", fitness.Text, false, "1 verified fitness.md:14"},
		"moved in the lines": {"“Run three times a week” [1].", moved, false, "1 verified fitness.md:13"},
		"reworded":           {"Raise the long run by 10 % each week [1].", moved, false, "1 stale fitness.md:13"},
		"paraphrase of it":   {"Add to the long run [1].", moved, false, "1 stale fitness.md:13"},
		"gone":               {"Rest on Monday [1].", "", true, "1 stale fitness.md:14"},
		"never there":        {"“Rest on each long Sunday” [1].", moved, false, "1 not_found fitness.md:13"},
		"forged":             {"Rest [9].", moved, false, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			reread := onDisk(func(s agent.Source) (string, bool) {
				return strings.Repeat("\n", 11) + cmp.Or(tc.now, s.Text), !tc.gone
			})
			if got := verdicts(Check(tc.answer, numbered(fitness, tea), reread)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestOtherScriptsAreCompared(t *testing.T) {
	source := agent.Source{
		Path: "notes.md", Line: 1, EndLine: 6,
		Text: "我每周跑步三次，星期天休息。不要空腹跑步。\n\nDer Zug nach Köln fährt um 7:45 Uhr ab.\nReserviere zwei " +
			"Plätze.\n\nCafe\u0301 am Eck hat montags zu.",
	}
	tests := map[string]struct{ answer, want string }{
		"Chinese":           {"你每周跑步三次[1]。", "1 cited notes.md:1"},
		"Chinese words":     {"“每周跑步三次”[1]。", "1 verified notes.md:1"},
		"Chinese quotation": {"「星期天休息」[1]", "1 verified notes.md:1"},
		"a not left out":    {"要空腹跑步[1]。", "1 cited notes.md:1"},
		"German":            {"Laut Notiz fährt der Zug nach Köln um 7:45 Uhr ab [1].", "1 cited notes.md:3"},
		"German quotation":  {"„Der Zug nach Köln fährt um 7:45 Uhr ab.“ [1]", "1 verified notes.md:3"},
		"another time":      {"Der Zug nach Köln fährt um 7:54 Uhr ab [1].", "1 cited notes.md:3"},
		"composed accents":  {"“Café am Eck hat montags zu” [1]", "1 verified notes.md:6"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := verdicts(Check(tc.answer, numbered(source), nil)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// someSentences are the sentences from which the notes of the property tests are made.
var someSentences = []string{
	"Run three times a week, on Tuesday, Thursday and Sunday.", "Raise the long run by 10 % each week.",
	"Rest on Monday and sleep eight hours.", "The train to Lisbon leaves at 7:45 from platform 9.",
	"Green tea steeps two minutes at 75 °C.", "Never pour boiling water over green tea.",
	"The boiler was serviced by Anna on 3 May 2025.", "Call the landlord before the lease ends in October.",
	"If it rains, move the picnic to the barn.", "The password of the router is written below the desk.",
	"Bob lent the drill to Carla.", "Carla lent the ladder to Bob.", "Do not prune the apple tree in autumn.",
}

func someSource(t *rapid.T, label string) agent.Source {
	picked := rapid.Permutation(someSentences).Draw(t, label)[:4]
	line := rapid.IntRange(1, 500).Draw(t, label+" line")
	return agent.Source{Path: label + ".md", Line: line, EndLine: line + 3, Text: strings.Join(picked, "\n")}
}

// A sentence of a source, cited with its number, is verified on its line. With a
// changed word, the number of another source, or an unknown number it is never
// verified.
func TestNoFalseCitationIsVerified(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := someSource(t, "a"), someSource(t, "b")
		b.Text = strings.Join(slices.DeleteFunc(strings.Split(b.Text, "\n"),
			func(s string) bool { return strings.Contains(a.Text, s) }), "\n")
		sources := numbered(a, b)
		lines := strings.Split(a.Text, "\n")
		at := rapid.IntRange(0, 3).Draw(t, "sentence")
		sentence := strings.TrimSuffix(lines[at], ".")
		judge := func(answer string, want bool) {
			for _, c := range Check(answer, sources, nil) {
				if (c.Verdict == agent.Verified) != want {
					t.Fatalf("%q is %s; the source:\n%s", answer, c.Verdict, a.Text)
				}
				if want && (c.Line != a.Line+at || c.Quote != lines[at]) {
					t.Fatalf("%q stands in line %d, %q", answer, c.Line, c.Quote)
				}
			}
		}
		judge("“"+sentence+"” [1]", true)
		judge("> "+sentence+" [1]", true)

		words := strings.Fields(sentence)
		i := rapid.IntRange(0, len(words)-1).Draw(t, "word")
		words[i] = rapid.SampledFrom([]string{"zebra", "1999", "blue"}).Draw(t, "instead")
		changed := strings.Join(words, " ")
		judge("“"+changed+"” [1]", false)
		judge("“"+sentence+"” [2].", false)
		if b.Text != "" {
			judge("“"+sentence+". "+strings.Split(b.Text, "\n")[0]+"” [1][2]", false)
		}
		for _, other := range someSentences {
			if !strings.Contains(a.Text, other) {
				judge("“"+other+"” [1]", false)
			}
		}
	})
}

func TestHostileAnswersAreCheckedInTime(t *testing.T) {
	long := agent.Source{
		Path: "long.md", Line: 1, EndLine: 500,
		Text: strings.Repeat("The quick brown fox jumps over the lazy dog. ", 700),
	}
	var lone strings.Builder
	for n := range 100 {
		fmt.Fprintf(&lone, "“The quick brown fox jumps over dog %d” ", n)
	}
	for name, answer := range map[string]string{
		"lone quotes":        lone.String(),
		"lone quotes, true":  strings.Repeat("“The quick brown fox jumps” ", 2_000),
		"blank lines":        strings.Repeat("“quick brown” [1]"+strings.Repeat("\n", 2_000), 20),
		"many markers":       strings.Repeat("quick brown fox [1] ", 100),
		"one long sentence":  strings.Repeat("brown ", 2_000) + "[1]" + strings.Repeat(" [1] x", 100),
		"markers in a row":   strings.Repeat("[1]", 10_000),
		"a wide range":       strings.Repeat("fox [1-99999] ", 100),
		"quotes":             strings.Repeat("“quick brown” ", 5000) + "[1]",
		"quotes and markers": strings.Repeat("“quick brown” [1] ", 100),
		"quoted lines":       strings.Repeat("> quick brown fox [1]\n", 100),
		"open quotes":        strings.Repeat("“ ", 2_000) + "[1]",
		"backticks":          strings.Repeat("`", 50_001) + "[1]",
		"brackets":           strings.Repeat("[", 50_000) + "1]",
		"links":              strings.Repeat("](", 50_000) + "[1]",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			Check(answer, numbered(long), nil)
			// at most half a second, except the race detector under other load
			if took := time.Since(start); took > 30*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func FuzzCitations(f *testing.F) {
	f.Add("Run “three times” a week [1], rest [2].\n\n> quote\n\n— [1]",
		"Run three times a week.\n\n- Rest\n```\ncode [1]\n```")
	f.Add("[1][2] [1-3] 【1†x】 [[1]] [1](x) `[1]`", "# A\n| a | b |\n[[a|b]] [c](d)")
	f.Fuzz(func(t *testing.T, answer, text string) {
		source := agent.Source{
			Path: "a.md", Line: 10, EndLine: 10 + strings.Count(strings.TrimRight(text, "\n"), "\n"),
			Text: text,
		}
		for _, c := range Check(answer, numbered(source), onDisk(func(agent.Source) (string,
			bool,
		) {
			return strings.Repeat("\n", 9) + text, true
		})) {
			switch {
			case c.N != 1 && c.N != 0:
				t.Fatalf("source %d was never given: %+v", c.N, c)
			case c.N != 1:
			case c.Line < source.Line || c.EndLine < c.Line || c.EndLine > source.EndLine:
				t.Fatalf("lines %d to %d of %d to %d", c.Line, c.EndLine, source.Line, source.EndLine)
			case c.Verdict == agent.Stale:
				t.Fatalf("stale, but the text is the same: %+v", c)
			case c.Verdict == agent.Verified && c.Quote == "":
				t.Fatalf("verified by nothing: %+v", c)
			case len(c.Quote) < 2000 && !strings.Contains(text, c.Quote):
				t.Fatalf("quote %q is not in the source", c.Quote)
			}
		}
	})
}

// A quotation with the number of another source names the one that it is in.
func TestQuotationOfAnotherSourceNamesIt(t *testing.T) {
	for answer, want := range map[string]string{
		"“Raise the long run by 10 %” [2].":                                   "not in [2], but in [1]",
		"“Steep green tea for two minutes” and “Rest on each Tuesday” [1].":   "",
		"“Raise the long run by 20 %” [2].":                                   "",
		"“Steep green tea for two minutes” and “Never use boiling water” [1]": "not in [1], but in [2]",
	} {
		got := Check(answer, numbered(fitness, tea), nil)
		if len(got) != 1 || got[0].Verdict != agent.NotFound || got[0].Detail != want {
			t.Errorf("%q is %+v, want %q", answer, got, want)
		}
	}
}

func TestWebPageIsCitedAsItWasRead(t *testing.T) {
	page := agent.Source{
		Path: "https://tips.example/marathon", Line: 3, EndLine: 4, Heading: "Marathon › Long runs",
		Text: "Long runs make up a third of the week.\nDrink early.", Untrusted: true,
	}
	hit := agent.Source{Path: "https://gear.example/", Heading: "Shoes", Text: "Change shoes after 800 kilometres."}
	noSuchNote := onDisk(func(agent.Source) (string, bool) { return "", false })
	citations := Check("“Drink early.” [1] “Change shoes after 800 kilometres” [2].", numbered(page, hit), noSuchNote)
	if len(citations) != 2 || citations[0].Verdict != agent.Verified || citations[1].Verdict != agent.Verified {
		t.Fatalf("got %+v", citations)
	}
	for i, want := range []string{"https://tips.example/marathon", "https://gear.example/"} {
		if got := citations[i].Place(); got != want {
			t.Errorf("its place is %s, want %s", got, want)
		}
	}
	if got := page.Title(); got != "https://tips.example/marathon Marathon › Long runs" {
		t.Errorf("its title is %s", got)
	}
	if got := (agent.Citation{Path: "note.md", Line: 3}).Place(); got != "note.md:3" {
		t.Errorf("a note's place is %s", got)
	}
}
