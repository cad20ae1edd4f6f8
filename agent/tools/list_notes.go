package tools

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type listArgs struct {
	Folder string `json:"folder,omitempty"`
	Tag    string `json:"tag,omitempty"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"200"`
}

const (
	listLimit = 20
	maxListed = 200
)

func newListNotes(v vaults) agent.Tool {
	return agent.NewTool(spec[listArgs]("list_notes"), agent.Auto,
		func(ctx context.Context, args listArgs) (agent.Result, error) {
			places, unread, err := v.visible(ctx)
			if err != nil {
				return agent.Result{}, err
			}
			// photos would crowd the notes out
			places = slices.DeleteFunc(places, func(p place) bool { return notes.IsPicture(p.Entry.Path) })
			folder := strings.Trim(path.Clean("/"+args.Folder), "/")
			tag := text.Key(strings.Trim(strings.TrimSpace(args.Tag), "#/"))
			var found []notes.Note
			for _, p := range places {
				if err := ctx.Err(); err != nil {
					return agent.Result{}, err
				}
				if !inFolder(p.Entry.Path, folder) {
					continue
				}
				note, err := p.glance(ctx)
				switch {
				case err == nil && hasTag(note, tag):
					found = append(found, note)
				case notes.CannotRead(err):
					unread = append(unread, PathOf(v, p.folder, p.Entry.Path))
				}
			}
			slices.SortStableFunc(found, func(a, b notes.Note) int {
				return cmp.Or(b.Date.Compare(a.Date), b.ModTime.Compare(a.ModTime))
			})
			listed := listResult(found, len(places), args)
			listed.Text += missing(unread)
			return listed, nil
		})
}

func inFolder(name, folder string) bool {
	return folder == "" || strings.HasPrefix(text.Key(name), text.Key(folder)+"/")
}

func hasTag(note notes.Note, tag string) bool {
	return tag == "" || slices.ContainsFunc(note.Tags, func(t string) bool {
		return t == tag ||
			strings.HasPrefix(t, tag+"/")
	})
}

func listResult(found []notes.Note, all int, args listArgs) agent.Result {
	var which string
	if args.Folder != "" {
		which += " in " + args.Folder
	}
	if args.Tag != "" {
		which += " tagged #" + strings.TrimPrefix(args.Tag, "#")
	}
	if len(found) == 0 {
		return agent.Result{Text: fmt.Sprintf("There are no notes%s; there are %d in all.", which, all), Nothing: true}
	}
	limit := listLimit
	if args.Limit > 0 {
		limit = min(args.Limit, maxListed)
	}
	shown := found[:min(len(found), limit)]
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s", text.Count(len(found), "note"), which)
	if len(shown) < len(found) {
		fmt.Fprintf(&b, ", the newest %d", len(shown))
	}
	b.WriteString(":\n")
	var listed []agent.Source
	for _, n := range shown {
		listed = append(listed, agent.Source{Path: n.Path, Untrusted: n.Untrusted})
		day := n.Date.String()
		if n.Date.IsZero() {
			// a file time, which need not be the date of the note
			day = "changed " + n.ModTime.Local().Format(time.DateOnly)
		}
		fmt.Fprintf(&b, "\n- %s %s", day, n.Path)
		if !notes.SameName(n.Title, path.Base(n.Path)) {
			fmt.Fprintf(&b, ": %s", n.Title)
		}
		for _, t := range n.Tags {
			b.WriteString(" #" + t)
		}
	}
	return agent.Result{Text: b.String(), Listed: listed}
}
