// Package notes reads and writes a folder of markdown notes, and reads .txt,
// .org and .pdf files next to them. Everything goes through an [os.Root]: nothing
// outside the folder is read or written, links are not followed, and hidden and
// ignored folders do not count. Start with [Open], [Folder.List] and [Parse].
package notes

import (
	"errors"
	"time"

	"lifehub/internal/when"
	"lifehub/notes/task"
)

// MaxSize is the longest text read as a note, in bytes; longer ones are reported.
const MaxSize = 16 << 20

// ErrChanged says that a note is not what it was when the change was made up.
// Nothing was written.
var ErrChanged = errors.New("the note was changed in the meantime")

// Entry is a note's place in the folder, without its text.
type Entry struct {
	Path    string // below the folder, with slashes
	Size    int64  // bytes
	ModTime time.Time
}

// Note is a parsed note. Lines count from 1 and are those of the file; of a PDF
// they are its pages.
type Note struct {
	Entry
	Title     string         // front matter, else first heading of level 1, else the file name
	Front     map[string]any // front matter, and properties at the head of the text; nil: none, or not readable
	Text      string         // the whole file as markdown, in UTF-8 with LF line ends
	BodyLine  int            // the first line after the front matter
	Headings  []Heading      // those of the text itself, not of quotes or list items
	Lists     []Lines        // the body's outermost lists, each with all its items
	Links     []Link
	Tags      []string // lower case, without #, sorted, from front matter and text
	Tasks     []task.Task
	Date      time.Time // the note's own date, local midnight: name, else front matter; zero: none
	Dates     []Dated   // the days that its lines are of, in order; see [Dated]
	Aliases   []string  // other names it gives itself
	Exported  bool      // its front matter says that it is a conversation that LifeHub exported
	Untrusted bool      // its front matter names a source or url, or it is a PDF, which others write
	Problems  []string  // what could not be read, in plain words; the rest is read

	noProse []span // links and code in Text, in order
}

// span is a range of bytes.
type span struct{ start, stop int }

// Heading is a heading of a note.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Line  int
}

// Dated are lines of a note and the days that they are of. The note's own date
// is that of all its lines, one in a heading of its section, one alone on its
// line of all up to the next such line or heading, any other of its paragraph
// or list item. When the file was written dates nothing: a copy of the folder
// would change it.
type Dated struct {
	Span when.Span
	Lines
}

// Lines are those from First to Last.
type Lines struct{ First, Last int }

// Link is a [[wikilink]] or a link to another note.
type Link struct {
	Target  string // as written, without heading or text
	Heading string // the part after #; "": the whole note
	Text    string // the words it shows; "": its target
	Embed   bool   // it shows the note there
	Line    int
}

// Problem is a file that could not be read as a note, and why.
type Problem struct {
	Path   string
	Reason string
	// Unknown says that the system did not let it be looked at, or listed if it is a
	// folder: what was there before may still be there.
	Unknown bool
}
