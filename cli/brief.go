package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/tools"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/text"
	"lifehub/internal/when"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// briefCommand is `lifehub brief` and its flags.
type briefCommand struct {
	capture   capture // for --to
	to        string
	untrusted bool
	daily     string // path of today's daily note
}

func newBrief(sh *app.Process) *cobra.Command {
	c := &briefCommand{capture: capture{process: sh}}
	cmd := &cobra.Command{
		Use:   "brief [today|week]",
		Short: "List what is due, what changed, and what was a year ago",
		Long: "List the tasks that are due today (or were before), the notes changed today, the notes of this day a " +
			"year ago,\n" +
			"and the conversations of the last seven days whose last answer was stopped or cut off. With week, tasks " +
			"due in\n" +
			"seven days and notes changed in seven days. No model is asked. With --to daily the list is added to " +
			"today's\n" +
			"daily note. " + capturePermission,
		Example: "  lifehub brief week\n" +
			"  lifehub brief --json | jq -r '.[] | select(.kind == \"due\") | \"\\(.day) \\(.text)\"'\n" +
			"  lifehub brief --to daily",
		RunE: func(cmd *cobra.Command, given []string) error {
			if c.to != "" && (c.to != "daily" || c.capture.asJSON) {
				return settings.UsageError{Err: errors.New("--to can only be daily, and goes without --json")}
			}
			days, err := app.BriefingDays(strings.Join(given, " "))
			if err != nil {
				return err
			}
			today := when.DayOf(time.Now())
			lines, err := c.lines(cmd.Context(), today, days)
			switch {
			case err != nil:
				return err
			case c.capture.asJSON:
				return app.PrintJSON(sh, "briefing", append([]tools.BriefLine{}, lines...))
			case c.to != "":
				return c.write(cmd.Context(), lines, today, days)
			}
			return app.PrintText(sh, "briefing", safetext.Text(plainBriefing(lines, today, days)))
		},
	}
	app.RegisterNotes(&c.capture.runFlags, cmd)
	f := cmd.Flags()
	f.StringVar(&c.to, "to", "", "daily: add the briefing to today's daily note")
	f.BoolVarP(&c.capture.yes, "yes", "y", false, "do not ask before that; deny rules still apply")
	f.BoolVar(&c.untrusted, "allow-untrusted", false, "like --yes, and add the lines that others wrote as well")
	app.AddJSON(cmd, &c.capture.asJSON, "print a JSON array")
	return cmd
}

// lines reads the briefing.
func (c *briefCommand) lines(ctx context.Context, today when.Day, days int) ([]tools.BriefLine, error) {
	sh, flags := c.capture.process, c.capture.runFlags
	flags.NoIndex = true
	a, err := app.OpenNotes(sh, flags)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	if err := a.NeedsNotes(); err != nil {
		return nil, err
	}
	s, err := store.OpenToRead(a.Paths.Database())
	if err != nil {
		return nil, err
	}
	defer s.Close()
	sh.Notice(append(a.Notices("listing"), s.Warning())...)
	if c.to != "" {
		set := tools.Daily{Folder: a.Settings.Daily.Folder, Pattern: a.Settings.Daily.Pattern}
		if c.daily, err = tools.DailyPath(ctx, a.Folders, set, today.Begins()); err != nil {
			return nil, err
		}
	}
	lines, unread, err := a.Briefing(ctx, s, today, days)
	if unread != "" {
		fmt.Fprintln(sh.Err, safetext.Line(unread))
	}
	return lines, err
}

// write adds the briefing to the daily note. Lines that others wrote are left out, and counted, unless they are
// allowed.
func (c *briefCommand) write(ctx context.Context, lines []tools.BriefLine, today when.Day, days int) error {
	w := writing{message: agent.Message{Text: "brief"}}
	var kept []tools.BriefLine
	for _, l := range lines {
		if l.Untrusted && c.untrusted {
			w.from = append(w.from, l.Path+l.Conversation)
		}
		if !l.Untrusted || c.untrusted {
			kept = append(kept, l)
		}
	}
	if left := len(lines) - len(kept); left > 0 {
		c.capture.process.Notice("left out " + text.Count(left, "line") + " that others wrote; " + app.UntrustedFlag +
			" adds them")
	}
	if len(kept) == 0 {
		return app.PrintText(c.capture.process, "briefing", plainBriefing(nil, today, days))
	}
	c.capture.yes = c.capture.yes || c.untrusted
	w.once(agent.AppendNote, map[string]string{
		"path":    c.daily,
		"content": app.Disarm(safetext.Text(plainBriefing(kept, today, days))),
	})
	w.allows[0].Where = ruleTo(c.daily, true).Where
	return c.capture.run(ctx, w)
}

// plainBriefing returns a briefing with its places as code: each line is a list item that is no task, whatever the
// name of its note is.
func plainBriefing(lines []tools.BriefLine, today when.Day, days int) string {
	code := func(place string) string { return "`" + strings.ReplaceAll(text.OneLine(place), "`", "'") + "`" }
	return app.BriefingText(lines, today, days, code, strings.TrimSpace)
}
