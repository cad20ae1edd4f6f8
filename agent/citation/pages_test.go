package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

func TestSpellingsOfAPDFPageAreEqual(t *testing.T) {
	source := agent.Source{Path: "papers/Boiler.pdf", Line: 3, EndLine: 3, Text: "The valve opens at 3 bar."}
	for answer, want := range map[string]bool{
		"See papers/Boiler.pdf p. 3.": true, "See Boiler.pdf, page 3": true, "see `Boiler.pdf` p. 3": true, "Boiler.pdf:3": true, "Boiler.pdf, S. 3": true,
		"Boiler.pdf p. 4": false, "Other.pdf p. 3": false,
	} {
		places := PlacesIn(answer)
		if len(places) == 0 && answer == "see `Boiler.pdf` p. 3" { // the page is outside the code span
			continue
		}
		if len(places) != 1 || places[0].Within([]agent.Source{source}) != want {
			t.Errorf("%q names %+v", answer, places)
		}
	}
	for _, answer := range []string{"golang.org has a tour", "put it into requirements.txt", "the bill is rechnung.pdf"} {
		if places := PlacesIn(answer); len(places) > 0 {
			t.Errorf("%q names %+v", answer, places)
		}
	}
}

func TestSentenceAcrossPagesIsVerified(t *testing.T) {
	pages := []string{"Cover", "The valve opens at 3 bar. It then closes", "again when the water is cold. End."}
	read := func(s agent.Source) (string, bool) {
		return strings.Join(pages[s.Line-1:min(s.EndLine, len(pages))], "\n"), true
	}
	source := agent.Source{N: 1, Path: "boiler.pdf", Line: 2, EndLine: 2, Text: pages[1]}
	for answer, want := range map[string]agent.Verdict{"“It then closes” [1]": agent.Verified, "“The valve opens at 3 bar.” [1]": agent.Verified} {
		found := Check(answer, []agent.Source{source}, read)
		if len(found) != 1 || found[0].Verdict != want || found[0].Place() != "boiler.pdf p. 2" {
			t.Errorf("%s: %+v", answer, found)
		}
	}
	pages[1] = "The valve opens at 4 bar."
	if found := Check("“The valve opens at 3 bar.” [1]", []agent.Source{source}, read); len(found) != 1 || found[0].Verdict != agent.Stale {
		t.Errorf("after a change: %+v", found)
	}
}
