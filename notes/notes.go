// Package notes reads and writes a folder of markdown notes. Everything goes
// through an [os.Root]: nothing outside the folder is read or written. Start
// with [Open] and [Folder.Walk].
package notes

import "time"

// Entry is a note's place in the folder, without its text.
type Entry struct {
	Path    string // below the folder, with slashes
	Size    int64  // bytes
	ModTime time.Time
}

// Note is a parsed note. Lines count from 1 and are those of the file.
type Note struct {
	Entry
	Title    string         // front matter, else first heading, else the file name
	Front    map[string]any // front matter; nil: none
	Text     string         // the whole file, as UTF-8 with LF line ends
	BodyLine int            // the first line after the front matter
	Headings []Heading
	Links    []Link
	Tags     []string // lower case, without #, sorted, from front matter and text
	Tasks    []Task
	Date     time.Time // the note's own date: name, front matter, then ModTime
	Foreign  bool      // its front matter names a source or url
	Problems []string  // what could not be read, in plain words; the rest of the note stands
}

// Heading is a heading of a note.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Line  int
}

// Link is a [[wikilink]] or a link to another note.
type Link struct {
	Target string // as written, without heading or alias
	Text   string // as shown
	Line   int
}

// Task is a "- [ ]" item.
type Task struct {
	Path     string
	Line     int
	Text     string // without the box and the dates
	Raw      string // the line as it stands
	Done     bool
	Due      time.Time // zero: none
	DoneOn   time.Time // zero: not known
	Recurs   string    // "every week"; "": it does not
	Priority string    // as written; "": none
}

// Problem is a file that could not be read as a note, and why.
type Problem struct {
	Path   string
	Reason string
}
