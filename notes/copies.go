package notes

import (
	"context"
	"path"
	"regexp"
	"strings"
	"time"
)

// What sync programs add to the name of a note for its copy. Plain is what names a conflict with a time, or in
// brackets with a year or as a copy, in any language; any other mention of a conflict or a copy, a number, and the name
// of a computer are also what people add.
var (
	plainEnd = regexp.MustCompile(`(?i)^(?:[ ._-]*(?:sync-)?conflict-\d{8}-\d{6}(?:-\w+)?` +
		`| ?[(\[][^()\[\]]*(?:conflict(?:ed|ing)|(?:sf|case |encoding |sync )conflict|` + conflict +
		`[^()\[\]]*(?:\d{4}|` + copied + `)|(?:\d{4}|` + copied + `)[^()\[\]]*` + conflict + `)[^()\[\]]*[)\]])$`)
	otherEnd = regexp.MustCompile(`(?i)^(?: \d{1,2}| ?\(\d{1,2}\)|[ ._([-].*(?:` + conflict + `|` + copied +
		`).*|-[\pL\d -]*\pL[\pL\d -]*)$`)
)

const (
	conflict = `(?:confli|konfli|конфликт|冲突|衝突|競合|충돌)`
	copied   = `(?:cop[iyí]|kopi|копи|副本|コピー|사본)`
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
		name := strings.TrimSuffix(path.Base(e.Path), ext)
		for i := 1; i < len(name); i++ {
			if strings.IndexByte(" ._-([", name[i]) < 0 {
				continue
			}
			original, ok := at[path.Join(path.Dir(e.Path), name[:i]+ext)]
			if ok && (plainEnd.MatchString(name[i:]) || otherEnd.MatchString(name[i:]) &&
				f.isCopy(ctx, pair{e.plain(), entries[original].plain()}, was)) {
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
