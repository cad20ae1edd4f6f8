package notes

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"lifehub/internal/files"
)

// Seen describes a folder when its notes were last indexed. It tells a folder whose
// notes were deleted from one that is not there now, as after an unmount.
type Seen struct {
	Device   string   `json:"device,omitempty"`   // "" if the system does not tell
	Obsidian bool     `json:"obsidian,omitempty"` // it holds Obsidian's settings
	Notes    []string `json:"notes,omitempty"`    // paths of notes, of a large folder some of them
}

// maxSeen bounds the notes of Seen.
const maxSeen = 1000

// ErrNotThere is the error of a folder that is not the one that was seen: it holds
// none of the notes that were seen, and has no note at all, is on another device, or
// has lost Obsidian's settings.
var ErrNotThere = errors.New("the notes are not there now; if you deleted them, `lifehub index DIR` takes the folder " +
	"as it is")

// Seen returns what the folder is now, with these notes.
func (f *Folder) Seen(entries []Entry) Seen {
	seen := Seen{Device: deviceOf(f.root()), Obsidian: f.hasObsidian()}
	step := 1 + len(entries)/maxSeen
	for i := 0; i < len(entries); i += step {
		seen.Notes = append(seen.Notes, entries[i].Path)
	}
	return seen
}

// Expect makes the folder return [ErrNotThere] from every method while it is not
// the one that was seen.
func (f *Folder) Expect(seen Seen) { f.seen.Store(&seen) }

// forget no longer expects a note, which LifeHub itself removed.
func (f *Folder) forget(name string) {
	if seen := f.seen.Load(); seen != nil {
		without := *seen
		without.Notes = slices.DeleteFunc(slices.Clone(seen.Notes), func(path string) bool { return path == name })
		f.seen.Store(&without)
	}
}

// Expected reports whether the folder was told what to expect.
func (f *Folder) Expected() bool { return f.seen.Load() != nil }

// recognise returns [ErrNotThere] if the folder is not the one that was seen.
func (f *Folder) recognise() (err error) {
	defer func() { f.sure.Store(err == nil) }()
	seen := f.seen.Load()
	if seen == nil || len(seen.Notes) == 0 {
		return nil
	}
	byDepth := slices.SortedStableFunc(slices.Values(seen.Notes), func(a, b string) int {
		return strings.Count(a, "/") - strings.Count(b, "/")
	})
	for _, name := range byDepth {
		_, err := promptly(f, path.Dir(name), func(func()) (fs.FileInfo, error) { return f.root().Lstat(name) })
		if err == nil || errors.Is(err, files.ErrSilent) { // a subfolder that does not answer may hold it
			return nil
		}
	}
	device := deviceOf(f.root())
	moved := device != "" && seen.Device != "" && device != seen.Device
	if moved || seen.Obsidian && !f.hasObsidian() || !f.hasNote() {
		return fmt.Errorf("%s: %w", f.dir, ErrNotThere)
	}
	return nil
}

func (f *Folder) hasObsidian() bool {
	_, err := f.root().Lstat(".obsidian")
	return err == nil
}

// hasNote reports whether there is any note in the folder, as far as it answers.
func (f *Folder) hasNote() bool {
	found, err := files.Promptly(func(beat func()) (found bool, err error) {
		err = fs.WalkDir(f.root().FS(), ".", func(name string, e fs.DirEntry, err error) error {
			beat()
			switch {
			case err != nil: // what cannot be listed is not there
				return nil
			case e.IsDir() && name != "." && strings.HasPrefix(e.Name(), "."):
				return fs.SkipDir
			case !e.IsDir() && IsNote(name):
				found = true
				return fs.SkipAll
			}
			return nil
		})
		return found, err
	})
	return found || err != nil
}
