package agent

import (
	"encoding/json"
	"testing"
)

// Answers saved by versions that gave check marks to unquoted words show no such mark,
// since it now means a quotation.
func TestOldTickIsNotShown(t *testing.T) {
	old := Citation{N: 1, Path: "running.md", Line: 3, Verdict: Verified}
	if old.Sign() != "" || old.Label() != "" {
		t.Errorf("got %q, %q", old.Sign(), old.Label())
	}
	old.Sentence = "“Rest on Monday” [1]."
	if old.Sign() != "✓" || old.Label() != "✓ quoted" {
		t.Errorf("got %q, %q", old.Sign(), old.Label())
	}
}

// What a model said of the citations of a saved answer counts as cited, without a mark.
func TestVerdictsOfAModelAreNotShown(t *testing.T) {
	for _, saved := range []string{"supported", "contradicted", "differs", "cited"} {
		var c Citation
		if err := json.Unmarshal([]byte(`{"n":1,"verdict":"`+saved+`","detail":"model: not there"}`), &c); err != nil ||
			c.Verdict != Cites || c.Label() != "" {
			t.Errorf("%s became %s, %q, %v", saved, c.Verdict, c.Label(), err)
		}
	}
}
