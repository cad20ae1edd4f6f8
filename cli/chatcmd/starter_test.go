package chatcmd

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
)

// Whenever the starter notes are written, last week has entries, and the names of weekdays are
// right.
func TestStarterNotesAreDatedLastWeek(t *testing.T) {
	for i := range 9 {
		today := when.Day{Year: 2027, Month: time.December, Day: 26}.Add(i) // a Sunday and the following days
		dir := filepath.Join(t.TempDir(), "starter")
		if err := writeStarterNotes(dir, os.DirFS("../.."), today); err != nil {
			t.Fatal(err)
		}
		folder, err := notes.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		x, err := rag.Open(t.TempDir(), rag.Options{Vault: folder.Dir()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Sync(t.Context(), folder, encoder.Encoder{}, nil); err != nil {
			t.Fatal(err)
		}
		found, err := x.Search(t.Context(), rag.Query{Text: "what did I do last week?", Today: today})
		if err != nil || found.Declined() || found.Time.Notes < 3 {
			t.Fatalf("on %v: %+v %v", today, found.Time, err)
		}
		for n, day := range []string{"Wednesday", "Thursday", "Friday"} {
			at, err := time.Parse(time.DateOnly, strings.TrimSuffix(filepath.Base(found.Passages[2-n].Path), ".md"))
			if err != nil || fmt.Sprint(at.Weekday()) != day {
				t.Errorf("on %v: %s is %v, want %s", today, found.Passages[2-n].Path, at.Weekday(), day)
			}
		}
		text, err := os.ReadFile(filepath.Join(dir, "tasks.md"))
		if err != nil || strings.Contains(string(text), "2026-12-05") ||
			!strings.Contains(string(text), "Order a new filter") {
			t.Errorf("tasks: %v\n%s", err, text)
		}
		_ = x.Close()
		_ = folder.Close()
	}
}
