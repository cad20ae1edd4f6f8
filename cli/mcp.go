package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/mcpserve"
	"lifehub/cli/settings"
	"lifehub/mcpclient"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

func newMCP(sh *app.Process) *cobra.Command {
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List MCP servers and their status",
		RunE: withApp(sh, app.RunFlags{NoSave: true}, func(ctx context.Context, a *app.App, _ []string) error {
			a.WaitForServers(ctx)
			none := fmt.Sprintf("no servers; `lifehub mcp add NAME -- COMMAND` adds one to %s", a.Paths.ServersFile())
			return app.PrintList(sh, asJSON, "servers", none, a.Servers.State(), serverLines)
		}),
	}
	app.AddJSON(list, &asJSON, "print a JSON array")
	lines := 0
	logs := &cobra.Command{
		Use: "logs NAME", Short: "Print a server's log and what it wrote to stderr",
		RunE: func(_ *cobra.Command, given []string) error { return showServerLog(sh, given[0], lines) },
	}
	app.AddNumber(logs, &lines, 0, 0, "lines", "only the last lines; 0: all")
	return app.Group("mcp", "Manage MCP servers",
		list, newMCPAdd(sh), newMCPImport(sh), newMCPRemove(sh), newMCPTest(sh), newMCPConsent(sh), newMCPTrust(sh),
		mcpserve.NewCommand(sh), logs)
}

// withServer opens an app that starts only the named server.
func withServer(sh *app.Process, do func(ctx context.Context, a *app.App,
	name string) error,
) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, given []string) error {
		return withApp(sh, app.RunFlags{NoSave: true, Server: given[0]},
			func(ctx context.Context, a *app.App, _ []string) error {
				return do(ctx, a, given[0])
			})(cmd, given)
	}
}

// serverLines formats a server's state, figures and last output on stderr.
func serverLines(s mcpclient.ServerState) string {
	text := fmt.Sprintf("%-16s %s", safetext.Line(s.Name), safetext.Line(s.Text()))
	detail := func(what, value string) {
		if value != "" {
			text += fmt.Sprintf("\n%-16s %-8s %s", "", what, safetext.Line(value))
		}
	}
	detail(string(s.Transport), s.Address)
	if s.Status == mcpclient.Running {
		detail("up", serverFigures(s))
	}
	detail("stderr", s.Stderr)
	return text
}

// serverFigures formats the figures of a running server in one line.
func serverFigures(s mcpclient.ServerState) string {
	parts := []string{
		draw.Ago(time.Since(s.Since).Seconds()), fmt.Sprintf("%d restarts", s.Restarts),
		fmt.Sprintf("its tools take about %d tokens of a prompt", s.Tokens),
	}
	if s.About != "" {
		parts = append([]string{s.About}, parts...)
	}
	return strings.Join(parts, " · ")
}

func showServerLog(sh *app.Process, name string, lines int) error {
	p, k, err := app.KnownServers(sh)
	if err != nil {
		return err
	}
	if _, err := k.Settings.Only(name); err != nil {
		return settings.UsageError{Err: err}
	}
	text, err := app.ServerLog(p.ServerLog(name), lines)
	if err != nil {
		return err
	}
	if text == "" {
		fmt.Fprintf(sh.Err, "%s has logged nothing yet\n", safetext.Line(name))
		return nil
	}
	return app.PrintText(sh, "log", safetext.Text(text)+"\n")
}
