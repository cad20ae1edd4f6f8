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
	return context.WithValue(ctx, hiddenKey{}, hide)
}

// HidesNotes reports whether a rule may hide notes from the tool that runs.
func HidesNotes(ctx context.Context) bool {
	hide, _ := ctx.Value(hiddenKey{}).([]Rule)
	return len(hide) > 0
}

// HidesNote reports whether a rule hides a note from the tool that runs. To
// the tool it is not there.
func HidesNote(ctx context.Context, path string) bool {
	hide, _ := ctx.Value(hiddenKey{}).([]Rule)
	call, err := json.Marshal(map[string]string{"path": path})
	return err == nil && slices.ContainsFunc(hide, func(r Rule) bool { return r.Matches(readNote, call) })
}
