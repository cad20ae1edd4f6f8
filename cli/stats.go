package cli

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/when"
	"lifehub/store"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// statsCommand is one run of `lifehub stats`.
type statsCommand struct {
	Process *app.Process
	by      string
	since   string
	limit   int
	asJSON  bool
}

func newStats(sh *app.Process) *cobra.Command {
	s := &statsCommand{Process: sh}
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show times, tokens, searches and tool calls",
		Long: "Summarise the saved turns by day, model or turn. Times are the median (p50)\n" +
			"and the 95th percentile (p95). --json has more figures.",
		Example: "  lifehub stats                        # by day\n  lifehub stats --by model --since 7d\n" +
			"  lifehub stats --by turn --since 2026-03-01 --json",
		RunE: app.ReadingStore(sh, s.run),
	}
	cmd.Flags().StringVar(&s.by, "by", "day", "group by day, model or turn")
	cmd.Flags().StringVar(&s.since, "since", "", "only turns since a date (2026-03-01), or of the last days or hours "+
		"(7d, 12h)")
	app.AddNumber(cmd, &s.limit, 30, 0, "rows", "how many rows; 0: all")
	app.AddJSON(cmd, &s.asJSON, "print a JSON array")
	return cmd
}

func (s *statsCommand) run(ctx context.Context, conversations *store.Store, _ []string) error {
	since, err := parseSince(s.since, time.Now())
	if err != nil {
		return settings.UsageError{Err: err}
	}
	if s.by != "day" && s.by != "model" && s.by != "turn" {
		return settings.UsageError{Err: fmt.Errorf("--by: %q is not day, model or turn", s.by)}
	}
	list, err := conversations.Figures(ctx, s.by, since, s.limit)
	if err != nil {
		return err
	}
	if s.asJSON || len(list) == 0 {
		return app.PrintList(s.Process, s.asJSON, "figures", "no turns yet; `lifehub` starts one", list, nil)
	}
	rows := [][]string{{
		s.by, "turns", "cut", "p50 s", "p95 s", "first s", "prompt", "answer", "tok/s",
		"searches", "tools", "failed", "",
	}}
	for _, f := range list {
		rows = append(rows, []string{
			cmp.Or(safetext.Line(f.Of), "unknown"), strconv.Itoa(f.Turns), strconv.Itoa(f.Cut),
			seconds(f.Latency50), seconds(f.Latency95), seconds(f.FirstToken50),
			draw.Short(f.PromptTokens), draw.Short(f.AnswerTokens), strconv.FormatFloat(f.PerSecond, 'f', 1, 64),
			strconv.Itoa(f.Searches), strconv.Itoa(f.ToolsOK), strconv.Itoa(f.ToolsFailed), draw.Summary(f.Title, 16),
		})
	}
	return app.PrintText(s.Process, "figures", app.Table(rows, len(rows[0])-2))
}

// seconds formats milliseconds as seconds, or a dash for 0.
func seconds(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return strconv.FormatFloat(float64(ms)/1000, 'f', 2, 64)
}

// parseSince parses a date, or a period before now. "" is the zero time.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := when.ParseDay(text); err == nil {
		return day.Begins(), nil
	}
	if days, isDays := strings.CutSuffix(text, "d"); isDays {
		if n, err := strconv.Atoi(days); err == nil && n > 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if ago, err := time.ParseDuration(text); err == nil && ago > 0 {
		return now.Add(-ago), nil
	}
	return time.Time{}, fmt.Errorf("--since: %q is not a date such as 2026-03-01, nor a period such as 7d or 12h", text)
}
