package citation

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lifehub/agent"
)

// formsOf returns the ways to write a citation of numbers.
func formsOf(numbers []int) []string {
	list := strings.Trim(strings.Join(strings.Fields(fmt.Sprint(numbers)), ", "), "[]")
	return []string{
		"[" + list + "]", "【" + list + "】", "【" + list + "†note】", "［" + list + "］", "[^" + list + "]",
		"[[" + list + "]](note.md)",
		"[source " + list + "]", "[" + strings.ReplaceAll(list, ", ", "][") + "]",
	}
}

// Citations in any form, after words, quotations and what ends them, come back
// with their numbers in order. Other brackets are text.
func TestCitationsComeBack(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"Rest on Monday", "“Rest on Monday”", "„Montag ist frei.“", "*Rest* on **Monday**", "10 %", "Rest (on Monday)",
		"每周跑步三次", "Rest.", "Rest:", "C++", "`x`",
		"- [x] Rest", "3. Rest", "> Rest on Monday", "| Rest |", "# Rest",
	})
	others := rapid.SampledFrom([]string{
		"[9]", "[0]", "[0-9]+", "[2024]", "[ ]", "[x]", "[a, 1]", "[1](note.md)", "[[1]]", "[^9]", "`a[1]`", "a[1] = 2",
		"[2026-01-03]", "【9】", "[1.5]", "[-1]",
		"\n\nSources:\n\n[1] note.md", "\n\nSources:\n- [1] note.md", "\n\nNotes:\n\n[^1]: note.md",
		"\n```\na [1]\n```\n", "[1, 9]", "\n\nSources:\n[1] note.md", "([link][1])",
	})
	rapid.Check(t, func(t *rapid.T) {
		var answer strings.Builder
		var want [][]int
		for range rapid.IntRange(1, 5).Draw(t, "lines") {
			answer.WriteString(words.Draw(t, "words"))
			if rapid.Bool().Draw(t, "cites") {
				numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 4), 1, 3, rapid.ID[int]).Draw(t, "numbers")
				answer.WriteString(rapid.SampledFrom([]string{"", " ", " ("}).Draw(t,
					"space") + rapid.SampledFrom(formsOf(numbers)).Draw(t, "form"))
				want = append(want, numbers)
				answer.WriteString(rapid.SampledFrom([]string{".", " and more", ", so", ""}).Draw(t, "after"))
			} else {
				answer.WriteString(" is " + others.Draw(t, "other"))
			}
			answer.WriteString("\n\n")
		}
		var got [][]int
		for _, m := range markersIn(answer.String(), func(n int) bool { return n >= 1 && n <= 4 }) {
			got = append(got, m.numbers)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%q has %v, want %v", answer.String(), got, want)
		}
		if got := markersIn(answer.String(), func(int) bool { return false }); got != nil {
			t.Fatalf("%q has %v without sources", answer.String(), got)
		}
	})
}

func FuzzCitationForms(f *testing.F) {
	f.Add("Run three times [1], rest [[2]](tea.md).\n\n> tea\n\n— [^2]", 2)
	f.Add("[1][2] 【1†x】［1］ [1-99999] `[1]` [1](x) x[1] = 2", 3)
	f.Fuzz(func(t *testing.T, answer string, most int) {
		end := 0
		for _, m := range markersIn(answer, func(n int) bool { return n >= 1 && n <= most }) {
			if m.Span.Start < end || m.Span.End <= m.Span.Start || m.Span.End > len(answer) || len(m.numbers) == 0 {
				t.Fatalf("%q has %+v after %d", answer, m, end)
			}
			for _, n := range m.numbers {
				if n < 1 || n > most {
					t.Fatalf("%q cites %d of %d", answer, n, most)
				}
			}
			end = m.Span.End
		}
	})
}

// request is what a user said.
type request string

func (r request) Has(words string) bool { return words == string(r) }

func TestQuotationOfTheUserIsNotACitation(t *testing.T) {
	note := []agent.Source{{N: 1, Path: "tasks.md", Line: 1, EndLine: 1, Text: "Physio is on Friday. Never skip it."}}
	for answer, want := range map[string]agent.Verdict{
		"You asked to “book the physio”: it is on Friday [1].": agent.Cites,
		"“book the dentist, too”: it is on Friday [1].":        agent.NotFound,
		"You said “Physio is on Friday.” [1]":                  agent.Verified,
	} {
		if got := CheckExcept(answer, note, nil, request("book the physio")); len(got) != 1 || got[0].Verdict != want {
			t.Errorf("%s: got %+v, want %s", answer, got, want)
		}
	}
}

func TestWithPathsReplacesNumbersByPaths(t *testing.T) {
	sources := []agent.Source{
		{N: 1, Path: "a.md"},
		{N: 2, Path: "b.md"},
		{N: 3, Path: "weather", Call: "s1"},
		{N: 4, Path: "https://x.example/"},
	}
	const answer = "On Sunday [1][2], dry [3]. So [[1]](a.md). A page [4] adds it\nas a list [3]\n\nNot `x[1]`."
	if got, want := WithPaths(answer, sources), "On Sunday (a.md, b.md), dry. So (a.md). A page adds it\nas a "+
		"list\n\nNot `x[1]`."; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
