package tools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lifehub/agent"
)

type listTasksArgs struct {
	Status string `json:"status,omitempty"`
	Query  string `json:"query,omitempty"`
}

const listTasksSchema = `{
	"type": "object",
	"properties": {
		"status": {"type": "string", "enum": ["open", "due", "overdue", "done", "all"], "default": "open", "description": "open: not done; due: open with a date within a week or past; overdue: open with a date that is past"},
		"query": {"type": "string", "description": "only tasks whose text, note or tags hold these words"}
	},
	"additionalProperties": false
}`

// dueWithin is how many days ahead a task counts as due.
const dueWithin = 7

// maxTasks bounds the tasks of one answer.
const maxTasks = 100

func newListTasks(v vaults, now func() time.Time) agent.Tool {
	return agent.NewTool(spec("list_tasks", listTasksSchema), agent.Auto, func(ctx context.Context, args listTasksArgs) (agent.Result, error) {
		status := cmp.Or(args.Status, "open")
		all, err := v.tasks(ctx)
		if err != nil {
			return agent.Result{}, err
		}
		today := startOfDay(now())
		words := strings.Fields(strings.ToLower(args.Query))
		found := slices.DeleteFunc(slices.Clone(all), func(t task) bool {
			return !t.is(status, today) || !t.about(words)
		})
		byDate(found, status)
		return tasksResult(found, all, status, args.Query, today), nil
	})
}

func (t task) is(status string, today time.Time) bool {
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
func (t task) date() time.Time {
	if t.Due.IsZero() {
		return t.Scheduled
	}
	return t.Due
}

// about tells whether a task's line or the path of its note holds all words.
func (t task) about(words []string) bool {
	text := strings.ToLower(t.Raw + " " + t.place.Path)
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// byDate sorts open tasks by what comes first, done ones by what was done
// last; those without a date come at the end.
func byDate(tasks []task, status string) {
	slices.SortStableFunc(tasks, func(a, b task) int {
		if status == "done" {
			return b.DoneOn.Compare(a.DoneOn)
		}
		dateA, dateB := a.date(), b.date()
		if dateA.IsZero() != dateB.IsZero() {
			if dateA.IsZero() {
				return 1
			}
			return -1
		}
		return dateA.Compare(dateB)
	})
}

func tasksResult(found, all []task, status, query string, today time.Time) agent.Result {
	which := map[string]string{"open": "open ", "due": "due ", "overdue": "overdue ", "done": "done "}[status]
	about := ""
	if query != "" {
		about = fmt.Sprintf(" about %q", query)
	}
	if len(found) == 0 {
		return agent.Result{Text: fmt.Sprintf("There are no %stasks%s; the notes hold %s in all.", which, about, count(len(all), "task")), Nothing: true}
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s%s on %s:\n", count(len(found), which+"task"), about, today.Format("Monday, 2006-01-02"))
	for i, t := range found {
		if i == maxTasks {
			fmt.Fprintf(&text, "\nand %d more", len(found)-maxTasks)
			break
		}
		fmt.Fprintf(&text, "\n- [%s] %s%s (%s)", t.box(), t.Text, t.when(today), t.at())
	}
	return agent.Result{Text: text.String()}
}

func (t task) box() string {
	switch {
	case t.Done:
		return "x"
	case t.Cancelled:
		return "-"
	}
	return " "
}

// when tells a task's dates in words.
func (t task) when(today time.Time) string {
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
