package notes

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lifehub/internal/text"
)

// linkSpot is where a link has its names, in bytes of a note's text.
type linkSpot struct {
	name    span // of the target, without heading
	other   span // of the second half of a wikilink, which is a name in Dendron
	address bool // it is written like a URL
	path    bool // other programs read it as a path relative to the note
}

// tagMark is a #tag in a note's text, without the #.
type tagMark struct{ span }

// wikiSpot is where the names of a wikilink [[inner]] at an offset are.
func wikiSpot(inner string, at int) (spot linkSpot) {
	name, other, halved := strings.Cut(inner, "|")
	if halved {
		spot.other = nameIn(other, at+len(name)+1)
		name = strings.TrimSuffix(name, `\`)
	}
	if below, ok := strings.CutPrefix(name, "dendron://"); ok {
		_, below, _ = strings.Cut(below, "/")
		at, name = at+len(name)-len(below), below
	}
	spot.name = nameIn(name, at)
	return spot
}

// nameIn is where a name stands in a text at an offset, without heading and blanks.
func nameIn(text string, at int) span {
	text, _, _ = strings.Cut(text, "#")
	start := at + len(text) - len(strings.TrimLeft(text, " \t"))
	return span{start, start + len(strings.TrimSpace(text))}
}

// addressSpot is where the path of an address at an offset is.
func addressSpot(target string, at int) linkSpot {
	id := len(target) - len(strings.TrimPrefix(target, ":/")) // see [noteLink]
	size := len(target[id:])
	if end := strings.IndexAny(target[id:], "#?"); end >= 0 {
		size = end
	}
	return linkSpot{name: span{at + id, at + id + size}, address: true, path: true}
}

// addLink adds a link whose names are in the body; one to a file that is no note is kept apart.
func (n *Note) addLink(link Link, spot linkSpot, body string) {
	before := len(n.Text) - len(body)
	for _, s := range []*span{&spot.name, &spot.other} {
		*s = span{s.start + before, s.stop + before}
	}
	switch {
	case link.Target != "" || link.Heading != "":
		n.Links, n.spots = append(n.Links, link), append(n.spots, spot)
	case spot.address && spot.name.stop > spot.name.start:
		n.files = append(n.files, spot)
	}
}

// addTag adds a #tag that is in the body.
func (n *Note) addTag(tag string, at span, body string) {
	before := len(n.Text) - len(body)
	n.addTags([]string{tag})
	n.marks = append(n.marks, tagMark{span{at.start + before, at.stop + before}})
}

// Renames are the new paths of notes by their old ones. Several notes may become one.
type Renames map[string]string

// Of returns the path of a note after the renames.
func (r Renames) Of(note string) string { return cmp.Or(r[note], note) }

// Relinking changes links when notes are renamed.
type Relinking struct {
	Before, After *Names // of all notes
	Renames       Renames
	Files         Files
}

// Files has the files of a folder, which may be no notes. *Folder is the real one.
type Files interface {
	Exists(file string) bool
}

// edit replaces a range of a text.
type edit struct {
	span
	fresh string
}

// Relink returns the bytes of a note in which every link leads to the same note as before the renames, and if the note
// itself is renamed, every relative address to the same file. Nothing else is changed. It fails if a link cannot be
// written so.
func (r Relinking) Relink(entry Entry, raw []byte) ([]byte, error) {
	n, spots, source := written(entry, raw)
	at := r.Renames.Of(entry.Path)
	var edits []edit
	for i, link := range n.Links {
		found := r.Before.Of(entry.Path, link)
		want := r.Renames.Of(found)
		way := leading{
			from: entry.Path, at: at, found: found, want: want,
			near: spots[i].path && relative(entry.Path, link.Target, found),
			file: r.Before.file(entry.Path, link.Target) == found,
		}
		if found == "" || link.Target == "" || r.leads(link, way) {
			continue
		}
		fresh, err := r.rewritten(source, spots[i], link, way)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", entry.Path, link.Line, err)
		}
		edits = append(edits, fresh)
	}
	if path.Dir(at) != path.Dir(entry.Path) {
		edits = append(edits, r.movedFiles(n, entry.Path, at)...)
	}
	if len(edits) == 0 {
		return raw, nil
	}
	if err := Changeable(raw); err != nil {
		return nil, fmt.Errorf("%s: %w", entry.Path, err)
	}
	now := rewrite(raw, source, edits)
	is, _, _ := written(Entry{Path: at}, now)
	return now, r.check(n, is)
}

// written parses the bytes of a file, and returns where its links have their names in which text.
func written(entry Entry, raw []byte) (n Note, spots []linkSpot, source string) {
	if n = ParseFile(entry, raw); kindOf(entry.Path) == orgMode {
		return n, n.orgSpots(string(raw)), string(raw)
	}
	return n, n.spots, n.Text
}

// ParseFile parses the bytes of a note's file as [Folder.File] returns them.
func ParseFile(entry Entry, raw []byte) Note {
	if kindOf(entry.Path) == orgMode {
		raw = fromOrg(raw)
	}
	return Parse(entry, raw)
}

// leading is where a link leads: from a note to another before the renames, and at its new place to want. near means
// that other programs follow it as a relative path, file that it names a file and no title: both have to be so still.
type leading struct {
	from, at, found, want string
	near, file            bool
}

// leads reports whether a link leads as it has to after the renames.
func (r Relinking) leads(link Link, way leading) bool {
	return r.After.Of(way.at, link) == way.want && (!way.near || relative(way.at, link.Target, way.want)) &&
		(!way.file || r.After.file(way.at, link.Target) == way.want)
}

// relative reports whether a target is the path of a note relative to another.
func relative(from, target, note string) bool {
	return !strings.HasPrefix(target, "/") && SameName(path.Join(path.Dir(from), target), note)
}

// rewritten returns the edit by which a link leads to want: the first of the ways to write its name that does, in the
// style that it has.
func (r Relinking) rewritten(source string, spot linkSpot, link Link, way leading) (edit, error) {
	place, written := spot.name, link.Target
	if link.Wiki && r.Before.To(way.from, link.Target) == "" { // the second half is the name
		place = spot.other
		written, _, _ = strings.Cut(link.Text, "#")
	}
	whole := way.want
	if !strings.EqualFold(path.Ext(written), path.Ext(way.found)) {
		whole = withoutMarkdown(way.want)
	}
	near, err := filepath.Rel(path.Dir(way.at), whole)
	if err != nil {
		return edit{}, err
	}
	if near = filepath.ToSlash(near); strings.HasPrefix(written, "./") && !strings.HasPrefix(near, "../") {
		near = "./" + near
	}
	ways := []string{whole, near, "/" + whole}
	switch {
	case strings.HasPrefix(written, "/"):
		ways = []string{"/" + whole, whole, near}
	case way.near, strings.HasPrefix(written, "."):
		ways = []string{near, whole, "/" + whole}
	case !strings.Contains(written, "/") && !spot.path:
		ways = append([]string{path.Base(whole)}, ways...)
	}
	angled := place.start > 0 && source[place.start-1] == '<'
	for _, name := range ways {
		again := link
		fresh := name
		if spot.address {
			fresh = addressOf(name, angled)
			again = noteLink(fresh)
			again.Heading, again.Text = link.Heading, link.Text
		} else if place != spot.name {
			again = Link{Target: link.Target, Text: name, Wiki: true}
		} else {
			after := source[place.stop:max(spot.name.stop, spot.other.stop, place.stop)]
			again = wikilink(source[spot.name.start:place.start] + name + after)
		}
		if !strings.ContainsAny(fresh, "\n[]|#^") && r.leads(again, way) {
			return edit{place, fresh}, nil
		}
	}
	return edit{}, fmt.Errorf("no link to %s can be written there", way.want)
}

// addressOf writes a path as an address.
func addressOf(name string, angled bool) string {
	escape := []string{"%", "%25", "#", "%23", "?", "%3F", "<", "%3C", ">", "%3E", `\`, "%5C"}
	if !angled {
		escape = append(escape, " ", "%20", "(", "%28", ")", "%29")
	}
	name = strings.NewReplacer(escape...).Replace(name)
	if first, _, _ := strings.Cut(name, "/"); strings.Contains(first, ":") { // which would be a scheme
		name = "./" + name
	}
	return name
}

// movedFiles returns the edits of relative addresses of files in a note that is now elsewhere.
func (r Relinking) movedFiles(n Note, from, at string) (edits []edit) {
	for _, spot := range n.files {
		written := n.Text[spot.name.start:spot.name.stop]
		address, err := url.Parse(written)
		if err != nil || address.Scheme != "" || address.Host != "" || strings.HasPrefix(address.Path, "/") {
			continue
		}
		file := path.Join(path.Dir(from), address.Path)
		if !filepath.IsLocal(file) || !r.Files.Exists(file) {
			continue
		}
		if near, err := filepath.Rel(path.Dir(at), file); err == nil {
			angled := spot.name.start > 0 && n.Text[spot.name.start-1] == '<'
			edits = append(edits, edit{spot.name, addressOf(filepath.ToSlash(near), angled)})
		}
	}
	return edits
}

// check returns an error if a link of a note leads elsewhere after its change.
func (r Relinking) check(was, now Note) error {
	if len(now.Links) != len(was.Links) {
		return fmt.Errorf("%s: its links cannot be changed safely", was.Path)
	}
	for i, link := range was.Links {
		if found := r.Before.Of(was.Path, link); found != "" &&
			r.After.Of(now.Path, now.Links[i]) != r.Renames.Of(found) {
			return fmt.Errorf("%s, line %d: this link cannot be changed safely", was.Path, link.Line)
		}
	}
	return nil
}

// orgSpots returns where the links of an Org file have their names in its source: its text is Markdown made from that,
// with the same lines. What cannot be found there has an empty spot.
func (n *Note) orgSpots(source string) []linkSpot {
	spots := make([]linkSpot, len(n.Links))
	index := newLineIndex(source, 1)
	for line := 1; line <= index.last(); line++ {
		var here []int
		for i, link := range n.Links {
			if link.Line == line {
				here = append(here, i)
			}
		}
		written := orgLink.FindAllStringSubmatchIndex(index.text(line), -1)
		if len(written) != len(here) {
			continue
		}
		for k, m := range written {
			start := index.starts[line-1] + m[2]
			target, isPath := strings.CutPrefix(source[start:index.starts[line-1]+m[3]], "file:")
			start = index.starts[line-1] + m[3] - len(target)
			target, _, _ = strings.Cut(target, "::")
			spots[here[k]] = linkSpot{name: nameIn(target, start), path: isPath}
		}
	}
	return spots
}

// rewrite makes edits of a text in the bytes that it was decoded from, which differ in a byte order mark and line ends.
func rewrite(raw []byte, decoded string, edits []edit) []byte {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var out []byte
	from := 0
	if string(raw) != decoded && strings.HasPrefix(string(raw), "\ufeff") {
		from = len("\ufeff")
		out = append(out, raw[:from]...)
	}
	at := 0 // in decoded, as from in raw
	copyTo := func(stop int, keep bool) {
		for ; at < stop; at++ {
			size := 1
			if raw[from] == '\r' && decoded[at] == '\n' && from+1 < len(raw) && raw[from+1] == '\n' {
				size = 2
			}
			if keep {
				out = append(out, raw[from:from+size]...)
			}
			from += size
		}
	}
	for _, e := range edits {
		copyTo(e.start, true)
		copyTo(e.stop, false)
		out = append(out, e.fresh...)
	}
	return append(out, raw[from:]...)
}

// tagKey matches the key of tags in front matter and properties, with what is before it on its line.
var tagKey = regexp.MustCompile(`(?im)^[ \t]*(?:[-*+][ \t]+)?["']?tags?["']?[ \t]*(?:::|[:=])`)

// anyKey matches a line that begins another property.
var anyKey = regexp.MustCompile(`(?m)^[ \t]*["']?[\pL_][\pL\pN_-]*["']?[ \t]*[:=}]`)

// tagWord matches what may be a tag in the value of a property.
var tagWord = regexp.MustCompile(`[^\s,\[\]"'#{}]+`)

// Retag returns the bytes of a note in which a tag, and those below it, has another name. Nothing else is changed.
func Retag(entry Entry, raw []byte, from, to string) ([]byte, error) {
	n := Parse(entry, raw)
	if !slices.ContainsFunc(n.Tags, func(tag string) bool { return retagged(tag, from, to) != tag }) {
		return raw, nil
	}
	if err := errors.Join(Changeable(raw), Writable(entry.Path)); err != nil {
		return nil, err
	}
	var edits []edit
	change := func(at span) {
		if tag := n.Text[at.start:at.stop]; retagged(tag, from, to) != tag {
			edits = append(edits, edit{at, retagged(tag, from, to)})
		}
	}
	for _, mark := range n.marks {
		change(mark.span)
	}
	for _, part := range n.tagValues() {
		for _, m := range tagWord.FindAllStringIndex(n.Text[part.start:part.stop], -1) {
			word := strings.Trim(n.Text[part.start+m[0]:part.start+m[1]], "/")
			at := part.start + m[0] + strings.Index(n.Text[part.start+m[0]:], word)
			change(span{at, at + len(word)})
		}
	}
	now := rewrite(raw, n.Text, edits)
	want := make([]string, len(n.Tags))
	for i, tag := range n.Tags {
		want[i] = text.Key(retagged(tag, from, to))
	}
	slices.Sort(want)
	if !slices.Equal(Parse(entry, now).Tags, slices.Compact(want)) {
		return nil, fmt.Errorf("%s: its tags cannot be changed safely", entry.Path)
	}
	return now, nil
}

// tagValues are the places of the values of tags in front matter and in properties.
func (n *Note) tagValues() (values []span) {
	body := newLineIndex(n.Text, 1).starts[n.BodyLine-1]
	for _, m := range tagKey.FindAllStringIndex(n.Text, -1) {
		value := span{m[1], len(n.Text)}
		end := strings.IndexByte(n.Text[m[1]:], '\n')
		if m[0] < body {
			value.stop = body
			if end >= 0 && m[1]+end < body {
				if next := anyKey.FindStringIndex(n.Text[m[1]+end+1 : body]); next != nil {
					value.stop = m[1] + end + 1 + next[0]
				}
			}
		} else if end >= 0 {
			value.stop = m[1] + end
		}
		property := strings.HasSuffix(n.Text[m[0]:m[1]], "::")
		around := func(s span) bool { return s.start <= m[0] && m[0] < s.stop }
		if m[0] < body || property && !slices.ContainsFunc(n.noProse, around) {
			values = append(values, value)
		}
	}
	return values
}

// IsTag reports whether a text is a tag, without the #.
func IsTag(text string) bool {
	tag, end := readTag("#"+text, 0, 0)
	return tag == text && end == len(text)+1
}

// retagged returns a tag with another name if it is from or below it, as it is otherwise.
func retagged(tag, from, to string) string {
	levels := strings.Split(tag, "/")
	n := 1 + strings.Count(from, "/")
	if len(levels) < n || text.Key(strings.Join(levels[:n], "/")) != text.Key(from) {
		return tag
	}
	return strings.Join(append([]string{to}, levels[n:]...), "/")
}

// Affects reports whether the renames change where a link of a note leads, or are about it.
func (r Relinking) Affects(n Note) bool {
	at := r.Renames.Of(n.Path)
	return at != n.Path || slices.ContainsFunc(n.Links, func(link Link) bool {
		found := r.Before.Of(n.Path, link)
		return found != "" && (r.Renames.Of(found) != found || r.After.Of(at, link) != found ||
			r.Before.file(n.Path, link.Target) != r.After.file(at, link.Target))
	})
}
