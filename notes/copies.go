package notes

import (
	"context"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// Copies of a note that sync programs make, by the ends of their names. The plain
// ones are those that name a conflict and a day, a program or a copy. The others, a
// number or the name of a computer, are also names that people give.
var (
	plainCopy = regexp.MustCompile(`(?i)^(.+?)(?:[ ._-]*(?:sync-)?conflict-\d{8}-\d{6}(?:-\w+)?` +
		`| ?[(\[][^()\[\]]*(?:conflicted|sfconflict|conflict[^()\[\]]*\d{4}|konflikt stehende|case conflict|encoding conflict|sync conflict|copie en conflit|en conflicto)[^()\[\]]*[)\]])$`)
	otherCopy = regexp.MustCompile(`^(.+?)(?: \d{1,2}| ?\(\d{1,2}\)| ?[(\[](?i:conflict)[)\]])$`)
	hostEnd   = regexp.MustCompile(`^-[\pL\d][\pL\d -]*$`)
)

// equalLines is the share of equal lines, of which a file with a name that people give
// too is a copy.
const equalLines = 0.8

// pair is two files of which one may be a copy of the other.
type pair struct{ copied, note Entry }

// markCopies sets CopyOf of the entries that are copies of the note next to them.
func (f *Folder) markCopies(ctx context.Context, entries []Entry) {
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.Path] = i
	}
	f.copied.Lock()
	defer f.copied.Unlock()
	was := f.copies
	f.copies = map[pair]bool{}
	for i := range entries {
		e := &entries[i]
		ext := path.Ext(e.Path)
		if IsPaged(e.Path) {
			continue
		}
		for name, plain := range originals(strings.TrimSuffix(path.Base(e.Path), ext)) {
			original, ok := at[path.Join(path.Dir(e.Path), name+ext)]
			if ok && (plain || f.isCopy(ctx, pair{e.plain(), entries[original].plain()}, was)) {
				e.CopyOf = entries[original].Path
				break
			}
		}
	}
}

// plain is the entry as the file system gave it.
func (e Entry) plain() Entry {
	return Entry{Path: e.Path, Size: e.Size, ModTime: e.ModTime.Round(0).In(time.UTC)}
}

// originals yields the names that a file's name may be the copy of, and whether it
// says so plainly.
func originals(name string) func(func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		if found := plainCopy.FindStringSubmatch(name); found != nil && !yield(found[1], true) {
			return
		}
		if found := otherCopy.FindStringSubmatch(name); found != nil && !yield(found[1], false) {
			return
		}
		for i := 1; i < len(name); i++ {
			if name[i] == '-' && hostEnd.MatchString(name[i:]) && strings.ContainsFunc(name[i:], unicode.IsLetter) && !yield(name[:i], false) {
				return
			}
		}
	}
}

// isCopy reports whether most lines of two files are equal. It reads them unless the
// answer for the unchanged files is in was.
func (f *Folder) isCopy(ctx context.Context, p pair, was map[pair]bool) (is bool) {
	if known, ok := was[p]; ok {
		f.copies[p] = known
		return known
	}
	if least := min(p.copied.Size, p.note.Size); least*2 < max(p.copied.Size, p.note.Size) {
		return false
	}
	a, _, err := f.Load(ctx, p.copied.Path)
	b, _, errNote := f.Load(ctx, p.note.Path)
	if err != nil || errNote != nil {
		return false
	}
	lines, all, equal := map[string]int{}, [2]int{}, 0
	for i, raw := range []string{string(a), string(b)} {
		for line := range strings.Lines(raw) {
			if line = strings.TrimSpace(line); line == "" {
				continue
			}
			if all[i]++; i == 0 {
				lines[line]++
			} else if lines[line]--; lines[line] >= 0 {
				equal++
			}
		}
	}
	is = float64(equal) >= equalLines*float64(max(all[0], all[1]))
	f.copies[p] = is
	return is
}
