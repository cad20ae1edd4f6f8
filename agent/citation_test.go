package agent

import "testing"

// A tick of an answer that was saved when words without quotation marks got one
// would say today that they are quoted.
func TestOldTickIsNotShown(t *testing.T) {
	old := Citation{N: 1, Path: "running.md", Line: 3, Verdict: Verified}
	if old.Sign() != "" || old.Told() != "" {
		t.Errorf("got %q, %q", old.Sign(), old.Told())
	}
	old.Sentence = "“Rest on Monday” [1]."
	if old.Sign() != "✓" || old.Told() != "✓ quoted" {
		t.Errorf("got %q, %q", old.Sign(), old.Told())
	}
}
