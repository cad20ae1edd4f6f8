package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

// BriefLine is a line of a briefing.
type BriefLine struct {
	Kind         BriefKind `json:"kind"`
	Path         string    `json:"path"`         // of its note; "" for a conversation
	Line         int       `json:"line"`         // in the note; 0: all of it
	Conversation string    `json:"conversation"` // its ID; "" for a note
	// the task, a title, or the first line of a note; on one line, cut after 300 bytes
	Text string `json:"text"`
	// YYYY-MM-DD: when the task is due, the note changed or was written, the conversation ended
	Day       when.Day `json:"day"`
	Untrusted bool     `json:"untrusted"` // others had a part in the text

	source agent.Source // the line, or the title of the note
}

// BriefKind is why a line is in a briefing.
type BriefKind string

// The kinds of lines, in the order in which they are listed.
const (
	DueTask     BriefKind = "due"
	ChangedNote BriefKind = "changed"
	YearAgo     BriefKind = "year_ago"
	Unfinished  BriefKind = "unfinished" // a conversation whose last answer was stopped or cut off
)

// maxBriefLines bounds the lines that a model gets.
const maxBriefLines = 60

type briefArgs struct {
	Period string `json:"period,omitempty" enum:"today,week"`
}

// newBriefNotes returns the tool that lists what a briefing is made of, each line as a source.
func newBriefNotes(v vaults, now func() time.Time) agent.Tool {
	return agent.NewTool(spec[briefArgs]("brief_notes"), agent.Auto,
		func(ctx context.Context, args briefArgs) (agent.Result, error) {
			days, today := 1, when.DayOf(now())
			if args.Period == "week" {
				days = 7
			}
			lines, unread, err := Brief(ctx, v, today, days, noMarks{})
			if err != nil {
				return agent.Result{}, err
			}
			result := agent.Result{
				Nothing: len(lines) == 0,
				Text:    "Nothing is due, was changed, or was written a year ago.",
			}
			if len(lines) > 0 {
				result.Text = text.Count(len(lines), "line") + ":"
			}
			for i, l := range lines {
				if i == maxBriefLines {
					result.Text += fmt.Sprintf("\n… and %d more", len(lines)-i)
					break
				}
				result.Text += fmt.Sprintf("\n- %s, %s: %s", l.Kind.about(l.Day, today),
					agent.PlaceName(l.Path, l.Line), l.Text)
				if l.Line > 0 {
					result.Sources = append(result.Sources, l.source)
				} else {
					result.Listed = append(result.Listed, l.source)
				}
			}
			result.Text = strings.TrimSpace(result.Text + "\n" + unread)
			return result, nil
		})
}

// about says why a line of a day is in a briefing.
func (k BriefKind) about(day, today when.Day) string {
	switch {
	case k == DueTask && day.Before(today):
		return "overdue since " + day.String()
	case k == DueTask:
		return "due " + day.String()
	case k == YearAgo:
		return "a year ago, " + day.String()
	}
	return "changed " + day.String()
}

// noMarks leaves it to the gate to say which lines came from outside: it asks of every source.
type noMarks struct{}

func (noMarks) MarkedBy(context.Context, []int64) ([]string, error) { return nil, nil }

// maxBriefText bounds the text of a line, in bytes.
const maxBriefText = 300

// marked says which lines of the notes came from outside. *store.Store is the real one.
type marked interface {
	MarkedBy(ctx context.Context, keys []int64) (sources []string, err error)
}

// Brief lists the tasks that are due in so many days from today on, or were before, the notes whose files
// changed in as many days up to today, and the notes of this day a year ago, of all folders, except hidden
// notes and copies. The notes that could not be read are named in unread, "" if there are none.
func Brief(ctx context.Context, folders func() []*notes.Folder, today when.Day, days int,
	outside marked,
) (lines []BriefLine, unread string, err error) {
	v := vaults(folders)
	places, missed, err := v.visible(ctx)
	if err != nil {
		return nil, "", err
	}
	for _, p := range places {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if notes.IsPicture(p.Entry.Path) || p.Entry.CopyOf != "" {
			continue
		}
		name := PathOf(v, p.folder, p.Entry.Path)
		note, err := p.glance(ctx)
		if notes.CannotRead(err) {
			missed = append(missed, name)
		}
		if err != nil || note.Exported {
			continue
		}
		written := strings.Split(note.Text, "\n")
		for _, line := range briefOf(note, today, days) {
			shown := []string{notes.NameOf(note.Path)} // a name may come from outside, too
			if 0 < line.Line && line.Line <= len(written) {
				shown = append(shown, written[line.Line-1])
			}
			from, err := outside.MarkedBy(ctx, text.LineKeys(shown))
			if err != nil {
				return nil, "", err
			}
			line.source = agent.Source{
				Path: p.Entry.Path, Vault: p.folder.Dir(), Line: line.Line, EndLine: line.Line,
				Text: shown[len(shown)-1], Date: line.Day, Untrusted: note.Untrusted,
			}
			line.Path, line.Text = name, text.Cut(text.OneLine(notes.PlainLinks(line.Text)), maxBriefText)
			line.Untrusted = note.Untrusted || len(from) > 0
			lines = append(lines, line)
		}
	}
	order := []BriefKind{DueTask, ChangedNote, YearAgo}
	slices.SortStableFunc(lines, func(a, b BriefLine) int {
		byDay := a.Day.Compare(b.Day)
		if a.Kind == ChangedNote { // newest first
			byDay = -byDay
		}
		return cmp.Or(cmp.Compare(slices.Index(order, a.Kind), slices.Index(order, b.Kind)), byDay)
	})
	return lines, strings.TrimSpace(missing(missed)), nil
}

// briefOf returns the lines of one note, without its path.
func briefOf(note notes.Note, today when.Day, days int) (lines []BriefLine) {
	for _, t := range note.Tasks {
		if day := t.Day(); t.Open() && !day.IsZero() && day.Before(today.Add(days)) {
			lines = append(lines, BriefLine{Kind: DueTask, Line: t.Line, Text: t.Text, Day: day})
		}
	}
	if day := when.DayOf(note.ModTime.Local()); !day.Before(today.Add(1 - days)) {
		lines = append(lines, BriefLine{Kind: ChangedNote, Text: note.Title, Day: day})
	}
	if day := today.AddMonths(-12); note.Date == day {
		line, said := firstLine(note)
		lines = append(lines, BriefLine{Kind: YearAgo, Line: line, Text: cmp.Or(said, note.Title), Day: day})
	}
	return lines
}

// firstLine returns the first line of a note's text that is no heading, and what it says; 0 if there is none.
func firstLine(note notes.Note) (line int, said string) {
	for i, written := range strings.Split(note.Text, "\n")[note.BodyLine-1:] {
		if said = text.LineText(written); said != "" {
			return note.BodyLine + i, said
		}
	}
	return 0, ""
}
