package web

import (
	"fmt"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

const (
	// MaxRead bounds what one call reads, in bytes. It is slightly less than
	// the part of a result that reaches the model (32 KiB).
	MaxRead = 30 << 10
	// sourceSize is the minimum size of a source, in bytes. Smaller sections
	// are merged, so that a note with many headings becomes a handful of
	// sources.
	sourceSize = 1200
	// WholeNote is the size in bytes up to which a text is a single source,
	// whatever its headings: the passage found is at least half of it.
	WholeNote = 2 << 10
)

// Fitting returns the last line such that lines from to it fit into most bytes.
// It is at least from.
func Fitting(lines []string, from, to, most int) int {
	size := 0
	for line := from; line <= to; line++ {
		if size += len(lines[line-1]) + 1; size > most && line > from {
			return line - 1
		}
	}
	return to
}

// Sections splits lines at headings into citable sources, with the other fields
// copied from base.
func Sections(base agent.Source, headings []notes.Heading, lines []string, from, to int) []agent.Source {
	var sources []agent.Source
	var trail []notes.Heading // headings above the current line, outermost first
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
		open.Text = text.Cut(strings.Join(lines[open.Line-1:end], "\n"), MaxRead) // a single line may exceed the limit
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

// HeadingPath joins the headings above a line, outermost first.
func HeadingPath(trail []notes.Heading) string {
	names := make([]string, len(trail))
	for i, h := range trail {
		names[i] = h.Text
	}
	return strings.Join(names, " › ")
}

// HeadingAt returns the headings above a line, outermost first, with a number
// that distinguishes equal ones.
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

// List formats a heading and at most that many lines as a list, followed by the
// number of further lines.
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
