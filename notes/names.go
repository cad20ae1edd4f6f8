package notes

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
)

// Names resolves links to notes. The zero value is empty.
type Names struct {
	byPath  map[string]string   // bare name → path
	byBase  map[string][]string // bare file name → paths
	byTitle map[string]string   // title or alias in lower case → path; "" if ambiguous
}

// Add adds a note with its titles, which are names other than its file name.
// Further titles may be added in another call.
func (n *Names) Add(notePath string, titles ...string) {
	if n.byPath == nil {
		n.byPath, n.byBase, n.byTitle = map[string]string{}, map[string][]string{}, map[string]string{}
	}
	if bare := BareName(notePath); n.byPath[bare] != notePath {
		n.byPath[bare] = notePath
		n.byBase[path.Base(bare)] = append(n.byBase[path.Base(bare)], notePath)
	}
	for _, title := range titles {
		title = strings.ToLower(title)
		if other, taken := n.byTitle[title]; taken && other != notePath {
			n.byTitle[title] = ""
		} else {
			n.byTitle[title] = notePath
		}
	}
}

// To returns the path of the note that a link in the note at from refers to, or
// "". In order of precedence, the target is a path relative to the folder of
// from, a path in the vault, a file name (of several, the one with the shortest
// path), or an unambiguous title or alias.
func (n *Names) To(from, target string) string {
	if target == "" {
		return from
	}
	bare := BareName(strings.TrimPrefix(target, "/"))
	if found := n.byPath[BareName(path.Join(path.Dir(from), target))]; found != "" && !strings.HasPrefix(target, "/") {
		return found
	}
	if found := n.byPath[bare]; found != "" {
		return found
	}
	var best string
	for _, p := range n.byBase[path.Base(bare)] {
		if strings.HasSuffix("/"+BareName(p), "/"+bare) && (best == "" || len(p) < len(best)) {
			best = p
		}
	}
	return cmp.Or(best, n.byTitle[strings.ToLower(target)])
}

// BareName returns a note's path or name in lower case, without its Markdown
// extension.
func BareName(name string) string {
	name = strings.ToLower(name)
	if ext := path.Ext(name); ext == ".md" || ext == ".markdown" {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// SameName reports whether two paths are equal, ignoring case and Markdown
// extensions.
func SameName(a, b string) bool { return BareName(a) == BareName(b) }

// HasNameSuffix reports whether a path ends with the path elements of another.
func HasNameSuffix(long, end string) bool {
	return strings.HasSuffix(BareName(long), "/"+BareName(end))
}

// NameWords returns the words of a note's file name.
func NameWords(name string) []string {
	return strings.FieldsFunc(BareName(path.Base(filepath.ToSlash(name))), func(r rune) bool { return strings.ContainsRune(" -_.,/", r) })
}

// Titles returns the names of a note other than its file name: its title and
// aliases.
func (n Note) Titles() []string { return append([]string{n.Title}, n.Aliases...) }
