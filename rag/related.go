package rag

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"lifehub/internal/files"
	"lifehub/notes"
	"lifehub/rag/search"
	"lifehub/rag/words"
)

// Related contains the notes that are related to a note.
type Related struct {
	Path  string        `json:"note"`
	Notes []RelatedNote `json:"related"`       // never nil
	Why   string        `json:"why,omitempty"` // why no vectors were used; "": they were
}

// Related finds the notes related to the note at a path by links, tags, mentions and
// vectors, except those at the paths in without.
func (x *Index) Related(ctx context.Context, path string, limit int, without ...string) (Related, error) {
	g, err := x.acquireRepaired(ctx)
	if err != nil {
		return Related{}, fmt.Errorf("find related notes: %w", words.Explain(err))
	}
	defer g.release() //nolint:errcheck // it was only read
	r := Related{Path: path, Notes: []RelatedNote{}}
	tx, err := g.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return r, fmt.Errorf("find related notes: %w", words.Explain(err))
	}
	defer tx.Rollback() //nolint:errcheck // it was only read
	found, why, err := findRelated(ctx, search.Vault{
		DB: tx, Dir: x.options.Vault, Meaning: x,
	}, path, limit, without)
	if err != nil {
		return r, fmt.Errorf("find related notes: %w", words.Explain(err))
	}
	r.Notes, r.Why = append(r.Notes, found...), why
	return r, nil
}

// RelatedNote is a note that is related to another.
type RelatedNote struct {
	Path  string          `json:"path"` // below its vault, with slashes
	Title string          `json:"title"`
	Score float64         `json:"score"` // the sum of the reasons' weights
	Why   []RelatedReason `json:"why"`   // by weight
}

// Reasons formats the reasons for the user.
func (n RelatedNote) Reasons() string {
	var reasons []string
	for _, r := range n.Why {
		reasons = append(reasons, r.String())
	}
	return strings.Join(reasons, ", ")
}

// RelatedReason is why a note is related to another.
type RelatedReason struct {
	Kind RelatedKind `json:"kind"`
	// of the first link or mention: in the note itself if it links, else in the other
	Line   int     `json:"line,omitempty"`
	Tag    string  `json:"tag,omitempty"`
	weight float64 // 1 for a link
}

// RelatedKind is the kind of a reason.
type RelatedKind string

// The kinds of reasons. A link weighs 1, a mention 0.5, a tag more the fewer notes have
// it, and nearness as it is, from 0 to 1.
const (
	byLink      RelatedKind = "links"      // the note links to the other
	byBacklink  RelatedKind = "links_here" // the other links to it
	byMention   RelatedKind = "mentions"   // the other contains the title or an alias, without a link
	byTag       RelatedKind = "tag"        // both have the tag
	bySemantics RelatedKind = "meaning"    // the vectors of both are near
)

// String formats a reason for the user.
func (r RelatedReason) String() string {
	text := map[RelatedKind]string{
		byLink: "linked", byBacklink: "links here", byMention: "mentions it without a link",
		byTag: "same tag #" + r.Tag, bySemantics: "closest in meaning",
	}[r.Kind]
	if r.Line > 0 {
		return fmt.Sprintf("%s (line %d)", text, r.Line)
	}
	return text
}

// maxMentions bounds the passages that are searched for a name of the note.
const maxMentions = 200

// finder finds the notes related to one note.
type finder struct {
	in    search.Vault
	note  notes.Note
	found map[string]*RelatedNote
}

// findRelated returns the notes related to the note at path, by score, and why no
// vectors were used. The error is [fs.ErrNotExist] if the index has no such note.
func findRelated(ctx context.Context, in search.Vault, path string, limit int,
	without []string,
) (all []RelatedNote, why string, err error) {
	f := finder{in: in, found: map[string]*RelatedNote{}}
	if f.note, err = f.read(ctx, path); err != nil {
		return nil, "", err
	}
	for _, step := range []func(context.Context) error{f.links, f.backlinks, f.tags, f.mentions} {
		if err := step(ctx); err != nil {
			return nil, "", err
		}
	}
	near, why, err := search.Similar(ctx, in, path, without)
	if err != nil {
		return nil, "", err
	}
	for other, n := range near {
		f.add(other, RelatedReason{Kind: bySemantics, weight: n})
	}
	for _, note := range f.found {
		slices.SortStableFunc(note.Why, func(a, b RelatedReason) int {
			return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tag, b.Tag))
		})
		all = append(all, *note)
	}
	slices.SortFunc(all, func(a, b RelatedNote) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Path, b.Path))
	})
	all = all[:min(len(all), limit)]
	for i := range all {
		if err := in.DB.QueryRowContext(ctx, `SELECT title FROM notes WHERE path = ?`,
			all[i].Path).Scan(&all[i].Title); err != nil {
			return nil, "", err
		}
	}
	return all, why, nil
}

