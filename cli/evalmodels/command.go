// Package evalmodels implements `lifehub eval models`, which tries models on tasks about notes, in
// LifeHub's own turns, and reports which is good enough for what. bench.go runs a task, check.go
// judges it, and report.go draws conclusions.
package evalmodels

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/llm"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// evaluation is one run of the command.
type evaluation struct {
	Process      *app.Process
	notes, tasks string
	last, asJSON bool
	limit        time.Duration
}

// New returns the command.
func New(sh *app.Process) *cobra.Command {
	e := &evaluation{Process: sh}
	cmd := &cobra.Command{
		Use:   "models [NAME…]",
		Short: "Try models with tasks, and say which is good enough for what",
		Long: "Try models with 40 tasks on the sample notes: plans, answers, the loop and the team. Each is done by LifeHub itself in a\n" +
			"temporary folder, and what would write is refused. Without a name, all chat models on this machine and the one in the\n" +
			"settings are tried. Each result is saved: a stopped run continues, and the next run compares.",
		Example: "  lifehub eval models\n  lifehub eval models qwen3:8b work/llama-3.3-70b\n  lifehub eval models --last\n" +
			"  lifehub eval models --notes ~/notes --tasks tasks.yaml",
		RunE: func(cmd *cobra.Command, names []string) error { return e.run(cmd.Context(), names) },
	}
	f := cmd.Flags()
	f.StringVar(&e.notes, "notes", "", "copy the notes of this folder instead of the sample notes; needs --tasks")
	f.StringVar(&e.tasks, "tasks", "", "tasks of this file instead of LifeHub's")
	f.BoolVar(&e.last, "last", false, "only show the last results")
	f.DurationVar(&e.limit, "timeout", 10*time.Minute, "longest time of a task")
	app.AddJSON(cmd, &e.asJSON, "print one JSON object")
	app.CheckFirst(cmd, func() error {
		switch {
		case e.notes != "" && e.tasks == "":
			return settings.UsageError{Err: errors.New("--notes needs --tasks: LifeHub's own tasks are about the sample notes")}
		case e.limit <= 0:
			return settings.UsageError{Err: fmt.Errorf("--timeout: %v is not a time that a task can take", e.limit)}
		}
		return nil
	})
	return cmd
}

func (e *evaluation) run(ctx context.Context, names []string) error {
	tasks, err := readSuite(e.tasks)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	paths, err := settings.FindPaths(e.Process.Getenv)
	if err != nil {
		return err
	}
	results := archive(filepath.Join(paths.State, "eval-models.jsonl"))
	b, err := openBench(ctx, e.Process, tasks, app.AtHome(e.notes), e.limit)
	if err != nil {
		return err
	}
	defer b.close()
	known, err := results.read(b.suite.id)
	if err != nil {
		return err
	}
	var failed error
	now := lastRuns(known, names)
	if !e.last {
		if now, failed, err = e.tryAll(ctx, b, results, known, names); err != nil {
			return err
		}
	}
	if len(now) == 0 {
		return cmp.Or(failed, errors.New("there are no results yet; `lifehub eval models` tries the models"))
	}
	rep := reportOn(b.suite, known, now)
	if e.asJSON {
		err = app.PrintJSON(e.Process, "results", rep)
	} else {
		err = app.PrintText(e.Process, "results", rep.String())
	}
	return errors.Join(err, failed)
}

// lastRuns returns the last run of each named model, or of all models.
func lastRuns(known []result, names []string) (list []run) {
	var models []string
	for _, r := range known {
		if !slices.Contains(models, r.Model) && (len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return llm.SameModel(name, r.Model) })) {
			models = append(models, r.Model)
		}
	}
	for _, name := range models {
		all := runs(known, name)
		list = append(list, all[len(all)-1])
	}
	return list
}

// tryAll tries the models one after the other. Errors of single models are joined in failed and do
// not stop the others.
func (e *evaluation) tryAll(ctx context.Context, b *bench, results archive, known []result, names []string) (now []run, failed, err error) {
	models, err := e.choose(ctx, b, names)
	if err != nil {
		return nil, nil, err
	}
	what := "the sample notes"
	if e.notes != "" {
		what = "notes of " + e.notes
	}
	for _, m := range models {
		if m.Remote != "" {
			fmt.Fprintf(e.Process.Err, "! %s runs on %s: the tasks, and what they find in %s, are sent there\n", safetext.Line(m.Name), safetext.Line(m.Remote), safetext.Line(what))
		}
	}
	if err := b.App.Ready(ctx, app.NewBar(e.Process)); err != nil {
		return nil, nil, err
	}
	for _, m := range models {
		as := result{LifeHub: settings.Version(), Suite: b.suite.id, Model: m.Name, Digest: m.Digest, Think: b.App.Settings.Think, Run: time.Now()}
		r := next(known, b.suite, as)
		err := e.tryModel(ctx, b, results, r)
		if len(r.by) > 0 {
			now = append(now, r)
		}
		if ctx.Err() != nil {
			fmt.Fprintf(e.Process.Err, "stopped: %d of %d tasks of %s are saved; the same command continues there\n", len(r.by), len(b.suite.Tasks), safetext.Line(m.Name))
			return nil, nil, ctx.Err()
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("try %s: %w", m.Name, err))
		}
	}
	return now, failed, nil
}

