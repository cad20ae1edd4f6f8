package tools

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/notes"
)

type completeArgs struct {
	Task string `json:"task"`
	Note string `json:"note,omitempty"`
	Next string `json:"next,omitempty"` // YYYY-MM-DD or never; asked for if the rule of the task is not understood
}

func newCompleteTask(v noteWriter, now func() time.Time) agent.Tool {
	return newWriter(v, spec[completeArgs]("complete_task"),
		func(ctx context.Context, args completeArgs) (change, error) {
			today := when.DayOf(now())
			t, err := v.openTask(ctx, args)
			if err != nil {
				return change{}, err
			}
			if err := notes.Writable(t.place.Entry.Path); err != nil {
				return change{}, fmt.Errorf("%q (%s) stays open: %w", t.Task.Text, t.at(), err)
			}
			raw, _, err := t.folder.Raw(t.place.Entry.Path)
			if err != nil {
				return change{}, err
			}
			p, err := openPage(raw)
			if err != nil {
				return change{}, err
			}
			first, last := t.Task.Line, t.Task.Line+strings.Count(t.Task.Below, "\n")
			if last > len(p.lines) || strings.Join(p.between(first, last), "\n") != t.Task.Raw+t.Task.Below {
				return change{}, fmt.Errorf("%s is not the line that was read; it was changed just now", t.at())
			}
			c := change{
				folder: t.folder, path: t.place.Entry.Path, was: raw,
				report: fmt.Sprintf("done: %s (%s)", t.Task.Text, t.at()),
			}
			next, recurs, err := nextOf(t, args.Next, today)
			if err != nil {
				return change{}, err
			}
			switch ticked := t.Task.Ticked(today); {
			case !recurs:
				p.replace(first, ticked)
			case t.Task.MovesOn():
				p.splice(first, last, strings.Split(next.Raw+next.Below, "\n")...)
				c.report += "; " + againOn(t.Task, next)
			default:
				p.replace(first, next.Raw, ticked)
				c.report = fmt.Sprintf("done: %s (%s); %s (%s)", t.Task.Text, agent.PlaceName(c.path, first+1),
					againOn(t.Task, next), t.at())
			}
			c.now = p.bytes()
			return c, nil
		}, "note", "task") // without a note, the task determines the note
}

// never is the answer that a task whose rule is not understood does not come again.
const never = "never"

// nextOf returns the next occurrence of a task that is done today. If its rule is not understood, answer says when
// that is; without one, the error asks for it.
func nextOf(t vaultTask, answer string, today when.Day) (next notes.Task, recurs bool, err error) {
	next, recurs = t.Task.Next(today, when.Day{})
	if recurs || t.Task.Recurs == "" || strings.EqualFold(strings.TrimSpace(answer), never) {
		return next, recurs, nil
	}
	if strings.TrimSpace(answer) == "" {
		return next, false, fmt.Errorf("%q (%s) stays open: when does it come again? "+
			"Its rule %q is not understood; say next=YYYY-MM-DD or next=%s", t.Task.Text, t.at(), t.Task.Recurs, never)
	}
	day, err := dayIn(answer)
	next, recurs = t.Task.Next(today, day)
	return next, recurs, err
}

// againOn returns when a task comes again, as shown to the user: the first of its days that moved.
func againOn(was, next notes.Task) string {
	for _, day := range [][2]when.Day{{was.Due, next.Due}, {was.Scheduled, next.Scheduled}, {was.Start, next.Start}} {
		if day[0] != day[1] {
			return "it comes again on " + day[1].Format("Monday 2006-01-02")
		}
	}
	return "it comes again"
}

var pathAndLine = regexp.MustCompile(`^(.+):(\d+)$`)

// openTask returns the open task that is meant. If there are several, the error
// lists them.
func (v vaults) openTask(ctx context.Context, args completeArgs) (vaultTask, error) {
	all, _, err := v.tasks(ctx)
	if err != nil {
		return vaultTask{}, err
	}
	if strings.TrimSpace(args.Note) != "" {
		at, err := v.find(ctx, args.Note)
		if err != nil {
			return vaultTask{}, err
		}
		all = slices.DeleteFunc(all, func(t vaultTask) bool {
			return t.folder != at.folder ||
				t.place.Entry.Path != at.Entry.Path
		})
	}
	wanted := taskText(args.Task)
	if m := pathAndLine.FindStringSubmatch(wanted); m != nil {
		line, _ := strconv.Atoi(m[2])
		found := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool {
			return t.Task.Line != line || !notes.SameName(t.place.Entry.Path, m[1]) &&
				!notes.HasNameSuffix("/"+t.place.Entry.Path, m[1])
		})
		if len(found) > 0 {
			return oneTask(ctx, found, args.Task)
		}
	}
	if strings.TrimSpace(wanted) == "" {
		return vaultTask{}, fmt.Errorf("task text missing")
	}
	found := firstFitting(all,
		func(t vaultTask) bool { return text.Key(t.Task.Text) == text.Key(wanted) },
		func(t vaultTask) bool { return strings.Contains(text.Key(t.Task.Text), text.Key(wanted)) },
		func(t vaultTask) bool { return holdsAll(t.Task.Text, wanted) },
	)
	if len(found) == 0 {
		return vaultTask{}, fmt.Errorf("none of %s has the words %q", text.Count(len(all), "task"), args.Task)
	}
	if open := firstFitting(found, func(t vaultTask) bool { return t.Task.Open() }); len(open) > 0 {
		return oneTask(ctx, open, args.Task)
	}
	return oneTask(ctx, found[:1], args.Task)
}

// oneTask returns the only candidate, or an error if there are several or it is
// done.
func oneTask(ctx context.Context, found []vaultTask, called string) (vaultTask, error) {
	for _, t := range found {
		agent.Shows(ctx, t.source())
	}
	if len(found) > 1 {
		const most = 10
		var names []string
		for _, t := range found[:min(len(found), most)] {
			names = append(names, fmt.Sprintf("%q (%s)", t.Task.Text, t.at()))
		}
		return vaultTask{}, fmt.Errorf("%d open tasks fit %q: %s; say which by path:line", len(found), called,
			strings.Join(names, ", "))
	}
	if !found[0].Task.Open() {
		return vaultTask{}, fmt.Errorf("%q is done already (%s)", found[0].Task.Text, found[0].at())
	}
	return found[0], nil
}
