package tools

import (
	"context"
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/internal/text"
	"lifehub/notes"
)

type readArgs struct {
	Path string `json:"path" description:"or file name or title"`
	From int    `json:"from,omitempty" minimum:"1"`
	To   int    `json:"to,omitempty" minimum:"1"`
}

func newReadNote(v vaults) agent.Tool {
	return byPath{agent.NewTool(spec[readArgs]("read_note"), agent.Auto,
		func(ctx context.Context, args readArgs) (agent.Result, error) {
			at, note, err := v.open(ctx, args.Path)
			if err != nil {
				return agent.Result{}, err
			}
			return readResult(at, note, args)
		}, agent.ReadsNote), v}
}

func readResult(at place, note notes.Note, args readArgs) (agent.Result, error) {
	lines := strings.Split(strings.TrimSuffix(note.Text, "\n"), "\n")
	from, to := max(args.From, 1), len(lines)
	if args.To > 0 {
		to = min(args.To, to)
	}
	unit := "line"
	if notes.IsPaged(note.Path) {
		unit = "page"
	}
	if from > to {
		return agent.Result{}, fmt.Errorf("%s has %s; there are none from %d to %d", note.Path,
			text.Count(len(lines), unit), from, max(args.To, from))
	}
	whole := from == 1 && to == len(lines)
	to = web.Fitting(lines, from, to, web.MaxRead)
	base := agent.Source{Path: note.Path, Vault: at.folder.Dir(), Date: note.Date, Untrusted: note.Untrusted, Score: 1}
	sources := web.Sections(base, note.Headings, lines, from, to)
	if whole && note.BodyLine > 1 {
		sources = withoutFront(base, note, lines, to)
	}
	if len(sources) == 0 {
		return agent.Result{Text: at.instead + note.Path + " is empty.", Nothing: true}, nil
	}
	head := fmt.Sprintf("%s, %s", note.Path, text.Count(len(lines), unit))
	if !whole || to < len(lines) {
		head = fmt.Sprintf("%s, %ss %d to %d of %d", note.Path, unit, from, to, len(lines))
	}
	text := at.instead + head + "\n\n" + strings.Join(lines[from-1:to], "\n")
	if to < len(lines) && args.To == 0 {
		text += fmt.Sprintf("\n\nThe note goes on: read from %s %d.", unit, to+1)
	}
	for _, problem := range note.Problems {
		text += "\n\nNote: " + problem + "."
	}
	return agent.Result{Text: text, Sources: sources}, nil
}

// withoutFront returns the text of a note first and its front matter last, so
// that an answer that quotes the note does not start with "tags:". Front matter
// with only standard fields is omitted.
func withoutFront(base agent.Source, note notes.Note, lines []string, to int) []agent.Source {
	var sources []agent.Source
	if note.BodyLine <= to {
		sources = web.Sections(base, note.Headings, lines, note.BodyLine, to)
	}
	for name := range note.Front {
		switch name {
		case "title", "tags", "tag", "aliases", "date", "created", "updated":
		default:
			return append(sources, web.Sections(base, note.Headings, lines, 1, min(note.BodyLine-1, to))...)
		}
	}
	return sources
}
