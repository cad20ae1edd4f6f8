package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type moveArgs struct {
	Path string `json:"path"`
	To   string `json:"to" description:"new path or name, or a folder with / at its end"`
}

type mergeArgs struct {
	Path string `json:"path"`
	Into string `json:"into"`
}

type retagArgs struct {
	Tag string `json:"tag"`
	To  string `json:"to"`
}

// setTools are the tools that change several notes as one.
func setTools(w noteWriter, kept sets) []agent.Tool {
	return []agent.Tool{
		agent.NewWriter(spec[moveArgs]("move_note"), setWriter[moveArgs]{w, kept, mover{w}}, "path"),
		agent.NewWriter(spec[mergeArgs]("merge_notes"), setWriter[mergeArgs]{w, kept, merger{w}}, "path"),
		agent.NewWriter(spec[retagArgs]("rename_tag"), setWriter[retagArgs]{w, kept, retagger{w}}, "tag"),
	}
}

type (
	mover    struct{ noteWriter }
	merger   struct{ noteWriter }
	retagger struct{ noteWriter }
)

// secondMissing is said if the second of two names is missing.
const secondMissing = "The second name is missing; a name of several words is in quotation marks"

// destination finds the note that is to be moved, and the folder and path that it gets: "to" is a folder if it ends
// with a slash or there is one, a name in the note's own folder if it has none, else a path.
func (d mover) destination(ctx context.Context, args moveArgs) (at place, folder *notes.Folder, name string, err error) {
	to := strings.TrimSpace(args.To)
	if to == "" {
		return at, nil, "", fmt.Errorf("where does %q go? %s", args.Path, secondMissing)
	}
	if at, err = d.find(ctx, args.Path); err != nil {
		return at, nil, "", err
	}
	ext := path.Ext(at.Entry.Path)
	if in, below, err := d.locate(to); err == nil && in.HasFolder(below) { // as mv does
		to += "/"
	}
	switch {
	case strings.HasSuffix(to, "/"):
		to += path.Base(at.Entry.Path)
	case !strings.Contains(to, "/"):
		to = PathOf(d.vaults, at.folder, path.Join(path.Dir(at.Entry.Path), to))
	}
	if !strings.EqualFold(path.Ext(to), ext) {
		if notes.IsNote(to) {
			return at, nil, "", fmt.Errorf("%s has another extension than %s: leave it out, or keep it", to,
				at.Entry.Path)
		}
		to += ext
	}
	if folder, name, err = d.locate(to); err != nil {
		return at, nil, "", err
	}
	own, taken, err := folder.Spelled(name)
	switch {
	case err != nil:
		return at, nil, "", err
	case notes.SameName(own, at.Entry.Path) && folder == at.folder:
		return at, nil, "", fmt.Errorf("%s has that name already; upper and lower case do not tell names apart",
			at.Entry.Path)
	case taken && !agent.HidesNote(ctx, PathOf(d.vaults, folder, own)):
		return at, nil, "", fmt.Errorf("there is a note %s already: choose another name, or merge the two", own)
	case agent.HidesNote(ctx, PathOf(d.vaults, folder, own)):
		return at, nil, "", fmt.Errorf("%s cannot be written: a rule hides it", own)
	case !notes.Movable(at.Entry.Path):
		return at, nil, "", fmt.Errorf("%s is of a kind that LifeHub does not move", at.Entry.Path)
	}
	if portable := notes.Portable(own); portable != own {
		return at, nil, "", fmt.Errorf("not every system accepts the name %s; %s would do", own, portable)
	}
	return at, folder, own, nil
}

func (d mover) places(ctx context.Context, args moveArgs) map[string]string {
	at, folder, name, err := d.destination(ctx, args)
	if err != nil {
		return nil
	}
	return map[string]string{
		"path": PathOf(d.vaults, at.folder, at.Entry.Path),
		"to":   PathOf(d.vaults, folder, name),
	}
}

// plan plans how a note gets another path.
func (d mover) plan(ctx context.Context, args moveArgs) (set, error) {
	at, folder, name, err := d.destination(ctx, args)
	if err != nil {
		return set{}, err
	}
	raw, err := at.folder.File(at.Entry.Path)
	if err != nil {
		return set{}, err
	}
	was, to := PathOf(d.vaults, at.folder, at.Entry.Path), PathOf(d.vaults, folder, name)
	s := set{path: was, to: to, says: fmt.Sprintf("%s becomes %s.", was, to)}
	if folder != at.folder {
		s.says += " Links do not lead from one folder of notes to another: those to it stay as they are."
		s.changes = []change{{folder: folder, path: name, now: raw}}
	} else {
		w, err := d.web(ctx, at.folder)
		if err != nil {
			return set{}, err
		}
		if err := w.follow(ctx, notes.Renames{at.Entry.Path: name}, map[string][]byte{at.Entry.Path: raw}); err != nil {
			return set{}, err
		}
		now := w.fresh[at.Entry.Path]
		delete(w.fresh, at.Entry.Path)
		s.changes = append(w.changes(), change{folder: folder, path: name, now: now, keeps: at.Entry.Path, held: raw})
		s.says += w.says("")
	}
	s.changes = append(s.changes, change{folder: at.folder, path: at.Entry.Path, was: raw, moved: true})
	s.report = fmt.Sprintf("moved %s to %s", was, to)
	return s, nil
}

