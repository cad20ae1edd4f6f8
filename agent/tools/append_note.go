package tools

import (
	"context"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type appendArgs struct {
	Path    string `json:"path,omitempty"`
	Content string `json:"content"`
	Heading string `json:"heading,omitempty"`
}

func newAppendNote(v noteWriter, daily Daily, now func() time.Time) agent.Tool {
	return newWriter(v, spec[appendArgs](agent.AppendNote), func(ctx context.Context, args appendArgs) (change, error) {
		content := strings.Trim(notes.WithLF(text.Unfenced(args.Content)), "\n")
		if strings.TrimSpace(content) == "" {
			return change{}, errors.New("content missing")
		}
		folder, name, fresh, err := appendTarget(ctx, v.vaults, daily, now(), args.Path)
		if err != nil {
			return change{}, err
		}
		raw, entry, err := folder.Raw(name)
		if errors.Is(err, fs.ErrNotExist) {
			head := fresh
			if args.Heading != "" {
				head += "## " + args.Heading + "\n\n"
			}
			if logseqDay.MatchString(name) {
				content = asItem(content)
			}
			c := newNote(folder, name, head+content)
			c.line = 1 + strings.Count(head, "\n")
			return c, nil
		}
		if err != nil {
			return change{}, err
		}
		now, line, err := appended(notes.Parse(entry, raw), raw, content, args.Heading)
		if err != nil {
			return change{}, err
		}
		return change{folder: folder, path: name, was: raw, now: now, line: line, report: "added to " + name}, nil
	}, "path")
}

// appendTarget returns the note to append to, and the text that a new note
// starts with.
func appendTarget(ctx context.Context, v vaults, daily Daily, now time.Time,
	called string,
) (folder *notes.Folder, name, fresh string, err error) {
	if strings.TrimSpace(called) == "" {
		return v.dailyNote(ctx, daily, now)
	}
	at, err := v.find(ctx, called)
	if err == nil {
		return at.folder, at.Entry.Path, "", nil
	}
	if folder, name, fresh, late := v.dailyNote(ctx, daily, now); errors.Is(err, fs.ErrNotExist) && late == nil &&
		called == PathOf(v, folder, name) {
		return folder, name, fresh, nil
	}
	folder, name, located := v.locate(strings.TrimSpace(called))
	whole := strings.Contains(name, "/") && strings.HasSuffix(strings.ToLower(name), ".md")
	if errors.Is(err, fs.ErrNotExist) && located == nil && whole {
		if own, _, spelled := folder.Spelled(name); spelled == nil {
			return folder, own, "", nil // a complete path refers to this very note
		}
	}
	return nil, "", "", err
}

// appended appends content to a note or to one of its sections. A missing
// section is created. It returns the new text and the first line of what was
// added.
func appended(note notes.Note, raw []byte, content, heading string) (now []byte, line int, err error) {
	p, err := openPage(raw)
	if err != nil {
		return nil, 0, err
	}
	after := len(p.lines)
	if isOutline(note) && heading == "" {
		content = asItem(content)
	}
	if heading != "" {
		if end, ok := sectionEnd(note, heading, after); ok {
			after = end
		} else {
			content = "## " + strings.TrimLeft(heading, "# ") + "\n\n" + content
		}
	}
	line = p.appendTo(after, strings.Split(content, "\n")...)
	return p.bytes(), line, nil
}

// logseqDay matches the path of a day in Logseq.
var logseqDay = regexp.MustCompile(`^journals/\d{4}_\d\d_\d\d\.md$`)

// asItem returns a text as a list item, unless it is a list.
func asItem(content string) string {
	if listItem.MatchString(content) {
		return content
	}
	return "- " + strings.ReplaceAll(content, "\n", "\n  ")
}

// isOutline reports whether a note is in a folder of Logseq and ends in a list, as Logseq writes it. A line after it
// would be of the last item.
func isOutline(note notes.Note) bool {
	dir, _, _ := strings.Cut(note.Path, "/")
	blocks := text.Blocks(note.Text)
	return (dir == "journals" || dir == "pages") && len(blocks) > 0 && blocks[len(blocks)-1].Depth > 0
}

// sectionEnd returns the last line of the section under a heading. last is the
// last line of the note.
func sectionEnd(note notes.Note, heading string, last int) (line int, ok bool) {
	wanted := strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(heading), "#"))
	for i, h := range note.Headings {
		if text.Key(h.Text) != text.Key(wanted) {
			continue
		}
		for _, next := range note.Headings[i+1:] {
			if next.Level <= h.Level {
				return next.Line - 1, true
			}
		}
		return last, true
	}
	return 0, false
}

var listItem = regexp.MustCompile(`^\s*(?:[-*+]|\d{1,9}[.)])\s`)
