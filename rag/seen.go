package rag

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"lifehub/internal/files"
	"lifehub/notes"
)

// seenFile is the file of an index that describes its folder of notes.
const seenFile = "folder.json"

// Expect tells a folder of notes what it was when the index in dir was last synced, so
// that an unmounted disk is not taken for deleted notes.
func Expect(folder *notes.Folder, dir string) {
	text, err := os.ReadFile(filepath.Join(dir, seenFile))
	var seen notes.Seen
	if err == nil && json.Unmarshal(text, &seen) == nil {
		folder.Expect(seen)
	}
}

// Exists reports whether there is an index in dir.
func Exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, seenFile))
	return err == nil
}

// Accept makes a sync take the folder as it is, whatever it was before.
func (x *Index) Accept(folder *notes.Folder) error { return x.remember(folder, notes.Seen{}) }

// remember saves what the folder is.
func (x *Index) remember(folder *notes.Folder, now notes.Seen) error {
	file := filepath.Join(x.dir, seenFile)
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	folder.Expect(now)
	if was, err := os.ReadFile(file); err == nil && string(was) == string(text) {
		return nil
	}
	return files.Write(file, text)
}

// expect tells the folder which notes are in the index, if no description of it was saved.
func (s *syncRun) expect(ctx context.Context) error {
	if s.folder.Expected() || s.words == nil {
		return nil
	}
	known, err := knownFiles(ctx, s.words.db, nil)
	if err != nil {
		return err
	}
	var seen notes.Seen
	for name, was := range known {
		if was.id != 0 {
			seen.Notes = append(seen.Notes, name)
		}
	}
	s.folder.Expect(seen)
	return nil
}
