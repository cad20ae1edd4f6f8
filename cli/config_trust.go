package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/agent/rules"
	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/tui/safetext"
)

func newConfigTrust(sh *app.Process) *cobra.Command {
	var yes, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [DIR]",
		Short: "Show the settings that a folder of notes holds, and obey them from now on",
		Long: "A folder of notes may hold settings for LifeHub: .lifehub/permissions.yaml, .lifehub/config.yaml and\n" +
			".lifehub/instructions.md. Nothing of them is obeyed before you have seen and trusted them here, and then they\n" +
			"only make things stricter: rules that confirm or deny, tools.off, provider: offline, less memory. When they\n" +
			"change, what you trusted stays in force until you look again. No server, address or key is taken from a folder.\n\n" +
			"Without DIR, list the folders that you trust.",
		Example: "  lifehub config trust ~/notes\n  lifehub config trust --revoke ~/notes",
		RunE: func(_ *cobra.Command, given []string) error {
			switch {
			case len(given) == 0 && revoke:
				return settings.UsageError{Err: fmt.Errorf("which folder? lifehub config trust --revoke DIR")}
			case len(given) == 0:
				return listTrusted(sh)
			case revoke:
				return revokeFolder(sh, given[0])
			}
			return trustFolder(sh, given[0], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust it without asking")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "obey the folder no more")
	return cmd
}

func listTrusted(sh *app.Process) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	known, err := p.ReadTrusted()
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(sh.Out, "%s: %s\n", safetext.Line(dir), strings.Join(slices.Sorted(maps.Keys(known[dir])), ", "))
	}
	if len(known) == 0 {
		fmt.Fprintln(sh.Err, "no folder is trusted: settings found among notes are not obeyed")
	}
	return nil
}

func trustFolder(sh *app.Process, name string, yes bool) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	dir, err := settings.VaultDir(name)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	files, err := settings.ReadPolicy(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return settings.UsageError{Err: fmt.Errorf("%s holds no settings for LifeHub: there is no %s", dir, strings.Join(settings.PolicyNames, ", no "))}
	}
	for _, name := range settings.PolicyNames {
		if text, ok := files[name]; ok {
			fmt.Fprintf(sh.Out, "%s:\n%s\n\n", safetext.Line(filepath.Join(dir, settings.PolicyFolder, name)), safetext.Reveal(strings.TrimRight(text, "\n")))
		}
	}
	without, err := withoutEffect(dir, files)
	if err != nil {
		return settings.UsageError{Err: err}
	}
	for _, line := range without {
		fmt.Fprintf(sh.Err, "! %s\n", safetext.Line(line))
	}
	if err := agree(sh, "Obey this?", yes); err != nil {
		return err
	}
	known, err := p.ReadTrusted()
	if err != nil {
		return err
	}
	known[dir] = files
	if err := p.WriteTrusted(known); err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "trusted %s\n", safetext.Line(dir))
	return nil
}

// withoutEffect lists what the files of a folder ask for and do not get,
// because it would loosen something.
func withoutEffect(dir string, files settings.PolicyFiles) (lines []string, err error) {
	if err := new(settings.VaultPolicy).Add(settings.Defaults(), dir, files); err != nil {
		return nil, err
	}
	rules, err := rules.Parse(filepath.Join(dir, settings.PolicyFolder, "permissions.yaml"), []byte(files["permissions.yaml"]))
	if err != nil {
		return nil, err
	}
	for _, rule := range rules.List() {
		if rule.Level == agent.Auto {
			lines = append(lines, "without effect, since it loosens: "+rule.String())
		}
	}
	asked := settings.Defaults()
	if err := asked.ReadFile(filepath.Join(dir, settings.PolicyFolder, "config.yaml"), []byte(files["config.yaml"])); err != nil {
		return nil, err
	}
	widest := settings.Defaults()
	widest.Memory.Scope = "all"
	for _, name := range slices.Sorted(maps.Keys(asked.Origin)) {
		if narrow := settings.Stricter[name]; narrow == nil || !narrow(widest, asked) {
			lines = append(lines, fmt.Sprintf("without effect: %s (%s)", name, asked.Origin[name]))
		}
	}
	return lines, nil
}

func revokeFolder(sh *app.Process, name string) error {
	p, err := settings.FindPaths(sh.Getenv)
	if err != nil {
		return err
	}
	known, err := p.ReadTrusted()
	if err != nil {
		return err
	}
	dir, err := settings.VaultDir(name)
	if err != nil { // it may be gone, and its name is enough
		if dir, err = filepath.Abs(name); err != nil {
			return settings.UsageError{Err: err}
		}
	}
	if _, ok := known[dir]; !ok {
		return settings.UsageError{Err: fmt.Errorf("%s is not trusted", dir)}
	}
	delete(known, dir)
	if err := p.WriteTrusted(known); err != nil {
		return err
	}
	fmt.Fprintf(sh.Out, "%s is not obeyed any more\n", safetext.Line(dir))
	return nil
}
