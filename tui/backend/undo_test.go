package backend

import "testing"

// What only wishes the last turn undone is the command that does it, where there is
// one; what names something to undo is a message.
func TestAWishToUndoIsTheCommand(t *testing.T) {
	with := Options{Commands: []Command{{Name: "undo"}}}
	for message, undo := range map[string]bool{
		"undo that": true, "Undo that, please.": true, "please undo the last change": true, "take it back": true, " undo ": true, "revert this!": true,
		"Mach das rückgängig": true, "bitte mach das rückgängig.": true, "das bitte rückgängig machen": true, "nimm das zurück": true,
		"undo that and add milk": false, "undo the move of the dentist": false, "how do I undo that?": false, "add task undo that": false, "take it back to Ana": false, "": false,
	} {
		want := message
		if undo {
			want = "/undo"
		}
		if got := with.AsCommand(message); got != want {
			t.Errorf("%q is %q", message, got)
		}
		if got := (&Options{}).AsCommand(message); got != message {
			t.Errorf("without the command %q is %q", message, got)
		}
	}
}
