package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
	"lifehub/rag"
)

type listTasksArgs struct {
	Status string `json:"status,omitempty" enum:"open,due,overdue,done,all" default:"open" description:"open: pending, not done; due: within a week or past; done: completed"`
	Query  string `json:"query,omitempty" description:"words, after:DATE and before:DATE"`
}

// dueWithin is how many days ahead a task counts as due.
const dueWithin = 7

// maxTasks bounds the number of tasks in a result.
const maxTasks = 100

func newListTasks(v vaults, now func() time.Time) agent.Tool {
	return agent.NewTool(spec[listTasksArgs]("list_tasks"), agent.Auto,
		func(ctx context.Context, args listTasksArgs) (agent.Result, error) {
			query, err := rag.ParseQuery(args.Query)
			if err != nil {
				return agent.Result{}, err
			}
			result, _, unread, err := v.listTasks(ctx, when.DayOf(now()), cmp.Or(args.Status, "open"), query)
			result.Text += missing(unread)
			return result, err
		})
}

// Task is a task with its place.
type Task struct {
	Path      string   `json:"path"`
	Line      int      `json:"line"`
	Heading   string   `json:"heading,omitempty"` // the headings above it
	Text      string   `json:"text"`              // without the checkbox, dates and other fields
	State     string   `json:"state"`             // open, done or cancelled
	Priority  string   `json:"priority,omitempty"`
	Due       when.Day `json:"due,omitzero"` // this and the other days: YYYY-MM-DD
	Scheduled when.Day `json:"scheduled,omitzero"`
	Start     when.Day `json:"start,omitzero"`
	DoneOn    when.Day `json:"done_on,omitzero"`
	Recurs    string   `json:"recurs,omitempty"` // such as "every week"
	Untrusted bool     `json:"untrusted,omitempty"`
}

// Statuses are what tasks can be listed by.
var Statuses = []string{"open", "due", "overdue", "done", "all"}

// Tasks lists the tasks of a status, in words as list_tasks does, and all of them as values. The notes
// that could not be read are named in unread, "" if there are none.
func Tasks(ctx context.Context, folders func() []*notes.Folder, status string,
	query rag.Query,
) (inWords string, list []Task, unread string, err error) {
	result, found, paths, err := vaults(folders).listTasks(ctx, when.DayOf(time.Now()), status, query)
	list = []Task{}
	for _, t := range found {
		list = append(list, Task{
			Path: PathOf(folders, t.folder, t.Entry.Path), Line: t.Task.Line, Heading: t.heading, Untrusted: t.outside,
			Text: t.Task.Text, State: t.state(), Priority: t.Task.Priority,
			Due: t.Task.Due, Scheduled: t.Task.Scheduled, Start: t.Task.Start,
			DoneOn: t.Task.DoneOn, Recurs: t.Task.Recurs,
		})
	}
	return result.Text, list, strings.TrimSpace(missing(paths)), err
}

func (v vaults) listTasks(ctx context.Context, today when.Day, status string,
	query rag.Query,
) (_ agent.Result, found []vaultTask, unread []string, err error) {
	all, unread, err := v.tasks(ctx)
	if err != nil {
		return agent.Result{}, nil, nil, err
	}
	span := when.Span{From: query.After, To: query.Before}
	words := slices.Concat(strings.Fields(query.Text), query.Tags, query.Paths)
	result, found := tasksWith(all, status, strings.Join(words, " "), span, today)
	inTask := func(w string) bool { return slices.ContainsFunc(all, func(t vaultTask) bool { return t.about(w) }) }
	if none := slices.DeleteFunc(slices.Clone(words), inTask); len(none) > 0 && len(all) > 0 {
		// A word of no task is more likely one that was not understood, such as a day in another language, than a
		// filter: to say that there are no such tasks would be false.
		words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(none, w) })
		result, _ = tasksWith(all, status, strings.Join(words, " "), span, today)
		result.Text = fmt.Sprintf("No task has %q, so it is left out.\n\n", strings.Join(none, " ")) + result.Text
	}
	return result, found, unread, nil
}

// tasksWith formats the tasks of a status with all words and a date in the given period, and returns them.
func tasksWith(all []vaultTask, status, words string, span when.Span, today when.Day) (
	_ agent.Result, found []vaultTask,
) {
	about := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool { return !t.about(words) || !t.isOf(span) })
	found = slices.DeleteFunc(slices.Clone(about), func(t vaultTask) bool { return !t.is(status, today) })
	byDate(found, status)
	if len(found) == 0 {
		return noTasks(comingUp(about, status, today), len(all), status, aboutWords(words, span, today), today), nil
	}
	return tasksResult(found, status, aboutWords(words, span, today), today), found
}

func (t vaultTask) is(status string, today when.Day) bool {
	date := t.Task.Day()
	switch status {
	case "open":
		return t.Task.Open()
	case "due":
		return t.Task.Open() && !date.IsZero() && date.Since(today) <= dueWithin
	case "overdue":
		return t.Task.Open() && !date.IsZero() && date.Before(today)
	case "done":
		return t.Task.Done
	}
	return true
}

