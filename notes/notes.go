// Package notes reads and writes a folder of Markdown notes, and reads .txt, .org
// and .pdf files in it. All access uses an [os.Root]: nothing outside the folder
// is read or written, symbolic links are not followed, and hidden and ignored
// folders are skipped. Start with [Open], [Folder.List] and [Parse].
package notes

import (
	"errors"
	"time"

	"lifehub/internal/when"
)

// MaxSize bounds the size of a note in bytes; larger files are reported and not
// read.
const MaxSize = 16 << 20

// ErrChanged reports that a note was modified after the change to it was
// prepared. Nothing was written.
var ErrChanged = errors.New("the note was changed in the meantime")

// Entry is a note's file information, without its text.
type Entry struct {
	Path    string // relative to the folder, with slashes
	Size    int64  // bytes
	ModTime time.Time
	CopyOf  string // the note next to it, of which a sync program made this copy; set by [Folder.List]
}

// Note is a parsed note. Lines are those of the file, counted from 1; the lines
// of a PDF or an image are its pages.
type Note struct {
	Entry
	Title    string         // from front matter, else the first heading of level 1, else the file name
	Front    map[string]any // front matter, and properties at the start of the text; nil if missing or invalid
	Text     string         // the whole file as Markdown, in UTF-8 with LF line ends
	BodyLine int            // the first line after the front matter
	Headings []Heading      // top-level headings, not those in quotes or list items
	Lists    []Lines        // top-level lists, with all their items
	Links    []Link
	Tags     []string // keys, without #, sorted; from front matter and text; see [text.Key]
	Tasks    []Task
	Date     when.Day // from the name, else front matter; none if neither has one
	Dates    []Dated  // dates of its lines, in order; see [Dated]
	Aliases  []string // other names in its front matter
	// the names "id:…" that properties give it, its headings and its blocks, and the ids that links name alone
	IDs      []string
	Exported bool // its front matter marks it as a conversation exported by LifeHub
	// its front matter names a source or url, or it is a PDF or an image, which was written by others
	Untrusted bool
	Problems  []string // parts that could not be read, described for the user; the rest is read

	noProse []span     // links and code in Text, in order
	spots   []linkSpot // of each link
	files   []linkSpot // addresses of other files in this folder tree, such as pictures
	marks   []tagMark  // the #tags in Text
}

// span is a range of byte offsets.
type span struct{ start, stop int }

// Heading is a heading of a note.
type Heading struct {
	Level int // 1 to 6
	Text  string
	Line  int
}

// Dated are lines of a note and the date that they belong to. The note's own date
// applies to all its lines, a date in a heading to its section, a date alone on
// its line to all lines up to the next such line or heading, and any other date
// to its paragraph or list item. File times are not used, since copying the
// folder would change them.
type Dated struct {
	Span when.Span
	Lines
}

// Lines is the range of lines from First to Last, inclusive.
type Lines struct{ First, Last int }

// Link is a [[wikilink]] or a link to another note.
type Link struct {
	Target  string // as written, without heading and text
	Heading string // the part after #; empty: the whole note
	Text    string // displayed text; empty: the target
	Embed   bool   // the target's content is embedded
	Wiki    bool   // [[Target|Text]]
	Line    int
}

// Problem is a file that could not be read as a note, with the reason.
type Problem struct {
	Path   string
	Reason string
	// Unknown means that the system denied access to the file or folder, so what
	// was known of it before may still be valid.
	Unknown bool
}
