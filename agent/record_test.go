package agent

import (
	"strings"
	"testing"
)

// What a turn changed, or should have and did not, is told; that it read is not.
func TestRecordTellsWhatWasDone(t *testing.T) {
	added, sent := Effect{Kind: NoteChanged, Path: "a\nb.md", Lines: &Lines{Added: 1}},
		Effect{Kind: RequestSent, Tool: WebSearch, Host: "example.org", Count: 1}
	for did, e := range map[string]Exchange{
		"changed a b.md (+1)":                   {Answer: Answer{Effects: Effects{added, sent}}},
		"changed a b.md (+1), taken back since": {Answer: Answer{Effects: Effects{added}}, Undone: true},
		"! nothing was changed": {Answer: Answer{Effects: Effects{
			{Kind: Unchanged, Tool: "add_task"},
			sent,
		}}},
		"add_task: outcome unknown": {Answer: Answer{Effects: Effects{{Kind: Unknown, Tool: "add_task"}}}},
		"changed «aaaa0000».md (+1)": {Answer: Answer{Effects: Effects{{
			Kind: NoteChanged,
			Path: "«aaaa0000».md", Lines: &Lines{Added: 1},
		}}}},
		"": {Answer: Answer{Effects: Effects{sent, {Kind: WithoutNotes}}}},
	} {
		got := e.Did()
		if got != did {
			t.Errorf("did %q, want %q", got, did)
		}
		const mark = "«aaaa0000»"
		record := e.Record(mark)
		if (record == "") != (did == "") || record != "" && (strings.Count(record, mark) != 2 ||
			strings.Contains(record, "\n") || WithoutRecords(record) != "") {
			t.Errorf("record %q", record)
		}
	}
}

// A model's records are cut, and nothing else; what is certain of a text that grows
// does not depend on how it comes.
func FuzzCutRecords(f *testing.F) {
	const before, now = "(LifeHub's record of this turn: changed a.md (+1))",
		"«0123abcd» LifeHub's record of the turn before: changed a.md (+1) «0123abcd»"
	for text, want := range map[string]string{
		"Added.\n\n" + before:                           "Added.\n\n",
		now + "\n\nAdded.":                              "\n\nAdded.",
		"Added. " + before + " And?":                    "Added.  And?",
		"- Added " + now + "\n- And":                    "- Added \n- And",
		"One.\n" + before + "\nTwo. " + now + "\nThree": "One.\n\nTwo. \nThree",
		strings.ReplaceAll(before, "'", "’") + "\n":     "\n",
		"Added. (LifeHub's record of this turn: chan":   "Added. ",
		"Added.\n«0123abcd»\n" + now:                    "Added.\n«0123abcd»\n",
		"LifeHub's record of the notes: «a» (b)":        "LifeHub's record of the notes: «a» (b)",
		"A (LifeHub's record of this turn":              "A (LifeHub's record of this turn",
		"«0123abcd» and (L, LifeHub's":                  "«0123abcd» and (L, LifeHub's",
	} {
		if got := WithoutRecords(text); got != want {
			f.Errorf("%q: %q, want %q", text, got, want)
		}
		f.Add(text, uint8(1))
		f.Add(text, uint8(7))
	}
	f.Fuzz(func(t *testing.T, whole string, size uint8) {
		said, held, n := "", "", 1+int(size)%64
		for rest := whole; rest != ""; rest = rest[min(n, len(rest)):] {
			var certain string
			certain, held = CutRecords(held + rest[:min(n, len(rest))])
			said += certain
		}
		if got, want := said+WithoutRecords(held), WithoutRecords(whole); got != want {
			t.Errorf("%q in pieces of %d: %q, want %q", whole, n, got, want)
		}
		if strings.Contains(said, "record of this turn:") &&
			!strings.Contains(WithoutRecords(whole), "record of this turn:") {
			t.Errorf("%q said %q", whole, said)
		}
	})
}
