package notes

import (
	"iter"
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

const (
	conflict = `(?:confli|konfli|конфликт|冲突|衝突|競合|충돌)`
	copied   = `(?:cop[iyí]|kopi|копи|副本|コピー|사본)`
)

// equalLines is the share of equal lines, of which a file is a copy if its name is that of the note and more.
const equalLines = 0.8

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
	continued := map[int]int{} // how many names continue that of a note
	for _, e := range entries {
		for original, rest := range continues(e.Path, at) {
			if !plainEnd.MatchString(rest) {
				continued[original]++
			}
		}
	}
	for i := range entries {
		e := &entries[i]
		for original, rest := range continues(e.Path, at) {
			note := entries[original]
			if plainEnd.MatchString(rest) || continued[original] <= maxCopies &&
				!isDate(NameOf(e.Path)) && !isDate(rest) &&
				f.isCopy(&reader, pair{e.plain(), note.plain()}, was) {
				e.CopyOf = note.Path
				break
			}
		}
	}
}

// maxCopies is how many names may continue that of a note until they are a series, such as the notes below one in
// Dendron.
const maxCopies = 30

// continues yields the notes, as at has them, whose name that of the note at a path continues with a sign, and the rest
// of the name.
func continues(file string, at map[string]int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if IsPaged(file) {
			return
		}
		ext := path.Ext(file)
		name := strings.TrimSuffix(path.Base(file), ext)
		for i, r := range name {
			if i == 0 || unicode.In(r, unicode.L, unicode.M, unicode.Nd) {
				continue
			}
			if original, ok := at[path.Join(path.Dir(file), name[:i]+ext)]; ok && !yield(original, name[i:]) {
				return
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
func (f *Folder) isCopy(r *Reader, p pair, was map[pair]bool) (is bool) {
	if known, ok := was[p]; ok {
		f.copies[p] = known
		return known
	}
	if least := min(p.copied.Size, p.note.Size); least*2 < max(p.copied.Size, p.note.Size) {
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
	is = equal > 0 && float64(equal) >= equalLines*float64(max(all[0], all[1]))
	f.copies[p] = is
	return is
}
