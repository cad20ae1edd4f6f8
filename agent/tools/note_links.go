package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type linksArgs struct {
	Path string `json:"path" description:"path, file name or title of the note"`
}

const (
	// maxLinks bounds the links of each direction that are told.
	maxLinks = 50
	// maxLinkLine bounds the line around a link, in bytes.
	maxLinkLine = 160
)

func newNoteLinks(v vaults) agent.Tool {
	return byPath{agent.NewTool(spec[linksArgs]("note_links"), agent.Auto, func(ctx context.Context, args linksArgs) (agent.Result, error) {
		at, note, err := v.open(ctx, args.Path)
		if err != nil {
			return agent.Result{}, err
		}
		places, err := v.list(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		places = slices.DeleteFunc(places, func(p place) bool { return p.folder != at.folder })
		var names notes.Names
		var candidates []backlink
		for _, p := range places {
			names.Add(p.Path)
			if err := ctx.Err(); err != nil {
				return agent.Result{}, err
			}
			other, err := p.read(ctx)
			if err != nil { // the index reports it
				continue
			}
			names.Add(p.Path, other.Titles()...)
			if p.Path != at.Path {
				candidates = append(candidates, linksThatMayMean(note, other)...)
			}
		}
		result := agent.Result{}
		var to, from []string
		for _, link := range note.Links {
			where := names.To(at.Path, link.Target)
			result.Listed = append(result.Listed, agent.Source{Path: cmp.Or(where, link.Target)})
			if where == "" {
				where = link.Target + " (there is no such note)"
			}
			to = append(to, fmt.Sprintf("line %d: %s%s", link.Line, where, headed(link)))
		}
		for _, b := range candidates {
			if names.To(b.path, b.link.Target) == at.Path {
				from = append(from, fmt.Sprintf("%s:%d%s: %s", b.path, b.link.Line, headed(b.link), b.line))
				result.Listed = append(result.Listed, agent.Source{Path: b.path, Line: b.link.Line, EndLine: b.link.Line, Text: b.line})
			}
		}
		result.Text = listed("Linked from", from) + "\n\n" + listed("Links to", to)
		result.Nothing = len(from)+len(to) == 0
		return result, nil
	}), v}
}

// backlink is a link of another note, with the line that it stands in.
type backlink struct {
	path string
	link notes.Link
	line string
}

// linksThatMayMean are the links of another note that name a note by its file
// or its title.
func linksThatMayMean(note, other notes.Note) (list []backlink) {
	base := path.Base(notes.BareName(note.Path))
	var lines []string
	for _, link := range other.Links {
		if path.Base(notes.BareName(link.Target)) != base && !slices.ContainsFunc(note.Titles(), func(name string) bool { return strings.EqualFold(name, link.Target) }) {
			continue
		}
		if lines == nil {
			lines = strings.Split(other.Text, "\n")
		}
		line := ""
		if link.Line >= 1 && link.Line <= len(lines) {
			line = text.Cut(strings.TrimSpace(lines[link.Line-1]), maxLinkLine)
		}
		list = append(list, backlink{other.Path, link, line})
	}
	return list
}

func headed(link notes.Link) string {
	if link.Heading == "" {
		return ""
	}
	return " › " + link.Heading
}

func listed(head string, lines []string) string {
	if len(lines) == 0 {
		return head + ": nothing"
	}
	more := ""
	if len(lines) > maxLinks {
		more = fmt.Sprintf("\n- and %d more", len(lines)-maxLinks)
		lines = lines[:maxLinks]
	}
	return head + ":\n- " + strings.Join(lines, "\n- ") + more
}
