package passages

import (
	"regexp"
	"strings"
	"testing"

	"lifehub/agent"
)

// A note's text cannot break the Markdown around it.
func TestTextCannotBreakTheListAroundIt(t *testing.T) {
	for s, want := range map[string]string{
		"see [12] and [1, 2] there":            "see (12) and (1, 2) there",
		"look ![x](http://evil.example/p) now": "look … now",
		"<script>alert(1)</script> water":      "alert(1) … water",
		"``` water":                            "water",
		"a\nb\tc \x1b[31m red":                 "a b c [31m red",
		"[1]":                                  "(1)",
		"on [[2026-12-04]], [[12]] and [2026-12-04] 【1†line 2026】": "on [[2026-12-04]], [[12]] and [2026-12-04] (1)",
		"as in [[1]](a.md)": "as in [(1)](a.md)",
		"***":               "",
		`ends with \`:       "ends with",
		"Repaired: ![[receipt.png]], ![a photo](x.png) of it": "Repaired: [[receipt.png]], … of it",
	} {
		if got := Inline(s, nil); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
	if long := Inline(strings.Repeat("wörter und mehr ", 100), nil); len(long) > maxShown+8 ||
		!strings.HasSuffix(long, " …") {
		t.Errorf("a long one became %d bytes, ending %q", len(long), long[len(long)-10:])
	}
	if got := fenced("```\nrm -rf\n```"); !strings.HasPrefix(got, "````\n") || !strings.HasSuffix(got, "\n````") {
		t.Errorf("code with a fence: got %s", got)
	}
}

func TestWordsAreHighlightedOutsideMarkup(t *testing.T) {
	for s, want := range map[string]string{
		"I run, and run on":               "I **run**, and **run** on",
		"prune the runner":                "prune the runner",
		"`run` and [run](run.md) run":     "`run` and [**run**](run.md) **run**",
		"**run** and *run* [[run]]":       "**run** and *run* [[run]]",
		"see https://x.example/run 2 run": "see https://x.example/run 2 **run**",
		"5 * run":                         "5 * run",
		"我每周跑步三次":                         "我每周**跑步三**次",
	} {
		if got := highlight(s, []string{"run", "跑步", "步三"}); got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}

func TestBlocksAreQuoted(t *testing.T) {
	source := func(text string) agent.Source { return agent.Source{Path: "a.md", Line: 3, Text: text} }
	for name, c := range map[string]struct {
		block   agent.Block
		heading string
		want    string
	}{
		"a paragraph":     {agent.Block{Source: source("One line,\ntwo lines.")}, "", "> One line, two lines."},
		"under a heading": {agent.Block{Source: source("- An *item*.")}, "A › *B*", "> *A › B* · An *item*."},
		"an item":         {agent.Block{Source: source("3. Third"), Lead: "Steps:"}, "", "> Steps:\n> - 3. Third"},
		"a task":          {agent.Block{Source: source("- [ ] call"), Lead: "- Home"}, "", "> Home\n> - [ ] call"},
		"a row": {
			agent.Block{Source: source("| Kite | 96 \\| 97 |"), Lead: "| shoe | km |"},
			"",
			"> shoe: Kite · km: 96 | 97",
		},
		"a callout": {
			agent.Block{Source: source("> [!tip] Better cold.\n> Much.")},
			"", "> Better cold. Much.",
		},
		"code": {
			agent.Block{Source: source("make all"), Lead: "Run:", Code: true},
			"",
			"> Run:\n>\n> ```\n> make all\n> ```",
		},
		"a text like a title": {agent.Block{Source: source("# no title")}, "", `> \# no title`},
		"no word":             {agent.Block{Source: source("* * *")}, "", ""},
	} {
		got, end := blockMarkdown(c.block, c.heading, false, false)
		if text, _, _ := strings.Cut(c.want, "\n>\n"); got != c.want || got[:end] != text {
			t.Errorf("%s: got %q to %d, want %q", name, got, end, c.want)
		}
	}
}

var citedNumber = regexp.MustCompile(`\[(\d+)\]`)

// FuzzList: whatever the notes hold, a list has no numbers of citations, and each
// citation ends with a line.
func FuzzList(f *testing.F) {
	for _, s := range []string{
		"Flour and water.\n\n- 500 g flour [7]", "```\n[9]\n```", "| a | [3] |", "> [!x] 【4†a】",
		"***a** [1", "- [x](y) [[z]] <b>",
	} {
		f.Add(s, "water", "- [8] parent")
	}
	f.Fuzz(func(t *testing.T, text, word, lead string) {
		s := agent.Source{N: 1, Path: "a.md", Line: 1, EndLine: 1 + strings.Count(text, "\n"), Text: text}
		list, shown := List{
			Opening: NoModel, Sources: []agent.Source{s},
			Calls: []Call{{Step: "1", Tool: agent.SearchNotes, Status: agent.Done, Result: agent.Result{
				Searched: true, Sources: []agent.Source{s}, Passages: []agent.Passage{{Blocks: []agent.Block{{
					Source: s,
					Lead:   lead, Words: []string{word},
				}, {Source: s, Code: true}}, Show: 2}},
			}}},
		}.Write()
		outside := fencedCode.ReplaceAllString(list, "")
		if m := citedNumber.FindString(outside); m != "" {
			t.Fatalf("cites %s in\n%s", m, list)
		}
		for _, c := range shown {
			if c.N != 1 || c.At < len(list) && list[c.At] != '\n' {
				t.Fatalf("a citation ends at %d of\n%s", c.At, list)
			}
		}
	})
}

var fencedCode = regexp.MustCompile("(?s)\n> (`{3,})\n.*?\n> (`{3,})(\n|$)")
