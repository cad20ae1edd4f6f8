package tools

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/notes"
)

type linksArgs struct {
	Path string `json:"path"`
}

const linksSchema = `{
	"type": "object",
	"properties": {"path": {"type": "string", "description": "path, file name or title of the note"}},
	"required": ["path"],
	"additionalProperties": false
}`

// maxLinks bounds the links of each direction that are told.
const maxLinks = 50

func newNoteLinks(v vaults) agent.Tool {
	return byPath{agent.NewTool(spec("note_links", linksSchema), agent.Auto, func(ctx context.Context, args linksArgs) (agent.Result, error) {
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
		var to, from []string
		for _, link := range note.Links {
			where := links.to(at.Path, link.Target)
			if where == "" {
				where = link.Target + " (there is no such note)"
			}
			to = append(to, fmt.Sprintf("line %d: %s%s", link.Line, where, headed(link)))
		}
		for _, p := range places {
			if err := ctx.Err(); err != nil {
				return agent.Result{}, err
			}
			if p.Path == at.Path {
				continue
			}
			other, err := p.read()
			if err != nil { // the index reports it
				continue
			}
			for _, link := range other.Links {
				if links.to(p.Path, link.Target) == at.Path {
					from = append(from, fmt.Sprintf("%s:%d%s", p.Path, link.Line, headed(link)))
				}
			}
		}
		return agent.Result{
			Text:    listed("Linked from", from) + "\n\n" + listed("Links to", to),
			Nothing: len(from)+len(to) == 0,
		}, nil
	}), v}
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
}

func linkNames(places []place) names {
	n := names{map[string]string{}, map[string][]string{}}
	for _, p := range places {
		bare := bareName(p.Path)
		n.byPath[bare] = p.Path
		n.byBase[path.Base(bare)] = append(n.byBase[path.Base(bare)], p.Path)
	}
	return n
}

// to is the path of the note that a link in the note at from means: the path
// below that note's folder, the path in the vault, or the one note of that
// file name, the nearest first; "": there is none.
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
	return best
}
