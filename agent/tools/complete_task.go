package tools

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lifehub/agent"
	"lifehub/notes"
)

type completeArgs struct {
	Task string `json:"task"`
	Note string `json:"note,omitempty"`
}

func newCompleteTask(v noteWriter, now func() time.Time) agent.Tool {
	return newWriter(v, spec[completeArgs]("complete_task"), func(ctx context.Context, args completeArgs) (change, error) {
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
		if t.Task.Line > len(p.lines) || p.text(t.Task.Line) != strings.TrimRight(t.Task.Raw, "\r") { // changed just now, or not UTF-8
			return change{}, fmt.Errorf("%s is not the line that was read; it was changed just now, or is not UTF-8", t.at())
		}
		c := change{folder: t.folder, path: t.place.Entry.Path, was: raw, report: fmt.Sprintf("done: %s (%s)", t.Task.Text, t.at())}
		lines := []string{t.Task.Ticked(now())}
		if next, ok := t.Task.Next(now()); ok {
			lines = []string{next, lines[0]}
			c.report = fmt.Sprintf("done: %s (%s); %s (%s)", t.Task.Text, agent.PlaceName(c.path, t.Task.Line+1), againOn(next), t.at())
		} else if t.Task.Recurs != "" {
			c.report += fmt.Sprintf("; its rule %q is not understood, so no next one was made", t.Task.Recurs)
		}
		p.replace(t.Task.Line, lines...)
		c.now = p.bytes()
		return c, nil
	}, "note", "task") // without a note, the task determines the note
}

// againOn returns when the task in a line comes again, as shown to the user.
func againOn(line string) string {
	t, _ := notes.ParseTasks(line)
	if day := cmp.Or(t.Due, t.Scheduled, t.Start); !day.IsZero() {
		return "it comes again on " + day.Format("Monday 2006-01-02")
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
		all = slices.DeleteFunc(all, func(t vaultTask) bool { return t.folder != at.folder || t.place.Entry.Path != at.Entry.Path })
	}
	wanted := taskText(args.Task)
	if m := pathAndLine.FindStringSubmatch(wanted); m != nil {
		line, _ := strconv.Atoi(m[2])
		found := slices.DeleteFunc(slices.Clone(all), func(t vaultTask) bool {
			return t.Task.Line != line || !notes.SameName(t.place.Entry.Path, m[1]) && !notes.HasNameSuffix("/"+t.place.Entry.Path, m[1])
		})
		if len(found) > 0 {
			return oneTask(ctx, found, args.Task)
		}
	}
	if strings.TrimSpace(wanted) == "" {
		return vaultTask{}, fmt.Errorf("task text missing")
	}
	found := firstFitting(all,
		func(t vaultTask) bool { return strings.EqualFold(t.Task.Text, wanted) },
		func(t vaultTask) bool { return strings.Contains(strings.ToLower(t.Task.Text), strings.ToLower(wanted)) },
		func(t vaultTask) bool { return holdsAll(t.Task.Text, wanted) },
	)
	if len(found) == 0 {
		return vaultTask{}, fmt.Errorf("there is no task %q; list_tasks shows which there are", args.Task)
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
		return vaultTask{}, fmt.Errorf("%d open tasks fit %q: %s; say which by path:line", len(found), called, strings.Join(names, ", "))
	}
	if !found[0].Task.Open() {
		return vaultTask{}, fmt.Errorf("%q is done already (%s)", found[0].Task.Text, found[0].at())
	}
	return found[0], nil
}
