package agent

import "testing"

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
