package notes

import (
	"regexp"
	"slices"
	"sort"

	"lifehub/internal/text"
)

// shortestName is the minimum length in bytes of a name that is searched for in
// texts: shorter ones occur nearly everywhere.
const shortestName = 3

// setApart records that a range of the body is a link or code.
func (n *Note) setApart(body string, start, stop int) {
	before := len(n.Text) - len(body)
	n.noProse = append(n.noProse, span{before + start, before + stop})
}

// Mentions returns the lines whose text, excluding links and code, contains one
// of the names as whole words. A name that is also a name of this note is taken
// to mean the note itself.
func (n Note) Mentions(names []string) (lines []int) {
	body := n.Text[newLineIndex(n.Text, 1).starts[n.BodyLine-1]:]
	index, before := newLineIndex(body, n.BodyLine), len(n.Text)-len(body)
	for _, name := range names {
		if len(name) < shortestName || slices.ContainsFunc(n.Titles(),
			func(own string) bool { return text.Key(own) == text.Key(name) }) {
			continue
		}
		for _, at := range regexp.MustCompile(`(?i)`+regexp.QuoteMeta(name)).FindAllStringIndex(body, -1) {
			if text.WholeWords(body, at[0], at[1]) && !n.isApart(before+at[0], before+at[1]) {
				lines = append(lines, index.at(at[0]))
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// isApart reports whether a range of the text overlaps a link or code.
func (n Note) isApart(from, to int) bool {
	i := sort.Search(len(n.noProse), func(i int) bool { return n.noProse[i].stop > from })
	return i < len(n.noProse) && n.noProse[i].start < to
}
