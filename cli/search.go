package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/gate"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/notes"
	"lifehub/rag"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

func newSearch(sh *app.Process) *cobra.Command {
	var flags app.RunFlags
	var limit int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "search QUERY…",
		Short: "Find passages in your notes, without a model",
		Long: "Find passages in your notes, without a model. The query may contain filters: path:FOLDER, tag:NAME,\n" +
			"after:DATE and before:DATE. Quoted words match exactly.\n" +
			"Dates may be in words, such as last week, in October or before Christmas.",
		Example: "  lifehub search \"undo the last commit\"\n  lifehub search boiler tag:home after:2026-01-01 -n 3",
		RunE: func(cmd *cobra.Command, given []string) error {
			return searchNotes(cmd.Context(), sh, flags, strings.Join(given, " "), limit, asJSON)
		},
	}
	app.RegisterNotes(&flags, cmd)
	app.AddNumber(cmd, &limit, 5, 1, "passages", "how many passages")
	app.AddJSON(cmd, &asJSON, "print one JSON object")
	return cmd
}

func searchNotes(ctx context.Context, sh *app.Process, flags app.RunFlags, text string, limit int, asJSON bool) error {
	if strings.TrimSpace(text) == "" {
		return settings.UsageError{Err: errors.New("nothing to search for: give words or a filter")}
	}
	query, err := rag.ParseQuery(text)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	query.Limit = limit
	a, err := openIndexed(ctx, sh, flags, text)
	if err != nil {
		return err
	}
	defer a.Close()
	found, err := tools.SearchShown(gate.Hiding(ctx, a.Rules.List(), nil), a, a.Folders, query)
	if err != nil {
		return err
	}
	for i, p := range found.Passages {
		found.Passages[i] = p.Best()
	}
	if asJSON {
		err = app.PrintJSON(sh, "passages", searched{found, found.Declined()})
	} else {
		err = printFound(sh, found, !query.After.IsZero() || !query.Before.IsZero())
	}
	nothing := len(found.Passages) == 0 && (found.Time == nil || len(found.Time.List) == 0)
	return cmp.Or(err, app.NothingFound(nothing))
}

// openIndexed opens the notes and syncs their indexes, as far as a question needs them, or whole if it is "".
func openIndexed(ctx context.Context, sh *app.Process, flags app.RunFlags, question string) (_ *app.App, err error) {
	a, err := app.OpenNotes(sh, flags)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	if err := a.Begin(sh, "searching"); err != nil {
		return nil, err
	}
	if err := a.Ready(ctx, question, app.NewBar(sh)); err != nil {
		return nil, err
	}
	sh.Notice(a.Outdated, a.FoundServer(ctx))
	return a, nil
}

// searched is the object that --json prints; the keys passages and coverage are stable.
type searched struct {
	rag.Found
	Unanswered bool `json:"unanswered,omitempty"` // the notes don't answer the query; the passages are only the nearest
}

// printFound prints passages. With a date filter, passages without a date are marked.
func printFound(sh *app.Process, found rag.Found, filtered bool) error {
	var out strings.Builder
	if t := found.Time; t != nil {
		fmt.Fprintf(&out, "%s\n\n", safetext.Text(t.Summary()))
	}
	for _, p := range found.Passages {
		fmt.Fprintf(&out, "%s  %s", shownScore(p.Score), safetext.Line(agent.PlaceName(p.Path, p.Line)))
		if filtered && p.Date == "" {
			out.WriteString("  (no date)")
		}
		if p.Heading != "" {
			fmt.Fprintf(&out, "  %s", safetext.Line(p.Heading))
		}
		fmt.Fprintf(&out, "\n%s\n\n", indent(safetext.Text(app.Excerpt(cmp.Or(p.Excerpt, p.Text))), "      "))
	}
	if err := app.PrintText(sh, "passages", out.String()); err != nil {
		return err
	}
	if lacking := found.Lacking(); lacking != "" {
		fmt.Fprintln(sh.Err, safetext.Line(lacking))
	}
	if notice := found.Notice(); notice != "" {
		fmt.Fprintln(sh.Err, notice)
	}
	c, lacking := found.Coverage, found.Declined() || found.SemanticOnly
	if unread := c.LeftOut.Unread().String(); unread != "" && lacking {
		fmt.Fprintln(sh.Err, unread+"; `lifehub index --status` says which and why")
	}
	if waiting := c.LeftOut[notes.UnreadImage]; waiting > 0 && lacking {
		fmt.Fprintf(sh.Err, "%s not read yet: run `lifehub index`\n", draw.Count(waiting, "image"))
	}
	if cloud := c.LeftOut.InCloud(); cloud != "" {
		fmt.Fprintln(sh.Err, cloud)
	}
	unreadable := ""
	if c.Unreadable > 0 {
		unreadable = fmt.Sprintf(", %s not readable now", draw.Thousands(c.Unreadable))
	}
	if c.Unread > 0 {
		fmt.Fprintln(sh.Err, "the notes with your words were read first; `lifehub index` reads the rest")
	}
	fmt.Fprintf(sh.Err, "searched %d of %s%s, indexed %s ago, %s\n",
		c.Indexed, draw.Count(c.Total, "note"), unreadable, draw.Ago(c.Age), safetext.Line(c.Method()))
	return nil
}

// shownScore formats a score in four characters. A tiny score is not shown as zero.
func shownScore(score float64) string {
	if score < 0.005 {
		return "<.01"
	}
	return fmt.Sprintf("%.2f", score)
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(text, "\n", "\n"+by)
}
