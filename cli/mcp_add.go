package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/mcpclient/config"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// mcpAddCommand is one run of `lifehub mcp add`.
type mcpAddCommand struct {
	Process   *app.Process
	server    config.Entry
	transport string
	env       []string
	headers   []string
	timeout   time.Duration
}

func newMCPAdd(sh *app.Process) *cobra.Command {
	a := &mcpAddCommand{Process: sh}
	cmd := &cobra.Command{
		Use: "add NAME [--url URL | -- COMMAND [ARG…]]", Short: "Add a server to mcp.json",
		Long: "Add a server to mcp.json. What you type here is trusted: the server is started from now on, and the " +
			"tools\n" +
			"it lists first are accepted. Later changes need your review (lifehub mcp trust). Each call asks.",
		Example: "  lifehub mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/Documents\n" +
			"  lifehub mcp add brave -e BRAVE_API_KEY -- npx -y @brave/brave-search-mcp-server\n" +
			"  lifehub mcp add work --url https://mcp.example.org/mcp -H 'Authorization: Bearer ${WORK_TOKEN}'",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, given []string) error { return a.run(given[0], given[1:]) },
	}
	f := cmd.Flags()
	f.StringVar(&a.server.URL, "url", "", "URL of a remote server")
	f.StringVarP(&a.transport, "type", "t", "", "stdio, http or sse (default: detected)")
	f.StringArrayVarP(&a.env, "env", "e", nil, "environment variable: NAME=VALUE, or NAME to pass on your own "+
		"(repeatable)")
	f.StringArrayVarP(&a.headers, "header", "H", nil, "HTTP header for a remote server: 'Name: value' (repeatable)")
	f.StringVar(&a.server.Cwd, "cwd", "", "working directory of the server")
	f.DurationVar(&a.timeout, "timeout", 0, "timeout of one call")
	return cmd
}

func (a *mcpAddCommand) run(name string, command []string) error {
	p, k, err := app.KnownServers(a.Process) // adopts the servers that are in the file already
	if err != nil {
		return err
	}
	s := a.server
	s.Name, s.Transport, s.Timeout = name, config.Transport(a.transport), a.timeout
	if len(command) > 0 {
		s.Command, s.Args = command[0], command[1:]
	}
	if s.Env, err = pairs(a.env, "="); err == nil {
		s.Headers, err = pairs(a.headers, ":")
	}
	if err != nil {
		return settings.UsageError{Err: err}
	}
	if err := config.Add(p.ServersFile(), s); err != nil {
		return settings.UsageError{Err: err}
	}
	if k.Settings, err = config.Read(p.ServersFile()); err != nil {
		return err
	}
	one, err := k.Settings.Only(name)
	if err != nil {
		return err
	}
	if err := k.Trust.Typed(one.Servers[0]); err != nil {
		return err
	}
	fmt.Fprintf(a.Process.Out, "added %s: %s\n", name, safetext.Reveal(one.Servers[0].Address()))
	for _, word := range append([]string{s.Command}, s.Args...) {
		if _, err := os.Stat(word); err == nil && s.Cwd == "" && !filepath.IsAbs(word) {
			a.Process.Notice(fmt.Sprintf("%s is a file of this folder, and the server runs in %s; "+
				"add it with its whole path, or with --cwd", safetext.Reveal(word), filepath.Dir(p.ServersFile())))
		}
	}
	if missing := one.Servers[0].Missing(); len(missing) > 0 {
		a.Process.Notice("it stays off until " + strings.Join(missing, ", ") + " is set")
	}
	fmt.Fprintf(a.Process.Err, "`lifehub mcp test %s` starts it and lists its tools\n", name)
	return nil
}

