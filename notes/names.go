package notes

import (
	"cmp"
	"path"
	"path/filepath"
	"strings"
)

// Names finds the note that a link means. The zero value knows none.
type Names struct {
	byPath  map[string]string   // bare name → path
	byBase  map[string][]string // bare file name → paths
	byTitle map[string]string   // title or alias, in lower case → path; "": several
}

// Add takes in a note, and what it is called besides its file's name; more of
// that may follow in another call.
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

// To is the path of the note that a link in the note at from means: the path
// below that note's folder, the path in the vault, the note of that file name
// with the shortest path, or the one note of that title or alias; "": there is none.
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

// BareName is a note's path or name without case and ending.
func BareName(name string) string {
	name = strings.ToLower(name)
	if ext := path.Ext(name); ext == ".md" || ext == ".markdown" {
		name = strings.TrimSuffix(name, ext)
	}
	return name
}

// SameName compares paths without case and ending.
func SameName(a, b string) bool { return BareName(a) == BareName(b) }

// HasNameSuffix reports whether a path ends with the folders and name of another.
func HasNameSuffix(long, end string) bool {
	return strings.HasSuffix(BareName(long), "/"+BareName(end))
}

// NameWords are the words of a note's file name.
func NameWords(name string) []string {
	return strings.FieldsFunc(BareName(path.Base(filepath.ToSlash(name))), func(r rune) bool { return strings.ContainsRune(" -_.,/", r) })
}

// Titles are what a note is called besides its file's name: its title and its aliases.
func (n Note) Titles() []string { return append([]string{n.Title}, n.Aliases...) }
