package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/tui/safetext"
)

func newConfig(sh *app.Process) *cobra.Command {
	var asJSON bool
	show := &cobra.Command{
		Use: "show", Short: "Show the value of each setting and which layer set it",
		RunE: func(*cobra.Command, []string) error { return showConfig(sh, asJSON) },
	}
	app.AddJSON(show, &asJSON, "print one JSON object")
	return app.Group("config", "Show and edit settings",
		&cobra.Command{
			Use: "path", Short: "Show where settings, data and logs are",
			RunE: func(*cobra.Command, []string) error { return showPaths(sh) },
		},
		show,
		&cobra.Command{
			Use: "get NAME", Short: "Print the value of a setting", Example: "  lifehub config get theme",
			RunE: func(_ *cobra.Command, given []string) error { return getConfig(sh, given[0]) },
		},
		&cobra.Command{
			Use: "set NAME VALUE", Short: "Write a setting to the settings file",
			Example: "  lifehub config set theme nord",
			RunE:    func(_ *cobra.Command, given []string) error { return setConfig(sh, given[0], given[1]) },
		},
		&cobra.Command{
			Use: "edit", Short: "Open the settings file in your editor",
			RunE: func(*cobra.Command, []string) error { return editConfig(sh) },
		},
		&cobra.Command{
			Use: "init", Short: "Write a settings file that explains every key",
			RunE: func(*cobra.Command, []string) error { return initConfig(sh) },
		},
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
	_, c, err := app.LoadSettings(sh)
	if err != nil {
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

func getConfig(sh *app.Process, name string) error {
	_, c, err := app.LoadSettings(sh)
	if err != nil {
		return err
	}
	s, err := c.Setting(name)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	fmt.Fprintln(sh.Out, safetext.Reveal(strings.Trim(s.Text(), `"`)))
	return nil
}

func setConfig(sh *app.Process, name, value string) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	if err := p.Save(name, value); err != nil {
		return settings.UsageError{Err: fmt.Errorf("%w (`lifehub config edit` opens it)", err)}
	}
	fmt.Fprintf(sh.Out, "%s is now %s, in %s\n", name, safetext.Reveal(value), p.ConfigFile())
	return nil
}

// editConfig opens the settings file in an editor, creating it with all keys explained if
// necessary. It then returns any error in the edited file.
func editConfig(sh *app.Process) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	if _, err := os.Stat(p.ConfigFile()); errors.Is(err, fs.ErrNotExist) {
		if err := initConfig(sh); err != nil {
			return err
		}
	}
	_, c, err := app.LoadSettings(sh)
	if err != nil { // a file with a mistake is edited too, as the environment alone says
		if c, err = settings.Load("", sh.Getenv); err != nil {
			return err
		}
	}
	if err := runEditor(sh, c.Editor, p.ConfigFile()); err != nil {
		return fmt.Errorf("edit the settings: %w", err)
	}
	_, _, err = app.LoadSettings(sh)
	return err
}

// initConfig writes an explanation of every key to the settings file. Existing settings stay as
// they are.
func initConfig(sh *app.Process) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	explained := settings.ConfigTemplate()
	heading, _, _ := strings.Cut(explained, "\n")
	set, err := files.Read(p.ConfigFile())
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read the settings file: %w", err)
	case strings.Contains(string(set), heading):
		return settings.UsageError{Err: fmt.Errorf("%s already explains every key; nothing was changed",
			p.ConfigFile())}
	default:
		explained = strings.TrimRight(string(set), "\n") + "\n\n" + explained
	}
	if err := files.Write(p.ConfigFile(), []byte(explained)); err != nil {
		return err
	}
	fmt.Fprintln(sh.Out, "wrote", p.ConfigFile())
	return nil
}
