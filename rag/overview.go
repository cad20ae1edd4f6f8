package rag

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag/words"
)

// Overview is a summary of a library.
type Overview struct {
	Changed   int      // the user's own notes that changed since yesterday; all if the folder is new here
	Due       int      // their open tasks that are overdue or due within a week
	Questions []string // that the notes answer, best first
}

const (
	maxQuestions = 3
	dueWithin    = 7  // days, as in list_tasks
	minProse     = 60 // letters of a passage that a question is about
	maxTitle     = 40 // bytes of a title in a question
)

// Overview summarises the notes. A question is about a note that changed last or that
// most others link to, or about the past week or month, if a keyword search finds that
// note, or notes of that time, first and as the answer.
func (l Library) Overview(ctx context.Context, today when.Day) (o Overview) {
	answers := func(about string, fits func(Found) bool) bool {
		found, err := l.Search(ctx, Query{Text: about, Side: KeywordsAlone, Today: today})
		return err == nil && found.Verdict == Likely && len(found.Passages) > 0 &&
			isProse(found.Passages[0]) && fits(found)
	}
	for _, x := range l.Indexes {
		g, err := x.acquireUndamaged()
		if err != nil {
			continue // it will be rebuilt
		}
		if changed, due, err := words.News(ctx, g.db, today, dueWithin); err == nil {
			o.Changed, o.Due = o.Changed+changed, o.Due+due
		}
		notes, err := words.Notable(ctx, g.db)
		if err != nil {
			slog.Warn("find notes to ask about", "error", err)
		}
		g.release() //nolint:errcheck // it was only read
		for _, n := range notes {
			if len(o.Questions) == maxQuestions || len(n.Title) > maxTitle {
				continue
			}
			text := ""
			if !answers("about "+n.Title, func(f Found) bool { text = f.Passages[0].Text; return f.Passages[0].Path == n.Path }) {
				continue
			}
			question := "What do my notes say about " + inSentence(n.Title, text) + "?"
			// By keywords alone, the words around the title may put another note first.
			if answers(question, func(f Found) bool {
				return slices.ContainsFunc(f.Passages[:min(len(f.Passages), 3)],
					func(p Passage) bool { return p.Path == n.Path })
			}) {
				o.Questions = append(o.Questions, question)
			}
		}
	}
	for _, span := range []string{"last week", "last month"} {
		if answers(span, func(f Found) bool { return f.Time != nil && f.Time.Notes > 1 && f.Passages[0].Dated }) {
			o.Questions = slices.Insert(o.Questions, min(len(o.Questions), 1), "What did I do "+span+"?")
			break
		}
	}
	o.Questions = o.Questions[:min(len(o.Questions), maxQuestions)]
	return o
}

// DueTask is an open task that is overdue or due within a week.
type DueTask struct {
	Path, Text string
	Line       int
	Day        when.Day // by which it is due, or scheduled
}

// DueTasks returns at most limit such tasks of the user's own notes, the earliest first.
func (x *Index) DueTasks(ctx context.Context, folder *notes.Folder, today when.Day, limit int) ([]DueTask, error) {
	g, err := x.acquireUndamaged()
	if err != nil {
		return nil, err
	}
	paths, err := words.DueNotes(ctx, g.db, today, dueWithin, limit)
	if err := errors.Join(err, g.release()); err != nil {
		return nil, err
	}
	var due []DueTask
	for _, path := range paths {
		note, err := folder.Read(path)
		if err != nil {
			continue // it was deleted or changed since; the next sync learns of it
		}
		for _, t := range note.Tasks {
			day := t.Day()
			if t.Open() && !day.IsZero() && day.Since(today) <= dueWithin {
				due = append(due, DueTask{Path: path, Text: t.Text, Line: t.Line, Day: day})
			}
		}
	}
	slices.SortStableFunc(due, func(a, b DueTask) int { return a.Day.Compare(b.Day) })
	return due[:min(len(due), limit)], nil
}

// inSentence returns a title as an English sentence has it: as a sentence of the
// note's text writes it, or with an article if it is several words of which only
// the first is capitalised. Other titles, such as names, stay as they are.
func inSentence(title, text string) string {
	lower := strings.ToLower(title)
	_, rest, several := strings.Cut(title, " ")
	if several && rest == strings.ToLower(rest) && strings.Contains(text, " the ") {
		return "the " + lower
	}
	for _, form := range []string{"the " + lower, lower} {
		if at := strings.Index(text, form); at > 0 && text[at-1] == ' ' && !strings.HasPrefix(text[at-1:], " "+title) {
			return form
		}
	}
	return title
}

// isProse reports whether a passage is the user's own and has more than headings, links
// and properties.
func isProse(p Passage) bool {
	letters, text := 0, p.Text
	if rest, front := strings.CutPrefix(text, "---\n"); front {
		_, text, _ = strings.Cut(rest, "\n---")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t-*>")
		if line == "" || strings.ContainsRune("#[!|", rune(line[0])) || strings.Contains(line, "::") {
			continue
		}
		for _, r := range line {
			if unicode.IsLetter(r) {
				letters++
			}
		}
	}
	return letters >= minProse && !p.Untrusted
}