// add adds a reason, unless the note has one of this kind and tag.
func (f *finder) add(path string, r RelatedReason) {
	if path == "" || path == f.note.Path {
		return
	}
	n := f.found[path]
	if n == nil {
		n = &RelatedNote{Path: path}
		f.found[path] = n
	}
	if !slices.ContainsFunc(n.Why, func(other RelatedReason) bool {
		return other.Kind == r.Kind &&
			other.Tag == r.Tag
	}) {
		n.Why, n.Score = append(n.Why, r), n.Score+r.weight
	}
}

// read returns a note as it was indexed.
func (f *finder) read(ctx context.Context, path string) (notes.Note, error) {
	var packed []byte
	err := f.in.DB.QueryRowContext(ctx, `SELECT text FROM notes WHERE path = ?`, path).Scan(&packed)
	if err == sql.ErrNoRows { //nolint:errorlint // Scan returns it as it is
		err = fmt.Errorf("%s is not indexed: %w", path, fs.ErrNotExist)
	}
	if err != nil {
		return notes.Note{}, err
	}
	text, err := words.Unpack(packed)
	if err != nil {
		return notes.Note{}, err
	}
	// without its ids, which are not in the text that is searched
	note := notes.Parse(notes.Entry{Path: path}, []byte(text))
	note.IDs, err = files.Column[string](ctx, f.in.DB, `SELECT id FROM aliases WHERE id != '' AND note = (SELECT id
		FROM notes WHERE path = ?)`, path)
	return note, err
}

func (f *finder) links(ctx context.Context) error {
	links, err := words.Links(ctx, f.in.DB, `n.path = ?`, f.note.Path)
	for _, l := range links {
		to, err := words.LeadsTo(ctx, f.in.DB, l)
		if err != nil {
			return err
		}
		f.add(to, RelatedReason{Kind: byLink, Line: l.Link.Line, weight: 1})
	}
	return err
}

func (f *finder) backlinks(ctx context.Context) error {
	for _, name := range slices.Concat(f.note.Titles(), f.note.IDs, []string{f.note.Path}) {
		base := words.LinkBase(name)
		links, err := words.Links(ctx, f.in.DB, `(l.base = ? OR l.key = ? AND l.key != '' AND l.wiki)`, base,
			words.NameKey(words.SpacedName(base+".md")))
		if err != nil {
			return err
		}
		for _, l := range links {
			to, err := words.LeadsTo(ctx, f.in.DB, l)
			if err != nil {
				return err
			}
			if to == f.note.Path {
				f.add(l.From, RelatedReason{Kind: byBacklink, Line: l.Link.Line, weight: 1})
			}
		}
	}
	return nil
}

func (f *finder) tags(ctx context.Context) error {
	for scan := range files.Rows(ctx, f.in.DB, `SELECT n.path, t.tag, (SELECT count(*) FROM tags WHERE tag = t.tag)
		FROM tags mine
		JOIN tags t ON t.tag = mine.tag JOIN notes n ON n.id = t.note WHERE mine.note = (SELECT id FROM notes
		WHERE path = ?)`, f.note.Path) {
		var path, tag string
		var count int
		if err := scan(&path, &tag, &count); err != nil {
			return err
		}
		f.add(path, RelatedReason{Kind: byTag, Tag: tag, weight: 1 / float64(max(1, count-1))})
	}
	return nil
}

func (f *finder) linksHere(path string) bool {
	n := f.found[path]
	return n != nil && slices.ContainsFunc(n.Why, func(r RelatedReason) bool { return r.Kind == byBacklink })
}

func (f *finder) mentions(ctx context.Context) error {
	for _, name := range f.note.Titles() {
		paths, err := search.NotesContaining(ctx, f.in, name, maxMentions)
		if err != nil {
			return err
		}
		for _, path := range paths {
			other, err := f.read(ctx, path)
			if err != nil {
				return err
			}
			if lines := other.Mentions(f.note.Titles()); len(lines) > 0 && !f.linksHere(path) {
				f.add(path, RelatedReason{Kind: byMention, Line: lines[0], weight: 0.5})
			}
		}
	}
	return nil
}