// choose returns the models to try: those named or, if none is, those on this machine and the one
// in the settings. A model on another machine is used only if it is named or in the settings.
func (e *evaluation) choose(ctx context.Context, b *bench, names []string) (chosen []llm.Info, err error) {
	if b.App.Settings.Provider == "offline" {
		return nil, settings.UsageError{Err: errors.New("the setting provider is offline: there are no models to try")}
	}
	listed, unlisted := b.App.Models.All(ctx)
	if len(names) == 0 && unlisted != nil && len(listed) > 0 {
		fmt.Fprintln(e.Process.Err, "! without", safetext.Text(unlisted.Error()))
	}
	for _, name := range names {
		i := slices.IndexFunc(listed, func(m llm.Info) bool { return llm.SameModel(m.Name, name) })
		if i < 0 {
			_, err := b.App.Models.Info(ctx, name)
			return nil, fmt.Errorf("find the model %s: %w", name, cmp.Or(err, error(&llm.NotFoundError{Model: name})))
		}
		if !slices.ContainsFunc(chosen, func(m llm.Info) bool { return m.Name == listed[i].Name }) {
			chosen = append(chosen, listed[i])
		}
	}
	var elsewhere []string
	for _, m := range listed {
		chats := len(m.Capabilities) == 0 || m.Can("completion") // OpenAI's protocol does not report capabilities
		switch {
		case len(names) > 0 || !chats:
		case m.Remote != "" && !llm.SameModel(m.Name, b.App.Settings.Model):
			elsewhere = append(elsewhere, m.Name)
		default:
			chosen = append(chosen, m)
		}
	}
	if len(elsewhere) > 0 {
		fmt.Fprintf(e.Process.Err, "! not tried, because they run on other machines: %s. Name those to try, as in `lifehub eval models %s`\n",
			safetext.Line(strings.Join(elsewhere, ", ")), safetext.Line(elsewhere[0]))
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("find models to try: %w", cmp.Or(unlisted, errors.New("none is installed on this machine; `lifehub models pull qwen3:8b` pulls one")))
	}
	return chosen, nil
}

// tryModel tries the remaining tasks of a run and saves each result. Failed tasks are saved only
// after a later task succeeds: three failures in a row are blamed on the server, and end the run.
func (e *evaluation) tryModel(ctx context.Context, b *bench, results archive, r run) error {
	if err := b.App.Models.SetModel(ctx, r.Model); err != nil {
		return err
	}
	bar, failures := app.NewBar(e.Process), []result{}
	keep := func(list ...result) error {
		for _, done := range list {
			r.by[done.Task] = done
		}
		return results.add(list...)
	}
	for i, t := range b.suite.Tasks {
		if _, tried := r.by[t.Name]; tried {
			continue
		}
		head := fmt.Sprintf("%s  %2d of %d  ", safetext.Line(r.Model), i+1, len(b.suite.Tasks))
		began := time.Now()
		o, err := b.try(ctx, t, func(doing string) {
			bar.Line(fmt.Sprintf("%s… %s: %s  %.0f s  %s", head, t.Role, t.Name, time.Since(began).Seconds(), doing))
		})
		if bar.Clear(); err != nil {
			return err
		}
		fmt.Fprintln(e.Process.Err, head+resultLine(t, o))
		done := r.result
		done.Time, done.Task, done.Role, done.outcome = time.Now(), t.Name, t.Role, o
		if failures = append(failures, done); o.Error != "" && len(failures) < 3 {
			continue
		} else if o.Error != "" {
			return fmt.Errorf("%d tasks in a row failed, the last one with: %s", len(failures), o.Error)
		}
		if err := keep(failures...); err != nil {
			return err
		}
		failures = nil
	}
	return keep(failures...)
}

// resultLine formats the result of a task in one line.
func resultLine(t task, o outcome) string {
	mark, why := "✓", ""
	for _, name := range checks {
		if passed, checked := o.Checks[name]; checked && !passed {
			why += ", " + name
			if name != atOnce {
				mark = "✗"
			}
		}
	}
	if why != "" {
		why = "  missed: " + why[2:]
	}
	if o.Error != "" {
		why = "  " + draw.Truncate(safetext.Line(o.Error), 120)
	}
	return fmt.Sprintf("%s %s: %s  %.1f s%s", mark, t.Role, safetext.Line(t.Name), o.Seconds, why)
}
