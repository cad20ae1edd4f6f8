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
	"lifehub/rag"
)

type listTasksArgs struct {
	Status string `json:"status,omitempty" enum:"open,due,overdue,done,all" default:"open" description:"open: pending, not done; due: open with a date within a week or past; overdue: open with a date that is past; done: completed, finished"`
	Query  string `json:"query,omitempty" description:"words of their text, headings, note or tags; after:DATE and before:DATE"`
}

// dueWithin is how many days ahead a task counts as due.
const dueWithin = 7

// maxTasks bounds the tasks of one answer.
const maxTasks = 100

func newListTasks(v vaults, now func() time.Time) agent.Tool {
	return agent.NewTool(spec[listTasksArgs]("list_tasks"), agent.Auto, func(ctx context.Context, args listTasksArgs) (agent.Result, error) {
		status := cmp.Or(args.Status, "open")
		query, err := rag.ParseQuery(args.Query)
		if err != nil {
			return agent.Result{}, err
		}
		all, err := v.tasks(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		today := startOfDay(now())
		asked, words := when.Span{From: query.After, To: query.Before}, strings.Join(slices.Concat([]string{query.Text}, query.Tags, query.Paths), " ")
		about := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool { return !t.about(words) || !t.isOf(asked) })
		found := slices.DeleteFunc(slices.Clone(about), func(t vaultTask) bool { return !t.is(status, today) })
		byDate(found, status)
		if len(found) == 0 {
			return noTasks(comingUp(about, status, today), len(all), status, aboutWords(words, asked, today), today), nil
		}
		return tasksResult(found, status, aboutWords(words, asked, today), today), nil
	})
}

func (t vaultTask) is(status string, today time.Time) bool {
	date := t.date()
	switch status {
	case "open":
		return t.Open()
	case "due":
		return t.Open() && !date.IsZero() && !date.After(today.AddDate(0, 0, dueWithin))
	case "overdue":
		return t.Open() && !date.IsZero() && date.Before(today)
	case "done":
		return t.Done
	}
	return true
}

// date is the day by which, else for which, a task is planned.
func (t vaultTask) date() time.Time {
	if t.Due.IsZero() {
		return t.Scheduled
	}
	return t.Due
}

// about reports whether a task's line, the headings above it or the path of
// its note holds all words.
func (t vaultTask) about(words string) bool {
	return holdsAll(t.Raw+" "+t.heading+" "+t.place.Path, words)
}

// isOf reports whether a task bears a date of a time, where one is asked for.
func (t vaultTask) isOf(asked when.Span) bool {
	return asked.IsZero() || slices.ContainsFunc(t.days, asked.Meets)
}

// byDate sorts open tasks by what comes first, done ones by what was done
// last; those without a date come at the end.
func byDate(tasks []vaultTask, status string) {
	slices.SortStableFunc(tasks, func(a, b vaultTask) int {
		if status == "done" {
			return b.DoneOn.Compare(a.DoneOn)
		}
		dateA, dateB := a.date(), b.date()
		switch {
		case dateA.IsZero() && !dateB.IsZero():
			return 1
		case dateB.IsZero() && !dateA.IsZero():
			return -1
		}
		return dateA.Compare(dateB)
	})
}

func tasksResult(found []vaultTask, status, about string, today time.Time) agent.Result {
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

func noTasks(next []vaultTask, all int, status, about string, today time.Time) agent.Result {
	text := fmt.Sprintf("There are no %ss%s; the notes hold %s in all.", tasksOf(status), about, text.Count(all, "task"))
	if len(next) > 0 {
		text += " Next are:\n"
	}
	for _, t := range next {
		text += "\n" + t.line(today)
	}
	return agent.Result{Text: text, Nothing: len(next) == 0, Listed: tasksAt(next)}
}

// tasksAt are the places of tasks.
func tasksAt(tasks []vaultTask) (lines []agent.Source) {
	for _, t := range tasks {
		lines = append(lines, agent.Source{Path: t.place.Path, Line: t.Line, EndLine: t.Line, Text: t.Text})
	}
	return lines
}

// tasksOf names a task of a status: "overdue task".
func tasksOf(status string) string {
	if status == "all" {
		return "task"
	}
	return status + " task"
}

// aboutWords says which tasks are listed: about what, and for or on which days.
func aboutWords(words string, asked when.Span, today time.Time) (about string) {
	if words = strings.TrimSpace(words); words != "" {
		about = fmt.Sprintf(" about %q", words)
	}
	if !asked.IsZero() {
		return about + " for " + asked.Words(today)
	}
	return about + " on " + today.Format("Monday, 2006-01-02")
}

// comingUp are the first open tasks with a date, for one who asked what is due
// when nothing is.
func comingUp(all []vaultTask, status string, today time.Time) []vaultTask {
	if status != "due" && status != "overdue" {
		return nil
	}
	open := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool { return !t.Open() || t.date().Before(today) })
	byDate(open, status)
	const most = 3
	return open[:min(len(open), most)]
}

// line is a task as it is listed.
func (t vaultTask) line(today time.Time) string {
	return fmt.Sprintf("- [%s] %s%s (%s)", t.box(), t.Text, t.when(today), t.at())
}

func (t vaultTask) box() string {
	switch {
	case t.Done:
		return "x"
	case t.Cancelled:
		return "-"
	}
	return " "
}

// when writes a task's dates in words.
func (t vaultTask) when(today time.Time) string {
	var parts []string
	if t.Priority != "" {
		parts = append(parts, "priority "+t.Priority)
	}
	switch {
	case !t.DoneOn.IsZero():
		parts = append(parts, "done "+t.DoneOn.Format(time.DateOnly))
	case !t.Due.IsZero() && t.Open() && t.Due.Before(today):
		parts = append(parts, "overdue since "+t.Due.Format(time.DateOnly))
	case !t.Due.IsZero() && t.Due.Equal(today):
		parts = append(parts, "due today")
	case !t.Due.IsZero():
		parts = append(parts, "due "+t.Due.Format(time.DateOnly))
	case !t.Scheduled.IsZero():
		parts = append(parts, "scheduled "+t.Scheduled.Format(time.DateOnly))
	}
	if t.Recurs != "" {
		parts = append(parts, t.Recurs)
	}
	if len(parts) == 0 {
		return ""
	}
	return ", " + strings.Join(parts, ", ")
}

// startOfDay is the local midnight of the day that t names in its own zone.
func startOfDay(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.Local)
}
