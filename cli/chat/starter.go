package chat

import (
	"fmt"
	"io/fs"
	"os"

	"lifehub/examples"
)

// writeStarterNotes copies the starter notes into a folder, unless it is
// there already.
func writeStarterNotes(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	starter, err := fs.Sub(examples.Notes, "notes")
	if err == nil {
		err = os.CopyFS(dir, starter)
	}
	if err != nil {
		return fmt.Errorf("copy the starter notes: %w", err)
	}
	return nil
}
