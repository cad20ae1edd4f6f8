package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/command"
	"lifehub/cli/settings"
	"lifehub/internal/atomicfile"
	"lifehub/internal/userfile"
	"lifehub/tui/safetext"
)

func newConfig(sh *app.Process) *cobra.Command {
	var asJSON bool
	show := &cobra.Command{
		Use: "show", Short: "Show the value of each setting and which layer set it",
		RunE: func(*cobra.Command, []string) error { return showConfig(sh, asJSON) },
	}
	command.AddJSON(show, &asJSON, "print one JSON object")
	return app.Group("config", "Show and edit settings",
		&cobra.Command{Use: "path", Short: "Show where settings, data and logs are", RunE: func(*cobra.Command, []string) error { return showPaths(sh) }},
		show,
		&cobra.Command{Use: "init", Short: "Write a settings file that explains every key", RunE: func(*cobra.Command, []string) error { return initConfig(sh) }},
		newConfigTrust(sh),
	)
}

func showPaths(sh *app.Process) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	for _, line := range [][2]string{
		{"settings", p.ConfigFile()},
		{"permissions", p.PermissionsFile()},
		{"mcp servers", p.ServersFile()},
		{"instructions", p.InstructionsFile()},
		{"conversations", p.Database()},
		{"index", p.Data + "/index"},
		{"log", p.LogFile()},
	} {
		fmt.Fprintf(sh.Out, "%-14s %s\n", line[0], line[1])
	}
	return nil
}

func showConfig(sh *app.Process, asJSON bool) error {
	p, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	if _, err := p.VaultPolicy(c, c.Notes); err != nil {
		return err
	}
	type row struct {
		Name  string `json:"name"`
		Value string `json:"value"`
		From  string `json:"from"`
		Doc   string `json:"meaning"`
	}
	var rows []row
	for _, s := range append(settings.All(c), c.ServerRows()...) {
		rows = append(rows, row{s.Name, s.Text(), cmp.Or(c.Origin[s.Name], "default"), s.Doc})
	}
	if asJSON {
		out := json.NewEncoder(safetext.JSONWriter{To: sh.Out})
		out.SetIndent("", "  ")
		return out.Encode(rows)
	}
	for _, r := range rows {
		fmt.Fprintf(sh.Out, "%-20s %-28s # %s\n", r.Name, safetext.Reveal(r.Value), safetext.Line(r.From))
	}
	return nil
}

// initConfig explains every key in the settings file. What is set there, by
// the user or because a folder of notes was made known, stays as it is.
func initConfig(sh *app.Process) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	explained := settings.ConfigTemplate()
	heading, _, _ := strings.Cut(explained, "\n")
	set, err := userfile.Read(p.ConfigFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read the settings file: %w", err)
	case strings.Contains(string(set), heading):
		return settings.UsageError{Err: fmt.Errorf("%s already explains every key; nothing was changed", p.ConfigFile())}
	default:
		explained = strings.TrimRight(string(set), "\n") + "\n\n" + explained
	}
	if err := atomicfile.Write(p.ConfigFile(), []byte(explained)); err != nil {
		return err
	}
	fmt.Fprintln(sh.Out, "wrote", p.ConfigFile())
	return nil
}
