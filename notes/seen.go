package notes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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

// ErrNotThere is the error of a folder that is not the one that was seen: it is
// empty, or it is on another device or without Obsidian's settings, and holds none
// of the notes that were seen.
var ErrNotThere = errors.New("the notes are not there now; if you deleted them, `lifehub index DIR` takes the folder as it is")

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
func (f *Folder) recognise() error {
	seen := f.seen.Load()
	if seen == nil || len(seen.Notes) == 0 {
		return nil
	}
	for _, name := range seen.Notes {
		if _, err := f.root().Lstat(name); err == nil {
			return nil
		}
	}
	obsidian := f.hasObsidian()
	if device := deviceOf(f.root()); device != seen.Device && device != "" && seen.Device != "" || seen.Obsidian && !obsidian || !obsidian && f.isEmpty() {
		return fmt.Errorf("%s: %w", f.dir, ErrNotThere)
	}
	return nil
}

func (f *Folder) hasObsidian() bool {
	_, err := f.root().Lstat(".obsidian")
	return err == nil
}

// isEmpty reports whether the folder holds nothing that is not hidden.
func (f *Folder) isEmpty() bool {
	children, err := readFolder(f.root(), ".")
	for _, c := range children {
		if !strings.HasPrefix(c.name, ".") {
			return false
		}
	}
	return err == nil
}
