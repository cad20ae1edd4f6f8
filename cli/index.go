package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"lifehub/rag"
	"lifehub/tui/safetext"
)

var errNoNotes = errors.New("no notes are known yet; `lifehub index DIR` makes a folder known, --notes DIR uses one for this run")

func newIndex(sh *shell) *cobra.Command {
	var rebuild, asJSON bool
	cmd := &cobra.Command{
		Use:   "index [DIR…]",
		Short: "Make the index match your notes",
		Long: "Make the index match the notes: of the folders named, which are remembered from then on, else of all\n" +
			"remembered ones. Notes that did not change cost nothing; an interrupted run goes on where it was.",
		Example: "  lifehub index ~/notes ~/work/wiki\n  lifehub index --rebuild",
		RunE: func(cmd *cobra.Command, dirs []string) error {
			return sh.index(cmd.Context(), dirs, rebuild, asJSON)
		},
	}
	cmd.Flags().BoolVar(&rebuild, "rebuild", false, "throw the index away first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a folder")
	return cmd
}

func (sh *shell) index(ctx context.Context, dirs []string, rebuild, asJSON bool) error {
	p, c, err := sh.load()
	if err != nil {
		return err
	}
	for i, dir := range dirs {
		if dirs[i], err = vaultDir(dir); err != nil {
			return usageError{err}
		}
		if err := rememberNotes(p.settings(), dirs[i]); err != nil {
			return err
		}
	}
	if len(dirs) == 0 {
		dirs = c.Notes
	}
	if len(dirs) == 0 {
		return usageError{errNoNotes}
	}
	if rebuild {
		for _, dir := range dirs {
			if err := os.RemoveAll(p.index(dir)); err != nil {
				return fmt.Errorf("throw away the index of %s: %w", dir, err)
			}
		}
	}
	a, err := sh.open(ctx, runFlags{notes: dirs})
	if err != nil {
		return err
	}
	defer a.close()
	bar := sh.progress()
	for _, v := range a.open() {
		changes, err := a.sync(ctx, v, bar.sync)
		bar.clear()
		if err != nil {
			return err
		}
		if err := sh.printChanges(v.folder.Dir(), changes, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// vaultDir is the absolute folder of notes behind an argument, links followed.
func vaultDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find the notes: %w", err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return "", fmt.Errorf("find the notes: %w", err)
	}
	if !info.IsDir() {
		return "", fmt.Errorf("find the notes: %s is not a folder", abs)
	}
	return abs, nil
}

func (sh *shell) printChanges(dir string, changes rag.Changes, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(safeJSON{sh.out}).Encode(struct {
			Folder string `json:"folder"`
			rag.Changes
		}{dir, changes})
	}
	counts := map[string]int{}
	for _, c := range changes.Notes {
		counts[c.What]++
		line := fmt.Sprintf("%-8s %s", c.What, safetext.Line(c.Path))
		if c.From != "" {
			line += " (was " + safetext.Line(c.From) + ")"
		}
		if c.Reason != "" {
			line += ": " + safetext.Line(c.Reason)
		}
		fmt.Fprintln(sh.out, line)
	}
	if changes.Rebuilt != "" {
		fmt.Fprintln(sh.out, "rebuilt:", safetext.Line(changes.Rebuilt))
	}
	fmt.Fprintf(sh.out, "%s: %d notes, %d passages", safetext.Line(dir), changes.Total, changes.Passages)
	for _, what := range []string{"added", "changed", "moved", "removed", "skipped"} {
		if counts[what] > 0 {
			fmt.Fprintf(sh.out, ", %d %s", counts[what], what)
		}
	}
	fmt.Fprintf(sh.out, ", %d embedded\n", changes.Embedded)
	return nil
}