// both finds the notes that are to be merged.
func (d merger) both(ctx context.Context, args mergeArgs) (from, into place, err error) {
	if strings.TrimSpace(args.Into) == "" {
		return from, into, fmt.Errorf("into which note does %q go? %s", args.Path, secondMissing)
	}
	if from, err = d.find(ctx, args.Path); err == nil {
		into, err = d.find(ctx, args.Into)
	}
	if err == nil {
		err = notes.Writable(into.Entry.Path)
	}
	switch {
	case err != nil:
	case from.folder == into.folder && from.Entry.Path == into.Entry.Path:
		err = fmt.Errorf("%s cannot be merged with itself", from.Entry.Path)
	case from.folder != into.folder:
		err = errors.New("notes of two folders cannot be merged: move one of them first")
	case !strings.EqualFold(path.Ext(from.Entry.Path), path.Ext(into.Entry.Path)):
		err = fmt.Errorf("%s and %s are files of two kinds", from.Entry.Path, into.Entry.Path)
	}
	return from, into, err
}

func (d merger) places(ctx context.Context, args mergeArgs) map[string]string {
	from, into, err := d.both(ctx, args)
	if err != nil {
		return nil
	}
	return map[string]string{
		"path": PathOf(d.vaults, from.folder, from.Entry.Path),
		"into": PathOf(d.vaults, into.folder, into.Entry.Path),
	}
}

// plan plans how the text of a note comes to the end of another.
func (d merger) plan(ctx context.Context, args mergeArgs) (set, error) {
	from, into, err := d.both(ctx, args)
	if err != nil {
		return set{}, err
	}
	was, err := from.folder.File(from.Entry.Path)
	if err != nil {
		return set{}, err
	}
	raw, err := into.folder.File(into.Entry.Path)
	if err != nil {
		return set{}, err
	}
	w, err := d.web(ctx, from.folder)
	if err != nil {
		return set{}, err
	}
	// Its links are first written as they have to be in the other note.
	renames := notes.Renames{from.Entry.Path: into.Entry.Path}
	if err := w.follow(ctx, renames, map[string][]byte{from.Entry.Path: was, into.Entry.Path: raw}); err != nil {
		return set{}, err
	}
	moved, now := w.fresh[from.Entry.Path], w.fresh[into.Entry.Path]
	note, target := notes.ParseFile(from.Entry, moved), notes.ParseFile(into.Entry, now)
	body := strings.Join(strings.Split(note.Text, "\n")[note.BodyLine-1:], "\n")
	p, err := openPage(now)
	if err != nil {
		return set{}, fmt.Errorf("%s: %w", into.Entry.Path, err)
	}
	whole := strings.TrimRight(p.text(), "\n")
	if body = strings.Trim(body, "\n"); len(note.Headings) == 0 || note.Headings[0].Text != note.Title {
		body = "# " + note.Title + "\n\n" + body
	}
	p.setText(whole + strings.Repeat("\n\n", min(1, len(whole))) + body + "\n")
	w.fresh[into.Entry.Path] = p.bytes()
	delete(w.fresh, from.Entry.Path)
	s := set{path: PathOf(d.vaults, from.folder, from.Entry.Path), to: PathOf(d.vaults, into.folder, into.Entry.Path)}
	s.changes = append(w.changes(), change{folder: from.folder, path: from.Entry.Path, was: was})
	s.says = fmt.Sprintf("The text of %s goes to the end of %s, without its front matter, and the note is removed.%s",
		s.path, s.to, w.says(into.Entry.Path))
	s.report = fmt.Sprintf("merged %s into %s", s.path, s.to)
	if note.Untrusted && !target.Untrusted {
		s.disowned = strings.Split(body, "\n")
	}
	return s, nil
}

// places returns nil: a tag has no note of its own.
func (retagger) places(context.Context, retagArgs) map[string]string { return nil }

// plan plans how a tag gets another name.
func (d retagger) plan(ctx context.Context, args retagArgs) (set, error) {
	from, to := strings.Trim(strings.TrimSpace(args.Tag), "#/"), strings.Trim(strings.TrimSpace(args.To), "#/")
	if to == "" {
		return set{}, fmt.Errorf("what is #%s to be called? The new name is missing", from)
	}
	if !notes.IsTag(from) || !notes.IsTag(to) || text.Key(from) == text.Key(to) {
		return set{}, fmt.Errorf("%q and %q have to be two tags: letters, digits, - _ and /, not only digits", args.Tag,
			args.To)
	}
	places, err := d.list(ctx)
	if err != nil {
		return set{}, err
	}
	s := set{report: fmt.Sprintf("renamed #%s to #%s", from, to)}
	var left []string
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return set{}, err
		}
		if !notes.IsText(p.Entry.Path) {
			continue
		}
		raw, entry, err := p.folder.Raw(p.Entry.Path)
		if err != nil || !bytes.Contains([]byte(text.Key(string(raw))), []byte(text.Key(path.Base(from)))) {
			continue
		}
		now, err := notes.Retag(entry, raw, from, to)
		switch {
		case err != nil:
			left = append(left, PathOf(d.vaults, p.folder, p.Entry.Path))
		case !bytes.Equal(now, raw):
			s.changes = append(s.changes, change{folder: p.folder, path: p.Entry.Path, was: raw, now: now})
		}
	}
	if len(s.changes) == 0 {
		return set{}, fmt.Errorf("no note that can be changed has the tag #%s%s", from, notChanged(left))
	}
	s.says = fmt.Sprintf("#%s becomes #%s in %s.%s", from, to, text.Count(len(s.changes), "note"), notChanged(left))
	return s, nil
}

// notChanged names what stays as it is.
func notChanged(left []string) string {
	if len(left) == 0 {
		return ""
	}
	more := ""
	if len(left) > mostNamed {
		more = fmt.Sprintf(" and %d more", len(left)-mostNamed)
	}
	return fmt.Sprintf(" Not changed, because LifeHub does not write there: %s%s.",
		strings.Join(left[:min(len(left), mostNamed)], ", "), more)
}
