package agent

import (
	"context"
)

// ReadNote is the tool whose denied notes are hidden from all others too.
const ReadNote = "read_note"

type hiddenKey struct{}

// Hiding is a context whose tool is to see no note of which hides reports
// true; nil: it sees all.
func Hiding(ctx context.Context, hides func(path string) bool) context.Context {
	return context.WithValue(ctx, hiddenKey{}, hides)
}

// HidesNotes reports whether a rule may hide notes from the tool that runs.
func HidesNotes(ctx context.Context) bool {
	hides, _ := ctx.Value(hiddenKey{}).(func(string) bool)
	return hides != nil
}

// HidesNote reports whether a rule hides a note from the tool that runs. To
// the tool it is not there.
func HidesNote(ctx context.Context, path string) bool {
	hides, _ := ctx.Value(hiddenKey{}).(func(string) bool)
	return hides != nil && hides(path)
}
