package tools

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

type editArgs struct {
	Path string `json:"path"`
	Old  string `json:"old_text" description:"exactly as in the note, where it occurs once"`
	New  string `json:"new_text"`
}

func newEditNote(v noteWriter) agent.Tool {
	return newWriter(v, spec[editArgs]("edit_note"), func(ctx context.Context, args editArgs) (change, error) {
		at, err := v.find(ctx, args.Path)
		if err != nil {
			return change{}, err
		}
		raw, entry, err := at.folder.Raw(at.Entry.Path)
		if err != nil {
			return change{}, err
		}
		p, err := openPage(raw)
		if err != nil {
			return change{}, fmt.Errorf("%s: %w", at.Entry.Path, err)
		}
		now, err := edited(p.text(), args.Old, args.New)
		if err != nil { // which quotes the note
			agent.Shows(ctx, agent.Source{
				Path: at.Entry.Path, Lines: string(raw),
				Untrusted: notes.Parse(entry, raw).Untrusted,
			})
			return change{}, fmt.Errorf("%s: %w", at.Entry.Path, err)
		}
		p.setText(now)
		return change{
			folder: at.folder, path: at.Entry.Path, was: raw, now: p.bytes(),
			report: "changed " + at.Entry.Path,
		}, nil
	}, "path")
}

// asWritten returns old as the note has it, if that is once and the only difference is
// the normal form of its letters, or where lines of a paragraph end, which a model
// often does not copy; otherwise old.
func asWritten(note, old string) string {
	composed, at := composedText(note)
	words := strings.Fields(norm.NFC.String(old))
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	for _, pattern := range []string{
		regexp.QuoteMeta(norm.NFC.String(old)),
		strings.Join(words, `(?:[ \t]+|[ \t]*\n[ \t]*)`),
	} {
		same, err := regexp.Compile(pattern)
		if err != nil || len(words) == 0 {
			return old
		}
		if found := same.FindAllStringIndex(composed, 2); len(found) == 1 {
			if is := note[at[found[0][0]]:at[found[0][1]]]; norm.NFC.String(is) == composed[found[0][0]:found[0][1]] {
				return is
			}
		}
		if len(words) < 2 {
			return old
		}
	}
	return old
}

// composedText returns a text in NFC, and for each byte of it and for its end the
// offset in the text of the letter it belongs to.
func composedText(note string) (composed string, at []int) {
	var letters norm.Iter
	letters.InitString(norm.NFC, note)
	var b strings.Builder
	for !letters.Done() {
		start := letters.Pos()
		letter := letters.Next()
		b.Write(letter)
		for range letter {
			at = append(at, start)
		}
	}
	return b.String(), append(at, len(note))
}

// edited replaces old, which must occur exactly once, with fresh. The lines of text end in LF.
func edited(text, old, fresh string) (string, error) {
	old, fresh = notes.WithLF(old), notes.WithLF(fresh)
	switch {
	case old == "":
		return "", errors.New("old_text is empty; to add a text, use append_note")
	case old == fresh:
		return "", errors.New("old_text and new_text are the same")
	}
	if !strings.Contains(text, old) {
		old = asWritten(text, old)
	}
	switch places := linesOf(text, old); len(places) {
	case 1:
		return strings.Replace(text, old, fresh, 1), nil
	case 0:
		return "", errors.New("old_text not found" + nearest(text, old))
	default:
		return "", fmt.Errorf("old_text matches %d times, on lines %s; include more context",
			len(places), joinInts(places))
	}
}

// maxPlaces bounds the number of lines listed in an error.
const maxPlaces = 10

// linesOf returns the lines on which part occurs in text, including overlapping
// occurrences.
func linesOf(text, part string) (lines []int) {
	for at := 0; len(lines) < maxPlaces; {
		i := strings.Index(text[at:], part)
		if i < 0 {
			break
		}
		lines = append(lines, 1+strings.Count(text[:at+i], "\n"))
		at += i + 1
	}
	return lines
}

func joinInts(numbers []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ", "), "[]")
}

// nearest returns a hint about where text occurs if white space and case are
// ignored.
func nearest(note, old string) string {
	fold := func(s string) string { return text.Key(strings.Join(strings.Fields(s), " ")) }
	first, _, _ := strings.Cut(strings.TrimSpace(old), "\n")
	if first = fold(first); first == "" {
		return ""
	}
	for i, line := range strings.Split(note, "\n") {
		if strings.Contains(fold(line), first) {
			return fmt.Sprintf("; line %d comes near: %q. Copy it exactly", i+1, line)
		}
	}
	return "; read the note and copy it exactly"
}
