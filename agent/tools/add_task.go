package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/when"
	"lifehub/notes"
)

type addTaskArgs struct {
	Text string `json:"text" description:"without the date"`
	Due  string `json:"due,omitempty"`
	Note string `json:"note,omitempty"`
}

// newTasksNote is the path for tasks if there is no note for them yet.
const newTasksNote = "tasks.md"

func newAddTask(v noteWriter, now func() time.Time) agent.Tool {
	return newWriter(v, spec[addTaskArgs]("add_task"), func(ctx context.Context, args addTaskArgs) (change, error) {
		text := taskText(args.Text)
		if text == "" {
			return change{}, errors.New("what is to be done? The task has no text")
		}
		due, err := dayIn(args.Due)
		if err != nil {
			return change{}, err
		}
		if due.IsZero() { // as a small model leaves it
			text, due = when.Due(text, when.DayOf(now()))
		}
		folder, name, journal, err := v.tasksNote(ctx, args.Note, now())
		if err != nil {
			return change{}, err
		}
		raw, entry, err := folder.Raw(name)
		if errors.Is(err, fs.ErrNotExist) {
			head, added := "# Tasks\n\n", v.taskLine(ctx, notes.Note{}, text, due)
			if journal {
				head, added = "", notes.StateLine(text, due)
			}
			c := newNote(folder, name, head+added)
			c.line = 1 + strings.Count(head, "\n")
			c.report = fmt.Sprintf("added to %s, which is new: %s", name, dated(text, due))
			return c, nil
		}
		if err != nil {
			return change{}, err
		}
		note := notes.Parse(entry, raw)
		added := v.taskLine(ctx, note, text, due)
		if journal {
			added = notes.StateLine(text, due)
		}
		now, line, err := withTask(note, raw, added)
		if err != nil {
			return change{}, err
		}
		return change{
			folder: folder, path: name, was: raw, now: now, line: line,
			report: fmt.Sprintf("added to %s:%d: %s", name, line, dated(text, due)),
		}, nil
	}, "note")
}

var boxBefore = regexp.MustCompile(`^(?:[-*+]\s+)?(?:\[.\]|TODO)\s+`)

// taskText returns the text of a task in one line, without a leading bullet or
// checkbox.
func taskText(text string) string {
	return boxBefore.ReplaceAllString(strings.Join(strings.Fields(text), " "), "")
}

// dayIn parses a date; none if text is empty.
func dayIn(text string) (when.Day, error) {
	if text = strings.TrimSpace(text); text == "" {
		return when.Day{}, nil
	}
	return when.ParseDay(text)
}

// dated returns a task as shown to the user, with the weekday of its due date.
func dated(text string, due when.Day) string {
	if due.IsZero() {
		return text
	}
	return text + ", due " + due.Format("Monday 2006-01-02")
}

// tasksNote returns the note for new tasks: the named one; or today's journal,
// if the vault is a Logseq graph; or tasks.md or a similarly named note. folder
// and name are valid even if the note does not exist yet.
func (v vaults) tasksNote(ctx context.Context, called string,
	today time.Time,
) (folder *notes.Folder, name string, journal bool, err error) {
	if strings.TrimSpace(called) != "" {
		at, err := v.find(ctx, called)
		if errors.Is(err, fs.ErrNotExist) && notes.Key(path.Base(called)) == notes.Key(newTasksNote) {
			return v.tasksNote(ctx, "", today) // the model spelled out the default
		}
		return at.folder, at.Entry.Path, false, err
	}
	places, err := v.all(ctx)
	if err != nil {
		return nil, "", false, err
	}
	if way, _ := findDailies(places, Daily{}, when.DayOf(today)); way.dir == "journals" && way.style.Layout == "2006_01_02" {
		return way.folder, "journals/" + today.Format("2006_01_02") + way.ext, true, nil
	}
	var usual []func(place) bool
	for _, name := range []string{"tasks", "todo", "to-do", "todos", "aufgaben"} {
		usual = append(usual, func(p place) bool {
			return notes.Key(path.Base(p.Entry.Path)) == name && notes.Writable(p.Entry.Path) == nil
		})
	}
	if named := firstFitting(places, usual...); len(named) > 0 { // the one nearest to the root
		at := slices.MinFunc(named, func(a, b place) int {
			return strings.Count(a.Entry.Path, "/") - strings.Count(b.Entry.Path, "/")
		})
		return at.folder, at.Entry.Path, false, nil
	}
	return v()[0], newTasksNote, false, nil
}

// taskLine formats a task in the style of the note, or else of the vault.
func (v vaults) taskLine(ctx context.Context, note notes.Note, text string, due when.Day) string {
	line := bullet(note.Tasks) + "[ ] " + text
	if due.IsZero() {
		return line
	}
	style, ok := notes.MostUsed(note.Tasks)
	if !ok {
		if all, _, err := v.tasks(ctx); err == nil {
			var tasks []notes.Task
			for _, t := range all {
				tasks = append(tasks, t.Task)
			}
			style, _ = notes.MostUsed(tasks)
		}
	}
	return line + " " + style.Due(due)
}

// bullet returns the bullet that the tasks of the note use.
func bullet(tasks []notes.Task) string {
	for _, t := range tasks {
		if mark := t.Raw[:1]; mark == "*" || mark == "+" {
			return mark + " "
		}
	}
	return "- "
}

// withTask adds a task after the last line of the first list with an open task,
// or else at the end of the note. It returns the new text and the line of the
// task.
func withTask(note notes.Note, raw []byte, text string) (now []byte, line int, err error) {
	p, err := openPage(raw)
	if err != nil {
		return nil, 0, err
	}
	if after := lastOfOpenList(note); after > 0 {
		p.insert(after, text)
		return p.bytes(), after + 1, nil
	}
	line = p.appendTo(len(p.lines), text)
	return p.bytes(), line, nil
}

// lastOfOpenList returns the last line of the first list that contains an open,
// non-recurring task; 0 if there is none. Recurring tasks are often in a list
// of their own.
func lastOfOpenList(note notes.Note) int {
	for _, list := range note.Lists {
		for _, t := range note.Tasks {
			if list.First <= t.Line && t.Line <= list.Last && t.Open() && t.Recurs == "" {
				return list.Last
			}
		}
	}
	return 0
}
