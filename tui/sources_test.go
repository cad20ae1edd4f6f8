package tui

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"lifehub/agent"
)

func TestAPageAmongTheSourcesIsALink(t *testing.T) {
	for address, want := range map[string]struct{ link, shown string }{
		"https://tips.example/marathon?week=1":   {"https://tips.example/marathon?week=1", "https://tips.example/marathon?week=1"},
		"https://tips.example/\x1b]0;title\a":    {"https://tips.example/", "https://tips.example/"},
		"https://t\u0456ps.example/":             {"", "ps.example/"}, // a Cyrillic letter
		"https://tips.example/\u202egpj.harmles": {"https://tips.example/gpj.harmles", "https://tips.example/gpj.harmles"},
		"running.md":                             {"", "running.md:3"},
	} {
		s := newSources("")
		s.add(agent.Citation{N: 1, Path: address, Line: 3, Verdict: agent.Verified}, agent.Source{N: 1, Path: address, Heading: "Tips"})
		for _, width := range []int{100, 30} {
			line := s.render(width, newTheme("", true, false, nil))[1]
			opened, closed := strings.Count(line, "\x1b]8;;http"), strings.Count(line, "\x1b]8;;\a")
			if opened != closed || (want.link != "") != strings.Contains(line, "\x1b]8;;"+want.link+"\a"+"http") {
				t.Errorf("%q: the line is %q", address, line)
			}
			if got := ansi.Strip(line); width == 100 && !strings.Contains(got, want.shown) || cells(line) > width || strings.Contains(line, "\x1b]0") {
				t.Errorf("%q reads %q", address, got)
			}
		}
	}
}
