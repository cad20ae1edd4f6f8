package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

func newConfigTrust(sh *shell) *cobra.Command {
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
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, given []string) error {
			switch {
			case len(given) == 0 && revoke:
				return usageError{Err: fmt.Errorf("which folder? lifehub config trust --revoke DIR")}
			case len(given) == 0:
				return sh.listTrusted()
			case revoke:
				return sh.revokeFolder(given[0])
			}
			return sh.trustFolder(given[0], yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "trust it without asking")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "obey the folder no more")
	return cmd
}

func (sh *shell) listTrusted() error {
	p, err := findPaths(sh.getenv)
	if err != nil {
		return err
	}
	known, err := p.readTrusted()
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(sh.out, "%s: %s\n", safetext.Line(dir), strings.Join(slices.Sorted(maps.Keys(known[dir])), ", "))
	}
	if len(known) == 0 {
		fmt.Fprintln(sh.err, "no folder is trusted: settings found among notes are not obeyed")
	}
	return nil
}

func (sh *shell) trustFolder(name string, yes bool) error {
	p, err := findPaths(sh.getenv)
	if err != nil {
		return err
	}
	dir, err := vaultDir(name)
	if err != nil {
		return usageError{Err: err}
	}
	files, err := readFolderFiles(dir)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usageError{Err: fmt.Errorf("%s holds no settings for LifeHub: there is no %s", dir, strings.Join(folderFiles, ", no "))}
	}
	for _, name := range folderFiles {
		if text, ok := files[name]; ok {
			fmt.Fprintf(sh.out, "%s:\n%s\n\n", safetext.Line(filepath.Join(dir, folderSettings, name)), safetext.Reveal(strings.TrimRight(text, "\n")))
		}
	}
	without, err := withoutEffect(dir, files)
	if err != nil {
		return usageError{Err: err}
	}
	for _, line := range without {
		fmt.Fprintf(sh.err, "! %s\n", safetext.Line(line))
	}
	if err := sh.agree("Obey this?", yes); err != nil {
		return err
	}
	known, err := p.readTrusted()
	if err != nil {
		return err
	}
	known[dir] = files
	if err := p.writeTrusted(known); err != nil {
		return err
	}
	fmt.Fprintf(sh.out, "trusted %s\n", safetext.Line(dir))
	return nil
}

// withoutEffect lists what the files of a folder ask for and do not get,
// because it would loosen something.
func withoutEffect(dir string, files seen) (lines []string, err error) {
	if err := new(narrowing).take(defaults(), dir, files); err != nil {
		return nil, err
	}
	rules, err := agent.ParseRules(filepath.Join(dir, folderSettings, "permissions.yaml"), []byte(files["permissions.yaml"]))
	if err != nil {
		return nil, err
	}
	for _, rule := range rules.List() {
		if rule.Level == agent.Auto {
			lines = append(lines, "without effect, since it loosens: "+rule.String())
		}
	}
	asked := defaults()
	if err := asked.readFile(filepath.Join(dir, folderSettings, "config.yaml"), []byte(files["config.yaml"])); err != nil {
		return nil, err
	}
	widest := defaults()
	widest.Memory.Scope = "all"
	for _, name := range slices.Sorted(maps.Keys(asked.origin)) {
		if narrow := narrowings[name]; narrow == nil || !narrow(widest, asked) {
			lines = append(lines, fmt.Sprintf("without effect: %s (%s)", name, asked.origin[name]))
		}
	}
	return lines, nil
}

func (sh *shell) revokeFolder(name string) error {
	p, err := findPaths(sh.getenv)
	if err != nil {
		return err
	}
	known, err := p.readTrusted()
	if err != nil {
		return err
	}
	dir, err := vaultDir(name)
	if err != nil { // it may be gone, and its name is enough
		if dir, err = filepath.Abs(name); err != nil {
			return usageError{Err: err}
		}
	}
	if _, ok := known[dir]; !ok {
		return usageError{Err: fmt.Errorf("%s is not trusted", dir)}
	}
	delete(known, dir)
	if err := p.writeTrusted(known); err != nil {
		return err
	}
	fmt.Fprintf(sh.out, "%s is not obeyed any more\n", safetext.Line(dir))
	return nil
}
