package notes

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"

	"lifehub/internal/files"
)

// ObsidianDaily returns the folder in which Obsidian keeps daily notes, "." for the vault, and the format of Moment of
// their names; both are empty if its settings name neither.
func (f *Folder) ObsidianDaily() (dir, format string) {
	raw, err := promptly(f, ".obsidian", func(func()) ([]byte, error) {
		return files.ReadIn(f.root(), ".obsidian/daily-notes.json")
	})
	var set struct{ Folder, Format string }
	if err != nil || json.Unmarshal(raw, &set) != nil || set.Folder+set.Format == "" {
		return "", ""
	}
	dir = path.Clean(strings.Trim(set.Folder, "/"))
	if !fs.ValidPath(dir) {
		return "", ""
	}
	if set.Format == "" {
		set.Format = "YYYY-MM-DD"
	}
	return dir, set.Format
}
