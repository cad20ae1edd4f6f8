package chatcmd

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"lifehub/internal/when"
)

// writeStarterNotes writes the starter notes to a folder unless it exists. Their dates are shifted
// by whole weeks, so that their last week ends on the latest Sunday, which may be today.
func writeStarterNotes(dir string, examples fs.FS, today when.Day) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	lastSunday := when.Day{Year: 2026, Month: time.November, Day: 22} // of the notes' last week
	days := today.Add(1).Monday().Add(-1).Since(lastSunday)
	move := func(text string) string {
		return isoDay.ReplaceAllStringFunc(text, func(day string) string {
			if at, err := when.ParseDay(day); err == nil {
				return at.Add(days).String()
			}
			return day
		})
	}
	starter, err := fs.Sub(examples, "examples/notes")
	if err != nil {
		return fmt.Errorf("read the starter notes: %w", err)
	}
	err = fs.WalkDir(starter, ".", func(name string, entry fs.DirEntry, err error) error {
		to := filepath.Join(dir, filepath.FromSlash(move(name)))
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(to, 0o777)
		}
		text, err := fs.ReadFile(starter, name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, []byte(move(string(text))), 0o666)
	})
	if err != nil {
		return fmt.Errorf("write the starter notes: %w", err)
	}
	return nil
}

// isoDay matches a date as written in the starter notes.
var isoDay = regexp.MustCompile(`\b\d{4}-\d\d-\d\d\b`)
