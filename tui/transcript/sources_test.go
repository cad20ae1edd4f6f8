package transcript

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/tui/draw"
)

// cite adds a citation to those that are shown.
func cite(s *Sources, c agent.Citation, from agent.Source) {
	var list []chat.Cited
	for _, have := range s.List {
		list = append(list, chat.Cited(have))
	}
	s.Show(chat.Cite(list, c, from))
}

func TestAPageAmongTheSourcesIsALink(t *testing.T) {
	for address, want := range map[string]struct{ link, shown string }{
		"https://tips.example/marathon?week=1": {
			"https://tips.example/marathon?week=1",
			"https://tips.example/marathon?week=1",
		},
		"https://tips.example/\x1b]0;title\a": {"https://tips.example/", "https://tips.example/"},
		"https://t\u0456ps.example/":          {"", "https://xn--tps-jhd.example/"}, // a Cyrillic letter
		"https://accounts.google.com.tips.example/login": {
			"https://accounts.google.com.tips.example/login",
			"https://accounts.google.com.tips.example/login",
		},
		"https://accounts.google.com@evil.example/login": {"", "not a web page: evil.example"},
		"https://tips.example/\u202egpj.harmles": {
			"https://tips.example/gpj.harmles",
			"https://tips.example/gpj.harmles",
		},
		"running.md": {"", "running.md:3"},
	} {
		s := NewSources("")
		cite(s, agent.Citation{N: 1, Path: address, Line: 3, Verdict: agent.Verified, Sentence: "Rest."},
			agent.Source{N: 1, Path: address, Heading: "Tips"})
		for _, width := range []int{100, 30} {
			line := s.Render(width, draw.NewTheme("", true, false, nil))[0]
			opened, closed := strings.Count(line, "\x1b]8;;http"), strings.Count(line, "\x1b]8;;\a")
			if opened != closed || (want.link != "") != strings.Contains(line, "\x1b]8;;"+want.link+"\a") {
				t.Errorf("%q: the line is %q", address, line)
			}
			if got := ansi.Strip(line); width == 100 && !strings.Contains(got, want.shown) ||
				draw.Width(line) > width || strings.Contains(line, "\x1b]0") {
				t.Errorf("%q reads %q", address, got)
			} else if want.link != "" && !strings.Contains(got, "tips.example") {
				t.Errorf("%q is cut to %q", address, got)
			}
		}
	}
}

func TestQuotationWithoutNumberIsNamedByWords(t *testing.T) {
	s := NewSources("")
	cite(s, agent.Citation{
		N: 1, Path: "running.md", Line: 3, Verdict: agent.Verified,
		Words: "The long run is on Sunday, and then there is the rest",
	}, agent.Source{N: 1, Path: "running.md"})
	cite(s, agent.Citation{Words: "Run in the \x1b[31mrain\nonly", Verdict: agent.NotFound}, agent.Source{})
	cite(s, agent.Citation{Words: "Run without any shoes", Verdict: agent.NotFound}, agent.Source{})
	s.choose(0)
	var got []string
	for _, line := range s.Render(70, draw.NewTheme("", true, false, nil)) {
		got = append(got, strings.TrimSpace(ansi.Strip(line)))
	}
	want := []string{
		"› “Run in the rain only”  ✗ not in the sources",
		"“Run without any shoes”  ✗ not in the sources",
		"“The long run is on Sunday, and …” running.md:3  ✓ quoted",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// What the model says of citations replaces what stood there, next to its
// source, and is no sign in the answer.
// What the program found for a sentence is shown with its number and its line,
// without a verdict.
func TestFoundSourceIsShownWithoutAVerdict(t *testing.T) {
	theme := draw.NewTheme("", true, false, nil)
	const said = "You run three times a week. Rest on Monday."
	a := NewAnswer()
	a.Grow(said)
	found := agent.Citation{
		N: 2, Path: "running.md", Line: 3, Verdict: agent.Found,
		Sentence: "You run three times a week.", At: len("You run three times a week."),
	}
	if !a.Judge(found) {
		t.Error("it is not shown")
	}
	if got := ansi.Strip(strings.Join(a.Render(80, theme), "\n")); !strings.Contains(got,
		"You run three times a week. [2] Rest on Monday.") {
		t.Errorf("the answer reads %q", got)
	}
	s := NewSources("")
	cite(s, found, agent.Source{N: 2, Path: "running.md", Vault: "/vault"})
	if got := strings.TrimSpace(ansi.Strip(s.Render(80, theme)[0])); got != "[2] running.md:3" {
		t.Errorf("the source reads %q", got)
	}
	if path, line, problem := s.List[0].Note(); line != 3 || problem != "" || !strings.HasSuffix(path, "running.md") {
		t.Errorf("it opens %s:%d, %s", path, line, problem)
	}
}

// Two places in one note with a long name differ by their lines only.
func TestTruncatedLocationShowsItsLine(t *testing.T) {
	s := NewSources("")
	for _, line := range []int{4, 121} {
		cite(s, agent.Citation{
			N: 1, Path: "git/undo-latest-changes-committed-to-specific-file.md", Line: line,
			Verdict: agent.Verified,
		}, agent.Source{N: 1})
	}
	for _, chosen := range []int{-1, 0} {
		s.choose(chosen)
		for i, line := range s.Render(60, draw.NewTheme("", true, false, nil)) {
			if got, want := ansi.Strip(line), []string{"…:4 ", "…:121 "}[i]; !strings.Contains(got+" ", want) ||
				draw.Width(line) > 60 {
				t.Errorf("chosen %d: %q lacks %q", chosen, got, want)
			}
		}
	}
}

func TestSourcePassageIsDrawnLikeANote(t *testing.T) {
	c := Cited{
		Citation: agent.Citation{N: 1, Path: "plan.md", Line: 15},
		Source: agent.Source{
			N: 1, Path: "plan.md", Line: 10,
			Text: "## Week\none\nword\neach\n\n**Ten** percent, [log](log.md)\x1b[2J\n",
		},
	}
	lines := c.passage(38, draw.NewTheme("", true, true, nil))
	shown := ansi.Strip(strings.Join(lines, "\n"))
	for _, want := range []string{"Week", "one word each", "┃ Ten percent, log"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q in\n%s", want, shown)
		}
	}
	if strings.ContainsAny(shown, "*#](\x1b") {
		t.Errorf("raw:\n%s", shown)
	}
}
