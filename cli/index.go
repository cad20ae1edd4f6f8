package cli

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/rag/encoder"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

func newIndex(sh *app.Process) *cobra.Command {
	var f indexFlags
	cmd := &cobra.Command{
		Use:   "index [DIR…]",
		Short: "Index your notes",
		Long: "Index the folders named, which are remembered from then on, or else all remembered folders.\n" +
			"Unchanged notes cost nothing; an interrupted run resumes.",
		Example: "  lifehub index ~/notes ~/work/wiki\n  lifehub index --rebuild",
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return indexNotes(cmd.Context(), sh, dirs, f)
		},
	}
	cmd.Flags().BoolVar(&f.rebuild, "rebuild", false, "rebuild the index from scratch; the old one is used until it "+
		"is done")
	cmd.Flags().BoolVar(&f.watch, "watch", false, "keep updating the index as notes change, until stopped")
	cmd.Flags().BoolVar(&f.status, "status", false, "show how current the index is; change nothing")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would be done; change nothing")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object per folder")
	cmd.Flags().BoolVarP(&f.yes, "yes", "y", false, "with DIR: do not ask if it holds none of its indexed notes any more")
	cmd.MarkFlagsMutuallyExclusive("rebuild", "status", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("watch", "status", "dry-run")
	return cmd
}

// indexFlags are the flags of `lifehub index`.
type indexFlags struct{ rebuild, watch, status, dryRun, json, yes bool }

