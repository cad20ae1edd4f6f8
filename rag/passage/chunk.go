// Package passage divides a note into passages along its structure, and these into
// texts that an embedder can read. Start with [Cut].
package passage

import (
	"sort"
	"strings"
	"unicode/utf8"

	"lifehub/internal/text"
	"lifehub/notes"
)

// Piece is a passage of a note: a range of its text.
type Piece struct {
	Start, End int // bytes of note.Text
	Line       int // of start
	EndLine    int // of the last byte
	Heading    []string
	// how many of Heading, at its end, are list items, or the header of a table or code, that it continues
	Parents int
	Listing bool // hardly more than a list of links
}

// Separator separates the headings of a path.
const Separator = " › "

// Cut divides a note along its structure, or a PDF or an image at its pages, into passages of at most
// about size tokens. Passages do not overlap, and leave out only blank lines and front
// matter.
func Cut(note notes.Note, size int) []Piece {
	body := BodyStart(note.Text, note.BodyLine)
	c := cutter{text: note.Text, size: size}
	if notes.IsPaged(note.Path) {
		c.pages(note.Headings)
	} else {
		for _, u := range blocks(note.Text, body, size) {
			c.add(u)
		}
		c.flush()
	}
	if len(c.pieces) == 0 { // an empty note is found by its name
		c.pieces = []Piece{{End: len(note.Text)}}
	}
	lines := lineStarts(note.Text)
	for i := range c.pieces {
		p := &c.pieces[i]
		p.Line = lineOf(lines, p.Start)
		p.EndLine = lineOf(lines, max(p.Start, p.End-1))
		p.Listing = isListing(note.Text[p.Start:p.End])
	}
	return c.pieces
}

// cutter packs units into pieces.
type cutter struct {
	text   string
	size   int // tokens
	pieces []Piece
	open   []unit
	tokens int // of open
}

// pages divides each line separately, since it is a page, which citations name.
func (c *cutter) pages(headings []notes.Heading) {
	start := 0
	for line := range strings.Lines(c.text) {
		var path []string
		if len(headings) > 0 {
			if said := headings[0].Text; said != "" {
				path = []string{said}
			}
			headings = headings[1:]
		}
		w := blockWalk{text: c.text, size: c.size}
		w.lines(start, start+len(line), path)
		for _, u := range w.units {
			c.add(u)
		}
		c.flush()
		start += len(line)
	}
}

// add adds a unit to the open piece, or to a new one if that would grow too large, or if
// a section begins and the piece is large enough.
func (c *cutter) add(u unit) {
	tokens := EstimateTokens(c.text[u.start:u.end])
	if len(c.open) > 0 && c.open[0].parents > 0 && !Continues(u.path, c.open[0].path) {
		c.flush() // what follows is not below the same parents
	}
	if len(c.open) > 0 {
		full := c.tokens+tokens > c.size
		if full && c.open[len(c.open)-1].kind == headingUnit && c.tokens < c.size {
			full = false // a heading stays with what follows
		}
		if full || (u.kind == headingUnit && c.tokens >= c.size/4) {
			c.flush()
		}
	}
	c.open = append(c.open, u)
	c.tokens += tokens
}

func (c *cutter) flush() {
	if len(c.open) == 0 {
		return
	}
	first, last := c.open[0], c.open[len(c.open)-1]
	path := first.path
	onlyHeadings := true
	for _, u := range c.open {
		onlyHeadings = onlyHeadings && u.kind == headingUnit
		path = CommonPath(path, u.path)
	}
	p := Piece{Start: first.start, End: last.end, Heading: path, Parents: first.parents}
	if n := len(c.pieces) - 1; onlyHeadings && n >= 0 && c.pieces[n].Parents == 0 &&
		len(c.open) == 1 && c.tokens < c.size {
		// A heading without text is added to the piece before it.
		c.pieces[n].End = p.End
		c.pieces[n].Heading = CommonPath(c.pieces[n].Heading, path)
	} else {
		c.pieces = append(c.pieces, p)
	}
	c.open, c.tokens = c.open[:0], 0
}

// Continues reports whether a path is another one or below it.
func Continues(path, above []string) bool { return len(CommonPath(path, above)) == len(above) }

func CommonPath(a, b []string) []string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// EstimateTokens estimates the number of tokens of a text in an embedding model. English
// has 3.4 to 4 characters a token, Chinese and Japanese about one.
func EstimateTokens(s string) int {
	quarter := 0
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			quarter++
		case text.Unspaced(r):
			quarter += 4
		default:
			quarter += 2
		}
	}
	return (quarter + 3) / 4
}

// isListing reports whether a passage is hardly more than a list of links.
func isListing(text string) bool {
	lines, links := 0, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		item := strings.TrimLeft(line, "-*+0123456789. ")
		if strings.HasPrefix(item, "[") && (strings.HasSuffix(item, ")") || strings.HasSuffix(item, "]")) {
			links++
		}
	}
	return links >= 5 && links*10 >= lines*8
}

// BodyStart returns the offset of a line, counted from 1.
func BodyStart(text string, line int) int {
	at := 0
	for ; line > 1; line-- {
		next := strings.IndexByte(text[at:], '\n')
		if next < 0 {
			return len(text)
		}
		at += next + 1
	}
	return at
}

func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

// lineOf returns the line, from 1, that the byte at offset is on.
func lineOf(starts []int, offset int) int {
	return sort.SearchInts(starts, offset+1)
}
