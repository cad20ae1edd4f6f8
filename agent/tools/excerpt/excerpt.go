// Package excerpt cuts texts into what fits into the answer of a tool and can
// be cited.
package excerpt

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

const (
	// MaxRead bounds what one call reads, in bytes: a little less than what of
	// a result reaches the model (32 KiB).
	MaxRead = 30 << 10
	// sourceSize is the least size of a source, in bytes: smaller sections are
	// put together, so that a note of many headings is a handful of sources.
	sourceSize = 1200
	// WholeNote is up to how many bytes a text is one source, whatever its
	// headings: what was found is half of it or more.
	WholeNote = 2 << 10
)

// Fitting is the last line up to which lines fit into a number of bytes, at
// least one.
func Fitting(lines []string, from, to, most int) int {
	size := 0
	for line := from; line <= to; line++ {
		if size += len(lines[line-1]) + 1; size > most && line > from {
			return line - 1
		}
	}
	return to
}

// Sections cuts lines at headings into sources that can be cited, which are
// like base in all else.
func Sections(base agent.Source, headings []notes.Heading, lines []string, from, to int) []agent.Source {
	var sources []agent.Source
	var trail []notes.Heading // the headings above the current line, outermost first
	open := base
	open.Line = from
	size := 0
	finish := func(end int) {
		for open.Line < end && strings.TrimSpace(lines[open.Line-1]) == "" {
			open.Line++
		}
		for end > open.Line && strings.TrimSpace(lines[end-1]) == "" {
			end--
		}
		open.Text = text.Cut(strings.Join(lines[open.Line-1:end], "\n"), MaxRead) // one line may be longer than all that fits
		if strings.TrimSpace(open.Text) == "" {
			return
		}
		open.EndLine = end
		sources = append(sources, open)
	}
	next := headings
	whole := len(strings.Join(lines[from-1:max(from-1, to)], "\n")) <= WholeNote
	for line := 1; line <= to; line++ {
		if len(next) > 0 && next[0].Line == line {
			if line > from && size >= sourceSize && !whole {
				finish(line - 1)
				open, size = base, 0
				open.Line = line
			}
			for len(trail) > 0 && trail[len(trail)-1].Level >= next[0].Level {
				trail = trail[:len(trail)-1]
			}
			trail, next = append(trail, next[0]), next[1:]
		}
		if line == open.Line {
			open.Heading = HeadingPath(trail)
		}
		if line >= from {
			size += len(lines[line-1]) + 1
		}
	}
	finish(to)
	return sources
}

// HeadingPath is the headings above a line, outermost first.
func HeadingPath(trail []notes.Heading) string {
	names := make([]string, len(trail))
	for i, h := range trail {
		names[i] = h.Text
	}
	return strings.Join(names, " › ")
}

// HeadingAt names the headings above a line, outermost first, and says which of
// several that are called the same.
func HeadingAt(headings []notes.Heading, line int) string {
	var trail []notes.Heading
	count := map[string]int{}
	for _, h := range headings {
		if h.Line >= line {
			break
		}
		trail = slices.DeleteFunc(trail, func(above notes.Heading) bool { return above.Level >= h.Level })
		trail = append(trail, h)
		count[HeadingPath(trail)]++
	}
	return fmt.Sprintf("%s (%d)", HeadingPath(trail), count[HeadingPath(trail)])
}

// List is a heading with at most so many lines as a list, and how many more there are.
func List(head string, lines []string, most int) string {
	if len(lines) == 0 {
		return head + ": nothing"
	}
	more := ""
	if len(lines) > most {
		more = fmt.Sprintf("\n- and %d more", len(lines)-most)
		lines = lines[:most]
	}
	return head + ":\n- " + strings.Join(lines, "\n- ") + more
}