func indexNotes(ctx context.Context, sh *app.Process, dirs []string, f indexFlags) error {
	p, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	for i, dir := range dirs {
		if dirs[i], err = settings.VaultDir(dir); err != nil {
			return settings.UsageError{Err: err}
		}
		if f.status || f.dryRun {
			continue
		}
		if err := settings.RememberNotes(p.ConfigFile(), dirs[i]); err != nil {
			return err
		}
	}
	named := dirs
	if len(dirs) == 0 {
		dirs = c.Notes
	}
	if len(dirs) == 0 {
		return settings.UsageError{Err: app.ErrNoNotes}
	}
	a, err := app.OpenNotes(sh, app.RunFlags{Notes: named})
	if err != nil {
		return err
	}
	defer a.Close()
	sh.Notice(a.FoundServer(ctx))
	var failed []error
	for _, text := range a.MissingVaults {
		failed = append(failed, errors.New(text))
	}
	for _, v := range a.OpenVaults() {
		err := indexOne(ctx, sh, a, v, f)
		if errors.Is(err, notes.ErrNotThere) && len(named) > 0 && !f.status && !f.dryRun {
			err = f.accept(ctx, sh, v)
			if err == nil {
				err = indexOne(ctx, sh, a, v, f)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			failed = append(failed, err)
		}
	}
	if f.status {
		if better := a.BetterEmbedder(ctx); better != "" {
			fmt.Fprintln(sh.Err, safetext.Line(better))
		}
	}
	if f.watch && len(a.OpenVaults()) > 0 {
		for _, err := range failed {
			fmt.Fprintln(sh.Err, "lifehub:", safetext.Line(err.Error()))
		}
		return watchNotes(ctx, sh, a, f)
	}
	return errors.Join(failed...)
}

// accept asks whether a folder that does not hold the indexed notes is taken as it is.
func (f indexFlags) accept(ctx context.Context, sh *app.Process, v *app.Vault) error {
	question := fmt.Sprintf("%s holds none of its indexed notes. Remove them from the index?",
		safetext.Line(v.Folder.Dir()))
	if err := app.Confirm(ctx, sh, question, "remove the notes from the index", f.yes); err != nil {
		return fmt.Errorf("index %s: %w: %w", v.Folder.Dir(), notes.ErrNotThere, err)
	}
	return v.Index.Accept(v.Folder)
}

// indexOne updates the index of one folder or, with --status or --dry-run, only reports on it.
func indexOne(ctx context.Context, sh *app.Process, a *app.App, v *app.Vault, f indexFlags) error {
	dir := v.Folder.Dir()
	if f.status {
		if err := v.Index.Use(a.Embedder(ctx)); err != nil {
			return err
		}
		files, err := v.Index.Status(ctx, v.Folder)
		if err != nil {
			return err
		}
		coverage, err := v.Index.Coverage(ctx)
		if err != nil {
			return err
		}
		foreign := false
		if encoder.IsBuiltIn(coverage.Embedder) {
			if foreign, err = v.Index.Foreign(ctx); err != nil {
				return err
			}
		}
		return printStatus(sh, dir, files, coverage, foreign, f.json)
	}
	var changes rag.Changes
	var err error
	if f.dryRun {
		changes, err = v.Index.DryRun(ctx, v.Folder)
	} else {
		bar := app.NewBar(sh)
		if f.rebuild {
			changes, err = v.Index.Rebuild(ctx, v.Folder, a.Embedder(ctx), bar.Sync)
		} else {
			changes, err = a.Sync(ctx, v, bar.Sync)
		}
		if err == nil {
			changes, err = readImages(ctx, a, v, changes, bar)
		}
		bar.Clear()
	}
	if err == nil {
		err = printChanges(sh, dir, changes, f)
	}
	if err != nil || f.dryRun || 2*changes.Embedded < changes.Passages || !encoder.IsBuiltIn(a.Embedder(ctx).Name()) {
		return err
	}
	foreign, err := v.Index.Foreign(ctx) // said when most of the notes are new
	if foreign {
		fmt.Fprintln(sh.Err, app.ForeignNotes)
	}
	return err
}

// readImages reads the images that a sync has left, and returns what both changed. Between two steps
// other changes of the notes are indexed, by this process or another.
func readImages(ctx context.Context, a *app.App, v *app.Vault, changes rag.Changes, bar *app.Bar) (rag.Changes, error) {
	all := changes.Images
	progress := func(p rag.Progress) {
		if p.Phase == "images" {
			p.Done, p.Total = all-p.Total+p.Done, all
		}
		bar.Sync(p)
	}
	for left := all + 1; 0 < changes.Images && changes.Images < left; {
		left = changes.Images
		next, err := v.Index.SyncImages(ctx, v.Folder, a.Embedder(ctx), progress)
		if err != nil {
			return changes, err
		}
		changes = changes.Then(next)
	}
	return changes, nil
}

// watchNotes keeps the indexes of all folders up to date and prints each change, until ctx is
// cancelled.
func watchNotes(ctx context.Context, sh *app.Process, a *app.App, f indexFlags) error {
	var printing sync.Mutex
	var watches sync.WaitGroup
	for _, v := range a.OpenVaults() {
		watches.Go(func() {
			report := func(changes rag.Changes, err error) {
				printing.Lock()
				defer printing.Unlock()
				if err != nil && ctx.Err() == nil {
					fmt.Fprintln(sh.Err, "lifehub:", safetext.Line(err.Error()))
				} else if err == nil {
					_ = printChanges(sh, v.Folder.Dir(), changes, f)
				}
			}
			agent.Safely(func() {
				_ = v.Index.Watch(ctx, v.Folder, a, report) // it returns when ctx is cancelled
			})
		})
	}
	watches.Wait()
	return nil
}

func printStatus(sh *app.Process, dir string, files []rag.FileStatus, coverage rag.Coverage,
	foreign, asJSON bool,
) error {
	if asJSON {
		return app.PrintJSON(sh, "status", struct {
			Folder  string           `json:"folder"`
			Files   []rag.FileStatus `json:"files"`
			LeftOut notes.LeftOut    `json:"left_out,omitempty"` // files that are not read, by kind
			// the built-in encoder does not know the notes' language
			Foreign bool `json:"keywords_only,omitempty"`
		}{dir, files, coverage.LeftOut, foreign})
	}
	indexed := 0
	for _, file := range files {
		if file.State == "indexed" {
			indexed++
			if file.Reason == "" {
				continue // nothing to report; --json includes it
			}
		}
		line := fmt.Sprintf("%-8s %3d passages, %3d embedded  %s", file.State, file.Passages, file.Embedded,
			safetext.Line(file.Path))
		if file.Reason != "" {
			line += ": " + safetext.Line(file.Reason)
		}
		fmt.Fprintln(sh.Out, line)
	}
	fmt.Fprintf(sh.Out, "%s: %d of %d indexed\n", safetext.Line(dir), indexed, len(files))
	if left := coverage.LeftOut.String(); left != "" {
		fmt.Fprintln(sh.Out, left)
	}
	if foreign {
		fmt.Fprintln(sh.Out, app.ForeignNotes)
	} else if encoder.IsBuiltIn(coverage.Embedder) {
		fmt.Fprintln(sh.Out, "by keywords and the built-in encoder, for "+encoder.Languages)
	}
	return nil
}

func printChanges(sh *app.Process, dir string, changes rag.Changes, f indexFlags) error {
	if f.json {
		return app.PrintJSON(sh, "changes", struct {
			Folder string `json:"folder"`
			rag.Changes
		}{dir, changes})
	}
	for _, w := range changes.Warnings {
		fmt.Fprintln(sh.Err, "!", safetext.Line(w))
	}
	counts, left := map[string]int{}, 0
	for i, c := range changes.Notes {
		counts[c.What]++
		if i >= 20 && c.Reason == "" { // the first run over a folder adds every note
			left++
			continue
		}
		line := fmt.Sprintf("%-8s %s", c.What, safetext.Line(c.Path))
		if c.From != "" {
			line += " (was " + safetext.Line(c.From) + ")"
		}
		if c.Reason != "" {
			line += ": " + safetext.Line(c.Reason)
		}
		fmt.Fprintln(sh.Out, line)
	}
	if left > 0 {
		fmt.Fprintf(sh.Out, "… %s more; --json lists all\n", draw.Thousands(left))
	}
	if changes.Rebuilt != "" {
		fmt.Fprintln(sh.Out, "rebuilt:", safetext.Line(changes.Rebuilt))
	}
	fmt.Fprintf(sh.Out, "%s: %s", safetext.Line(dir), draw.Count(changes.Total, "note"))
	if !f.dryRun {
		fmt.Fprint(sh.Out, " indexed")
	}
	for _, what := range []string{"added", "changed", "moved", "removed", "skipped"} {
		if counts[what] > 0 && (what != "added" || counts[what] < changes.Total) { // else it is new here
			fmt.Fprintf(sh.Out, ", %s %s", draw.Thousands(counts[what]), what)
		}
	}
	if changes.Unreadable > 0 {
		fmt.Fprintf(sh.Out, ", %s not readable now", draw.Thousands(changes.Unreadable))
	}
	fmt.Fprintln(sh.Out)
	if leftOut := changes.LeftOut.String(); leftOut != "" {
		fmt.Fprintln(sh.Out, leftOut)
	}
	return nil
}