// pairs parses NAME=VALUE or 'Name: value'. A variable without a value is written as ${NAME}, so
// its value is read from the environment when the server starts and never saved.
func pairs(given []string, between string) (map[string]string, error) {
	values := map[string]string{}
	for _, text := range given {
		name, value, ok := strings.Cut(text, between)
		name = strings.TrimSpace(name)
		switch {
		case name == "" || !ok && between != "=":
			return nil, fmt.Errorf("%q is not of the form NAME%sVALUE", text, between)
		case !ok:
			value = "${" + name + "}"
		case between == ":":
			value = strings.TrimSpace(value)
		}
		values[name] = value
	}
	if len(values) == 0 {
		return nil, nil
	}
	return values, nil
}

func newMCPImport(sh *app.Process) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Import servers from another client's config",
		Long: "Import servers from the config of Claude Desktop, Claude Code or VS Code, after showing what each " +
			"would\nrun. " +
			"Permission to run without asking is not imported. Other clients' servers: `lifehub mcp add`.",
		Example: "  lifehub mcp import ~/.claude.json\n  lifehub mcp import ~/.config/Claude/claude_desktop_config.json",
		RunE: func(cmd *cobra.Command, given []string) error {
			return importServers(cmd.Context(), sh, given[0], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "add them without asking")
	return cmd
}

func importServers(ctx context.Context, sh *app.Process, from string, yes bool) error {
	p, k, err := app.KnownServers(sh)
	if err != nil {
		return err
	}
	found, err := config.ReadImport(p.ServersFile(), from)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	for _, s := range found.Servers {
		fmt.Fprintf(sh.Out, "+ %s: %s\n", safetext.Reveal(s.Name), safetext.Reveal(s.Address()))
		for what, values := range map[string]map[string]string{"variables": s.Env, "headers": s.Headers} {
			if len(values) > 0 {
				fmt.Fprintf(sh.Out, "    with %s %s\n", what,
					safetext.Reveal(strings.Join(slices.Sorted(maps.Keys(values)), ", ")))
			}
		}
		if s.Cwd != "" {
			fmt.Fprintf(sh.Out, "    in %s\n", safetext.Reveal(s.Cwd))
		}
	}
	for _, why := range found.Skipped {
		fmt.Fprintf(sh.Out, "- left out: %s\n", safetext.Line(why))
	}
	if len(found.Servers) == 0 {
		return nil
	}
	if err := agree(ctx, sh, fmt.Sprintf("Add %s to %s?", draw.Count(len(found.Servers), "server"), p.ServersFile()),
		yes); err != nil {
		return err
	}
	if err := found.AddTo(p.ServersFile()); err != nil {
		return err
	}
	if err := k.Trust.Shown(found.Servers...); err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "added %s; review their tools before they are used: lifehub mcp trust NAME\n",
		draw.Count(len(found.Servers), "server"))
	return nil
}

// agree asks for confirmation unless --yes was given.
func agree(ctx context.Context, sh *app.Process, question string, yes bool) error {
	if yes || app.Agrees(ctx, sh, question) {
		return nil
	}
	return app.ExitError{Err: errors.New("nothing was changed; confirm, or pass --yes"), Code: app.ExitRefused}
}

func newMCPRemove(sh *app.Process) *cobra.Command {
	return &cobra.Command{
		Use: "remove NAME", Short: "Remove a server, and what it was trusted with", Aliases: []string{"rm"},
		RunE: func(_ *cobra.Command, given []string) error { return removeServer(sh, given[0]) },
	}
}

func removeServer(sh *app.Process, name string) error {
	p, k, err := app.KnownServers(sh)
	if err != nil {
		return err
	}
	if err := config.Remove(p.ServersFile(), name); err != nil {
		return settings.UsageError{Err: err}
	}
	if err := k.Trust.Forget(name); err != nil {
		return err
	}
	for _, file := range []string{
		p.ServerLog(name), p.ServerLog(name) + ".old",
		filepath.Join(p.Credentials(), name+".json"),
	} {
		if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
			return fmt.Errorf("remove what was saved for %s: %w", name, err)
		}
	}
	fmt.Fprintf(sh.Out, "removed %s\n", name)
	return nil
}
