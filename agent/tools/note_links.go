package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/agent/tools/web"
	"lifehub/internal/text"
	"lifehub/notes"
)

type linksArgs struct {
	Path string `json:"path"`
}

const (
	// maxLinks bounds the links listed in each direction.
	maxLinks = 50
	// maxLinkLine bounds the text shown around a link, in bytes.
	maxLinkLine = 160
)

func newNoteLinks(v vaults) agent.Tool {
	return byPath{agent.NewTool(spec[linksArgs]("note_links"), agent.Auto,
		func(ctx context.Context, args linksArgs) (agent.Result, error) {
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
			blocks := map[string]string{} // text of the blocks with ids that the note links to
			for _, link := range note.Links {
				blocks[text.Key(link.Target)] = ""
			}
			var candidates, mentions []backlink
			for _, p := range places {
				names.Add(p.Entry.Path)
				if err := ctx.Err(); err != nil {
					return agent.Result{}, err
				}
				if notes.IsPicture(p.Entry.Path) { // it has no links, and would make the result untrusted
					continue
				}
				other, err := p.glance(ctx)
				if err != nil { // the index reports it
					continue
				}
				names.Add(p.Entry.Path, slices.Concat(other.Titles(), other.IDs)...)
				for _, id := range other.IDs {
					if _, linked := blocks[text.Key(id)]; linked {
						blocks[text.Key(id)] = other.TextOf(id)
					}
				}
				if p.Entry.Path != at.Entry.Path {
					lines := strings.Split(other.Text, "\n")
					for _, line := range other.Mentions(note.Titles()) {
						mentions = append(mentions, newBacklink(other, notes.Link{Line: line}, lines))
					}
					candidates = append(candidates, linksThatMayMean(note, other)...)
				}
			}
			result := agent.Result{}
			var to, from, unlinked []string
			lines := strings.Split(note.Text, "\n")
			for _, link := range note.Links {
				where := names.Of(at.Entry.Path, link)
				from := newBacklink(note, link, lines)
				result.Listed = append(result.Listed, agent.Source{
					Path: cmp.Or(where, link.Target),
					Text: from.line, Lines: from.whole, Untrusted: from.outside,
				})
				if where == "" {
					where = link.Target + " (no such note)"
				} else if block := blocks[text.Key(link.Target)]; block != "" {
					where += " › " + text.Cut(block, maxLinkLine)
				}
				to = append(to, fmt.Sprintf("line %d: %s%s", link.Line, where, headed(link)))
			}
			tell := func(b backlink) string {
				result.Listed = append(result.Listed, agent.Source{
					Path: b.path, Line: b.link.Line, EndLine: b.link.Line,
					Text: b.line, Lines: b.whole, Untrusted: b.outside,
				})
				return fmt.Sprintf("%s%s: %s", agent.PlaceName(b.path, b.link.Line), headed(b.link), b.line)
			}
			linked := map[string]bool{}
			for _, b := range candidates {
				if names.Of(b.path, b.link) == at.Entry.Path {
					from, linked[b.path] = append(from, tell(b)), true
				}
			}
			for _, b := range mentions {
				if !linked[b.path] {
					unlinked = append(unlinked, tell(b))
				}
			}
			result.Text = at.instead + web.List("Linked from", from, maxLinks) + "\n\n" +
				web.List("Links to", to, maxLinks)
			if len(unlinked) > 0 {
				result.Text += "\n\n" + web.List("Mentioned without a link", unlinked, maxLinks)
			}
			result.Nothing = len(from)+len(to)+len(unlinked) == 0
			return result, nil
		}), v}
}

// backlink is a link in another note, or a mention without one, with the text
// of its line.
type backlink struct {
	path    string
	link    notes.Link
	line    string // as far as it is shown
	whole   string
	outside bool // the note is not the user's own text
}

func newBacklink(from notes.Note, link notes.Link, lines []string) backlink {
	b := backlink{path: from.Path, link: link, outside: from.Untrusted}
	if link.Line >= 1 && link.Line <= len(lines) {
		b.whole = lines[link.Line-1]
		b.line = text.Cut(strings.TrimSpace(b.whole), maxLinkLine)
	}
	return b
}

// linksThatMayMean returns the links of another note of which a half could be the
// file or a name of note.
func linksThatMayMean(note, other notes.Note) (list []backlink) {
	names := map[string]bool{path.Base(notes.Key(note.Path)): true}
	for _, name := range slices.Concat(note.Titles(), note.IDs) {
		names[notes.Key(name)], names[path.Base(notes.Key(name))] = true, true
	}
	var lines []string
	for _, link := range other.Links {
		second, _, _ := strings.Cut(link.Text, "#")
		if !names[path.Base(notes.Key(link.Target))] && !(link.Wiki && names[path.Base(notes.Key(second))]) {
			continue
		}
		if lines == nil {
			lines = strings.Split(other.Text, "\n")
		}
		list = append(list, newBacklink(other, link, lines))
	}
	return list
}

func headed(link notes.Link) string {
	if link.Heading == "" {
		return ""
	}
	return " › " + link.Heading
}
