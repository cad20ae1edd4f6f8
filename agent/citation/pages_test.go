package citation

import (
	"strings"
	"testing"

	"lifehub/agent"
)

func TestSpellingsOfAPDFPageAreEqual(t *testing.T) {
	source := agent.Source{Path: "papers/Boiler.pdf", Line: 3, EndLine: 3, Text: "The valve opens at 3 bar."}
	for answer, want := range map[string]bool{
		"See papers/Boiler.pdf p. 3.": true, "See Boiler.pdf, page 3": true, "see `Boiler.pdf` p. 3": true,
		"Boiler.pdf:3": true, "Boiler.pdf, S. 3": true,
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
	for _, answer := range []string{
		"golang.org has a tour", "put it into requirements.txt",
		"the bill is rechnung.pdf",
	} {
		if places := PlacesIn(answer); len(places) > 0 {
			t.Errorf("%q names %+v", answer, places)
		}
	}
}

func TestSentenceAcrossPagesIsVerified(t *testing.T) {
	pages := []string{"Cover", "The valve opens at 3 bar. It then closes", "again when the water is cold. End."}
	read := onDisk(func(s agent.Source) (string, bool) {
		return strings.Join(pages[s.Line-1:min(s.EndLine, len(pages))], "\n"), true
	})
	source := agent.Source{N: 1, Path: "boiler.pdf", Line: 2, EndLine: 2, Text: pages[1]}
	for answer, want := range map[string]agent.Verdict{
		"“It then closes” [1]":            agent.Verified,
		"“The valve opens at 3 bar.” [1]": agent.Verified,
	} {
		found := Check(answer, []agent.Source{source}, read)
		if len(found) != 1 || found[0].Verdict != want || found[0].Place() != "boiler.pdf p. 2" {
			t.Errorf("%s: %+v", answer, found)
		}
	}
	pages[1] = "The valve opens at 4 bar."
	if found := Check("“The valve opens at 3 bar.” [1]", []agent.Source{source}, read); len(found) != 1 ||
		found[0].Verdict != agent.Stale {
		t.Errorf("after a change: %+v", found)
	}
}

func TestRowOfAPDFTableIsVerified(t *testing.T) {
	source := agent.Source{
		N: 1, Path: "offer.pdf", Line: 2, EndLine: 2,
		Text: "The offer of May.\u2028| Item | Price |\u2028| Valve, brass | 12.50 |\u2028| Seal | 0.80 |\u2028It is " +
			"valid for a month.",
	}
	read := onDisk(func(agent.Source) (string, bool) { return source.Text, true })
	for answer, want := range map[string]agent.Verdict{
		"“Valve, brass | 12.50” [1]": agent.Verified, "“| Seal | 0.80 |” [1]": agent.Verified,
		"“It is valid for a month.” [1]": agent.Verified,
		"“Valve, brass | 0.80” [1]":      agent.Cites,
	} {
		if found := Check(answer, []agent.Source{source}, read); len(found) != 1 || found[0].Verdict != want ||
			found[0].Place() != "offer.pdf p. 2" {
			t.Errorf("%s: %+v", answer, found)
		}
	}
	next := agent.Source{
		N: 1, Path: "offer.pdf", Line: 2, EndLine: 3,
		Text: source.Text + "\n| Pump | 149.00 |\u2028| Pipe | 7.25 |\u2028It includes tax.",
	}
	for answer, want := range map[string]string{
		"“Seal | 0.80” [1]": "offer.pdf p. 2",
		"“Pipe | 7.25” [1]": "offer.pdf p. 3", "“It includes tax.” [1]": "offer.pdf p. 3",
	} {
		if found := Check(answer, []agent.Source{next}, onDisk(func(agent.Source) (string, bool) {
			return next.Text,
				true
		})); len(found) != 1 || found[0].Place() != want {
			t.Errorf("%s: %+v", answer, found)
		}
	}
}
