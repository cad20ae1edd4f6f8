package agent

import "context"

// ReadNote is the name of the tool that reads a note. A note that rules deny to
// it is hidden from every other tool as well.
const ReadNote = "read_note"

type hiddenKey struct{}

// Hiding returns a context for running a tool that hides the notes for whose
// path hides returns true. If hides is nil, no note is hidden.
func Hiding(ctx context.Context, hides func(path string) bool) context.Context {
	return context.WithValue(ctx, hiddenKey{}, hides)
}

// HidesNotes reports whether any note may be hidden in ctx.
func HidesNotes(ctx context.Context) bool {
	hides, _ := ctx.Value(hiddenKey{}).(func(string) bool)
	return hides != nil
}

// HidesNote reports whether the note at path is hidden in ctx. A tool has to
// treat a hidden note as if it did not exist.
func HidesNote(ctx context.Context, path string) bool {
	hides, _ := ctx.Value(hiddenKey{}).(func(string) bool)
	return hides != nil && hides(path)
}
