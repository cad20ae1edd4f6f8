package notes

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"

	"lifehub/internal/text"
)

// Names resolves links to notes. The zero value is empty.
type Names struct {
	byPath  map[string][]string // key → paths
	byBase  map[string][]string // key of the file name → paths
	byTitle map[string]string   // key of a title or alias → path; "" if ambiguous
}

// Add adds a note with its titles, which are names other than its file name.
// Further titles may be added in another call.
func (n *Names) Add(notePath string, titles ...string) {
	if n.byPath == nil {
		n.byPath, n.byBase, n.byTitle = map[string][]string{}, map[string][]string{}, map[string]string{}
	}
	key := Key(notePath)
	if known := n.byPath[key]; len(known) == 0 || known[len(known)-1] != notePath {
		n.byPath[key] = append(known, notePath)
		n.byBase[path.Base(key)] = append(n.byBase[path.Base(key)], notePath)
	}
	for _, title := range titles {
		title = text.Key(title)
		if other, taken := n.byTitle[title]; taken && other != notePath {
			n.byTitle[title] = ""
		} else {
			n.byTitle[title] = notePath
		}
	}
}

// To returns the path of the note that a link in the note at from refers to, or
// "". In order of precedence, the target is a path relative to the folder of
// from, a path in the vault, a file name, or an unambiguous title or alias. Of
// several files with its key, it is the one that is spelled so, or else the one
// with the shortest path.
func (n *Names) To(from, target string) string {
	return cmp.Or(n.file(from, target), n.byTitle[text.Key(target)])
}

// file is To without titles and aliases.
func (n *Names) file(from, target string) string {
	if target == "" {
		return from
	}
	if near := path.Join(path.Dir(from), target); !strings.HasPrefix(target, "/") {
		if found := nearest(n.byPath[Key(near)], near); found != "" {
			return found
		}
	}
	plain := strings.TrimPrefix(target, "/")
	if found := nearest(n.byPath[Key(plain)], plain); found != "" {
		return found
	}
	var ending []string
	for _, p := range n.byBase[path.Base(Key(plain))] {
		if HasNameSuffix("/"+p, plain) {
			ending = append(ending, p)
		}
	}
	return nearest(ending, plain)
}

// Of returns the path of the note that a link in the note at from refers to, or "".
// Of the two halves of a wikilink, the second names it if the first names none, as
// in Dendron.
func (n *Names) Of(from string, link Link) string {
	found := n.To(from, link.Target)
	if other, _, _ := strings.Cut(link.Text, "#"); found == "" && link.Wiki && other != "" {
		found = n.To(from, other)
	}
	return found
}

// nearest returns the path that ends as spelled, or else the shortest.
func nearest(paths []string, spelled string) (best string) {
	exact := func(p string) bool { return EndsAsSpelled(p, spelled) }
	for _, p := range paths {
		if best == "" || exact(p) && !exact(best) || exact(p) == exact(best) && len(p) < len(best) {
			best = p
		}
	}
	return best
}

// EndsAsSpelled reports whether a path ends with the path elements of another, letter by letter, with its Markdown
// extension or without.
func EndsAsSpelled(long, end string) bool {
	long, end = "/"+long, "/"+end
	return strings.HasSuffix(long, end) || strings.HasSuffix(withoutMarkdown(long), end)
}

// Key returns the key of a note's path or name, without its Markdown extension.
// See [text.Key].
func Key(name string) string { return withoutMarkdown(text.Key(name)) }

func withoutMarkdown(name string) string {
	if ext := path.Ext(name); kindOf(ext) == markdown {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// SameName reports whether two paths have the same key.
func SameName(a, b string) bool { return Key(a) == Key(b) }

// HasNameSuffix reports whether a path ends with the path elements of another.
func HasNameSuffix(long, end string) bool {
	return strings.HasSuffix(Key(long), "/"+Key(end))
}

// NameWords returns the words of a note's file name.
func NameWords(name string) []string {
	return strings.FieldsFunc(Key(path.Base(filepath.ToSlash(name))),
		func(r rune) bool { return strings.ContainsRune(" -_.,/", r) })
}

// Titles returns the names of a note other than its file name: its title and
// aliases.
func (n Note) Titles() []string { return append([]string{n.Title}, n.Aliases...) }
