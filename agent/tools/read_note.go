package tools

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"lifehub/agent"
	"lifehub/notes"
)

type readArgs struct {
	Path string `json:"path" description:"path, file name or title of the note"`
	From int    `json:"from,omitempty" minimum:"1" description:"first line; the beginning if left out"`
	To   int    `json:"to,omitempty" minimum:"1" description:"last line; the end if left out"`
}

const (
	// maxRead bounds what one call reads, in bytes: a little less than what of
	// a result reaches the model (32 KiB).
	maxRead = 30 << 10
	// sourceSize is the least size of a source, in bytes: smaller sections are
	// put together, so that a note of many headings is a handful of sources.
	sourceSize = 1200
)

func newReadNote(v vaults) agent.Tool {
	return byPath{agent.NewTool(spec[readArgs]("read_note"), agent.Auto, func(ctx context.Context, args readArgs) (agent.Result, error) {
		at, note, err := v.open(ctx, args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		return readResult(at, note, args)
	}), v}
}

func readResult(at place, note notes.Note, args readArgs) (agent.Result, error) {
	lines := strings.Split(strings.TrimSuffix(note.Text, "\n"), "\n")
	from, to := max(args.From, 1), len(lines)
	if args.To > 0 {
		to = min(args.To, to)
	}
	if from > to {
		return agent.Result{}, fmt.Errorf("%s has %s; there are none from %d to %d", note.Path, count(len(lines), "line"), from, max(args.To, from))
	}
	whole := from == 1 && to == len(lines)
	to = fitting(lines, from, to, maxRead)
	base := agent.Source{Path: note.Path, Vault: at.folder.Dir(), Date: note.Date, Foreign: note.Untrusted, Score: 1}
	sources := sections(base, note.Headings, lines, from, to)
	if whole && note.BodyLine > 1 {
		sources = withoutFront(base, note, lines, to)
	}
	if len(sources) == 0 {
		return agent.Result{Text: note.Path + " is empty.", Nothing: true}, nil
	}
	head := fmt.Sprintf("%s, %s", note.Path, count(len(lines), "line"))
	if !whole || to < len(lines) {
		head = fmt.Sprintf("%s, lines %d to %d of %d", note.Path, from, to, len(lines))
	}
	text := head + "\n\n" + strings.Join(lines[from-1:to], "\n")
	if to < len(lines) && args.To == 0 {
		text += fmt.Sprintf("\n\nThe note goes on: read from line %d.", to+1)
	}
	for _, problem := range note.Problems {
		text += "\n\nNote: " + problem + "."
	}
	return agent.Result{Text: text, Sources: sources}, nil
}

// withoutFront puts the text of a note first and its front matter last, so that
// an answer that quotes the note does not begin with "tags:". Front matter
// that says nothing of its own is left out.
func withoutFront(base agent.Source, note notes.Note, lines []string, to int) []agent.Source {
	var sources []agent.Source
	if note.BodyLine <= to {
		sources = sections(base, note.Headings, lines, note.BodyLine, to)
	}
	for name := range note.Front {
		switch name {
		case "title", "tags", "tag", "aliases", "date", "created", "updated":
		default:
			return append(sources, sections(base, note.Headings, lines, 1, min(note.BodyLine-1, to))...)
		}
	}
	return sources
}

// fitting is the last line up to which lines fit into a number of bytes, at
// least one.
func fitting(lines []string, from, to, most int) int {
	size := 0
	for line := from; line <= to; line++ {
		if size += len(lines[line-1]) + 1; size > most && line > from {
			return line - 1
		}
	}
	return to
}

// sections cuts lines at headings into sources that can be cited, which are
// like base in all else.
func sections(base agent.Source, headings []notes.Heading, lines []string, from, to int) []agent.Source {
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
		open.Text = clip(strings.Join(lines[open.Line-1:end], "\n"), maxRead) // one line may be longer than all that fits
		if strings.TrimSpace(open.Text) == "" {
			return
		}
		open.EndLine = end
		sources = append(sources, open)
	}
	next := headings
	for line := 1; line <= to; line++ {
		if len(next) > 0 && next[0].Line == line {
			if line > from && size >= sourceSize {
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
			open.Heading = headingPath(trail)
		}
		if line >= from {
			size += len(lines[line-1]) + 1
		}
	}
	finish(to)
	return sources
}

// clip cuts a text to a number of bytes, between two characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}

func headingPath(trail []notes.Heading) string {
	names := make([]string, len(trail))
	for i, h := range trail {
		names[i] = h.Text
	}
	return strings.Join(names, " › ")
}
