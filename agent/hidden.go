package agent

import (
	"context"
	"encoding/json"
	"slices"
)

// readNote is the tool whose denied notes are hidden from all others too.
const readNote = "read_note"

type hiddenKey struct{}

// withHidden carries the rules that hide notes from a tool: a deny for some
// notes of read_note, or of the tool itself if it only reads.
func (t *turn) withHidden(ctx context.Context, tool Tool) context.Context {
	var hide []Rule
	for _, r := range t.gate.list() {
		if r.Level == Deny && len(r.Where) > 0 && (r.MatchesTool(readNote) || harmless(tool) && r.SpeaksOf(tool)) {
			r.Tool = "*"
			hide = append(hide, r)
		}
	}
	if len(hide) == 0 {
		return hiding(ctx, nil)
	}
	return hiding(ctx, func(path string) bool {
		call, err := json.Marshal(map[string]string{"path": path})
		return err == nil && slices.ContainsFunc(hide, func(r Rule) bool { return r.Matches(readNote, call) })
	})
}

// hiding is a context whose tool is to see no note of which hides reports
// true; nil: it sees all.
func hiding(ctx context.Context, hides func(path string) bool) context.Context {
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
