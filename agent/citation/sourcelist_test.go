package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

// A final list of sources is never shown, in whatever pieces it arrives. A list that
// says anything else is shown, and shown text is never withdrawn.
func TestFinalListOfSourcesIsRemoved(t *testing.T) {
	sources := numbered(agent.Source{Path: "running/shoes.md", Line: 3, EndLine: 7, Heading: "Shoes"}, agent.Source{Path: "tea.md", Line: 1, EndLine: 1, Heading: "Green tea"})
	const said = "You buy shoes in May [1].\n\nTea is kept dry [2]."
	for _, list := range []string{
		"\n\nSources:\n[1] running/shoes.md", "\n\nSources:\n\n[1] running/shoes.md\n[2] tea.md\n", "\n\n**Quellen**\n- [1] running/shoes.md:3-7 Shoes\n- [2] Green tea",
		"\n\n## References\n1. `running/shoes.md`\n2. [tea.md](tea.md)", "\n\n[1] running/shoes.md › Shoes", "\n\n[1][2]", "\n\n[1]: running/shoes.md\n[2]: tea.md",
	} {
		for size := range 9 {
			if got := inPieces(said+list, size+1, sources); got != said {
				t.Errorf("%q in pieces of %d is shown: %q", list, size+1, got)
			}
		}
	}
	for _, answer := range []string{
		said + "\n\nSources:\n[1] running/shoes.md says more than that.", said + "\n\n[3] other.md", said + "\n\nBuy:\n- bread\n- tea\n",
		"Your notes on tea are:\n\n- tea.md [2]", "You have [1].\n\n[1][2]", "You have [1].\n\nMore about it:\n- tea.md [2]", said + "\n\nSources:\n[1] running/shoes.md\n\nSo buy them.",
		"Sources:\n[1] running/shoes.md", said + "\n\nBoth [1][2] are yours.", said + "\n\nSources:",
	} {
		for size := range 9 {
			if got := inPieces(answer, size+1, sources); got != answer {
				t.Errorf("of %q in pieces of %d is shown: %q", answer, size+1, got)
			}
		}
	}
}

func inPieces(answer string, size int, sources []agent.Source) string {
	var l SourceList
	var shown strings.Builder
	for len(answer) > 0 {
		n := min(size, len(answer))
		shown.WriteString(l.Add(answer[:n], sources))
		answer = answer[n:]
	}
	shown.WriteString(l.End(sources, true))
	return shown.String()
}
