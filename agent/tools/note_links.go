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
		links := linkNames(places)
		var candidates []backlink
		for _, p := range places {
			if err := ctx.Err(); err != nil {
				return agent.Result{}, err
			}
			other, err := p.read(ctx)
			if err != nil { // the index reports it
				continue
			}
			links.addTitles(other)
			if p.Path != at.Path {
				candidates = append(candidates, linksThatMayMean(note, other)...)
			}
		}
		result := agent.Result{}
		var to, from []string
		for _, link := range note.Links {
			where := links.to(at.Path, link.Target)
			result.Listed = append(result.Listed, agent.Source{Path: cmp.Or(where, link.Target)})
			if where == "" {
				where = link.Target + " (there is no such note)"
			}
			to = append(to, fmt.Sprintf("line %d: %s%s", link.Line, where, headed(link)))
		}
		for _, b := range candidates {
			if links.to(b.path, b.link.Target) == at.Path {
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
	base, titles := path.Base(bareName(note.Path)), titlesOf(note)
	var lines []string
	for _, link := range other.Links {
		if path.Base(bareName(link.Target)) != base && !slices.Contains(titles, strings.ToLower(link.Target)) {
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

// titlesOf are the names besides its file's by which a note may be linked, in
// lower case.
func titlesOf(note notes.Note) []string {
	titles := []string{strings.ToLower(note.Title)}
	for _, alias := range note.Aliases {
		titles = append(titles, strings.ToLower(alias))
	}
	return titles
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

// names finds the note that a link means.
type names struct {
	byPath map[string]string   // bare name → path
	byBase map[string][]string // bare file name → paths

	byTitle map[string]string // title or alias, in lower case → path; "": several
}

// addTitles takes in how a note may be called besides its file's name.
func (n names) addTitles(note notes.Note) {
	for _, title := range titlesOf(note) {
		if other, taken := n.byTitle[title]; taken && other != note.Path {
			n.byTitle[title] = ""
		} else {
			n.byTitle[title] = note.Path
		}
	}
}

func linkNames(places []place) names {
	n := names{map[string]string{}, map[string][]string{}, map[string]string{}}
	for _, p := range places {
		bare := bareName(p.Path)
		n.byPath[bare] = p.Path
		n.byBase[path.Base(bare)] = append(n.byBase[path.Base(bare)], p.Path)
	}
	return n
}

// to is the path of the note that a link in the note at from means: the path
// below that note's folder, the path in the vault, the note of that file name
// with the shortest path, or the one note of that title or alias; "": there is none.
func (n names) to(from, target string) string {
	if target == "" {
		return from
	}
	bare := bareName(strings.TrimPrefix(target, "/"))
	if found := n.byPath[bareName(path.Join(path.Dir(from), target))]; found != "" && !strings.HasPrefix(target, "/") {
		return found
	}
	if found := n.byPath[bare]; found != "" {
		return found
	}
	var best string
	for _, p := range n.byBase[path.Base(bare)] {
		if hasNameSuffix("/"+p, bare) && (best == "" || len(p) < len(best)) {
			best = p
		}
	}
	return cmp.Or(best, n.byTitle[strings.ToLower(target)])
}
