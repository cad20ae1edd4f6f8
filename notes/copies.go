package notes

import (
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"

	"lifehub/internal/when"
)

// plainEnd is what sync programs add to the name of a note for its copy, whatever is in it by now: a conflict with a
// time, or in brackets one with a year or as a copy, in any language. Of any other name, the lines decide.
var plainEnd = regexp.MustCompile(`(?i)^(?:[ ._-]*(?:sync-)?conflict-\d{8}-\d{6}(?:-\w+)?` +
	`| ?[(\[（][^()\[\]]*(?:conflict(?:ed|ing)|(?:sf|case |encoding |sync )conflict|` + conflict +
	`[^()\[\]]*(?:\d{4}|` + copied + `)|(?:\d{4}|` + copied + `)[^()\[\]]*` + conflict + `)[^()\[\]]*[)\]）])$`)

// likelyEnd is what they add, too, and sometimes people: a number, a mention of a conflict or a copy, the name of a
// computer.
var likelyEnd = regexp.MustCompile(`(?i)^(?: \d{1,2}| ?\(\d{1,2}\)|[ ._([-].*(?:` + conflict + `|` + copied +
	`).*|-[\pL\d -]*\pL[\pL\d -]*)$`)

const (
	conflict = `(?:confli|konfli|конфликт|冲突|衝突|競合|충돌)`
	copied   = `(?:cop[iyí]|kopi|копи|副本|コピー|사본)`
)

// equalLines is the share of equal lines, of which a file is a copy if its name ends as if it were one. Of any other
// name, all are equal, and there are at least leastLines.
const equalLines, leastLines = 0.8, 5

// pair is two files of which one may be a copy of the other.
type pair struct{ copied, note Entry }

// markCopies sets CopyOf of the entries that are copies of the note next to them.
func (f *Folder) markCopies(entries []Entry) {
	at := make(map[string]int, len(entries))
	for i, e := range entries {
		at[e.Path] = i
	}
	f.copied.Lock()
	defer f.copied.Unlock()
	was := f.copies
	f.copies = map[pair]bool{}
	reader := Reader{Folder: f}
	defer reader.Close()
	for i := range entries {
		e := &entries[i]
		if IsPaged(e.Path) {
			continue
		}
		ext := path.Ext(e.Path)
		name := strings.TrimSuffix(path.Base(e.Path), ext)
		for i, r := range name {
			if i == 0 || unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
				continue
			}
			rest := name[i:]
			original, ok := at[path.Join(path.Dir(e.Path), name[:i]+ext)]
			if ok && (plainEnd.MatchString(rest) || !isDate(name) && !isDate(rest) &&
				f.isCopy(&reader, pair{e.plain(), entries[original].plain()}, likelyEnd.MatchString(rest), was)) {
				e.CopyOf = entries[original].Path
				break
			}
		}
	}
}

// isDate reports whether a name is a date and nothing else. Notes of days and weeks often have the lines of a template.
func isDate(name string) bool {
	dates, rest := when.Dates(strings.ReplaceAll(name, "_", "-"), 0)
	return len(dates) > 0 && saysNoMore(strings.Trim(rest, "-"))
}

// plain is the entry as the file system gave it.
func (e Entry) plain() Entry {
	return Entry{Path: e.Path, Size: e.Size, ModTime: e.ModTime.Round(0).In(time.UTC)}
}

// isCopy reports whether most lines of two files are equal, as they are on the disk. It reads them unless the
// answer for the unchanged files is in was.
func (f *Folder) isCopy(r *Reader, p pair, likely bool, was map[pair]bool) (is bool) {
	if known, ok := was[p]; ok {
		f.copies[p] = known
		return known
	}
	short, long := min(p.copied.Size, p.note.Size), max(p.copied.Size, p.note.Size)
	if short*2 < long || !likely && short != long {
		return false
	}
	a, _, err := r.promptly(p.copied.Path)
	b, _, errNote := r.promptly(p.note.Path)
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
	most := max(all[0], all[1])
	is = equal == most && equal >= leastLines || likely && equal > 0 && float64(equal) >= equalLines*float64(most)
	f.copies[p] = is
	return is
}