// about reports whether a task's line, the headings above it or the path of its
// note contain all words.
func (t vaultTask) about(words string) bool {
	return holdsAll(t.Task.Raw+" "+t.heading+" "+t.place.Entry.Path, words)
}

// isOf reports whether a task has a date in the given period; true if the
// period is zero.
func (t vaultTask) isOf(span when.Span) bool {
	return span.IsZero() || slices.ContainsFunc(t.days, span.Meets)
}

// byDate sorts done tasks by completion date, others by date, with undated ones
// last.
func byDate(tasks []vaultTask, status string) {
	slices.SortStableFunc(tasks, func(a, b vaultTask) int {
		if status == "done" {
			return b.Task.DoneOn.Compare(a.Task.DoneOn)
		}
		dateA, dateB := a.Task.Day(), b.Task.Day()
		switch {
		case dateA.IsZero() && !dateB.IsZero():
			return 1
		case dateB.IsZero() && !dateA.IsZero():
			return -1
		}
		return dateA.Compare(dateB)
	})
}

func tasksResult(found []vaultTask, status, about string, today when.Day) agent.Result {
	var b strings.Builder
	if len(found) > maxTasks {
		fmt.Fprintf(&b, "%d of ", maxTasks)
	}
	fmt.Fprintf(&b, "%s%s:\n", text.Count(len(found), tasksOf(status)), about)
	found = found[:min(len(found), maxTasks)]
	for _, t := range found {
		fmt.Fprintf(&b, "\n%s", t.line(today))
	}
	return agent.Result{Text: b.String(), Listed: tasksAt(found)}
}

func noTasks(next []vaultTask, all int, status, about string, today when.Day) agent.Result {
	text := fmt.Sprintf("There are no %ss%s; the notes hold %s in all.", tasksOf(status),
		about, text.Count(all, "task"))
	if len(next) > 0 {
		text += " Next are:\n"
	}
	for _, t := range next {
		text += "\n" + t.line(today)
	}
	return agent.Result{Text: text, Nothing: len(next) == 0, Listed: tasksAt(next)}
}

// tasksAt returns the tasks as sources.
func tasksAt(tasks []vaultTask) (lines []agent.Source) {
	for _, t := range tasks {
		lines = append(lines, t.source())
	}
	return lines
}

// tasksOf returns a noun for tasks of a status, such as "overdue task".
func tasksOf(status string) string {
	if status == "all" {
		return "task"
	}
	return status + " task"
}

// aboutWords describes which tasks are listed: their subject, and their period
// or today's date.
func aboutWords(words string, span when.Span, today when.Day) (about string) {
	if words = strings.TrimSpace(words); words != "" {
		about = fmt.Sprintf(" about %q", words)
	}
	if !span.IsZero() {
		return about + " for " + span.Words(today)
	}
	return about + " on " + today.Format("Monday, 2006-01-02")
}

// comingUp returns the next open tasks with a date, for when nothing is due.
func comingUp(all []vaultTask, status string, today when.Day) []vaultTask {
	if status != "due" && status != "overdue" {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool {
		return !t.Task.Open() ||
			t.Task.Day().Before(today)
	})
	byDate(open, status)
	const most = 3
	return open[:min(len(open), most)]
}

// line formats a task for the list.
func (t vaultTask) line(today when.Day) string {
	return fmt.Sprintf("- [%s] %s%s (%s)", t.box(), t.Task.Text, t.when(today), t.at())
}

func (t vaultTask) box() string {
	return map[string]string{"done": "x", "cancelled": "-", "open": " "}[t.state()]
}

func (t vaultTask) state() string {
	switch {
	case t.Task.Done:
		return "done"
	case t.Task.Cancelled:
		return "cancelled"
	}
	return "open"
}

// when formats the priority, dates and recurrence of a task.
func (t vaultTask) when(today when.Day) string {
	var parts []string
	if t.Task.Priority != "" {
		parts = append(parts, "priority "+t.Task.Priority)
	}
	switch {
	case !t.Task.DoneOn.IsZero() && !t.Task.Open():
		parts = append(parts, "done "+t.Task.DoneOn.String())
	case !t.Task.Due.IsZero() && t.Task.Open() && t.Task.Due.Before(today):
		parts = append(parts, "overdue since "+t.Task.Due.String())
	case !t.Task.Due.IsZero() && t.Task.Due == today:
		parts = append(parts, "due today")
	case !t.Task.Due.IsZero():
		parts = append(parts, "due "+t.Task.Due.String())
	case !t.Task.Scheduled.IsZero():
		parts = append(parts, "scheduled "+t.Task.Scheduled.String())
	}
	if recurs := t.Task.Recurs; recurs != "" {
		if !t.Task.Understood() {
			recurs = strconv.Quote(recurs) + " (a rule that is not understood)"
		}
		parts = append(parts, recurs)
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}
