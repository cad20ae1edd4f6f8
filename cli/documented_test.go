package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
	"lifehub/cli/settings"
	"lifehub/internal/testenv"
)

// Commands appear at the beginning of an example's line or in backticks.
var (
	toldCommand = regexp.MustCompile("(?m)(?:^\\s*|`)lifehub((?: [^\n`#|\"%]*)?)")
	toldSetting = regexp.MustCompile("`([a-z_]+\\.[a-z_]+)(?::[^`]*)?`")
)

// tellings returns every text that documents how LifeHub is used.
func tellings(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{"testdata", "figures", ".git"}, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext == ".md" || ext == ".go" && !strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			if doc := string(text); ext == ".md" || strings.Contains(doc, "lifehub ") {
				texts[path] = doc
			}
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

func TestDocumentedCommandsExist(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	root := newRoot(&app.Process{})
	found := 0
	for path, text := range tellings(t) {
		for _, m := range toldCommand.FindAllStringSubmatch(text, -1) {
			found++
			if wrong := wrongCommand(root, strings.Fields(m[1])); wrong != "" {
				t.Errorf("%s tells of `lifehub%s`: %s", path, m[1], wrong)
			}
		}
	}
	if found < 50 {
		t.Errorf("only %d commands are told of", found)
	}
	for line, want := range map[string]string{
		"chat --nots x":  "no flag --nots",
		"chats remove 1": "chats has no command remove", "served": "lifehub has no command served",
		"ask -c x --json": "",
	} {
		if got := wrongCommand(root, strings.Fields(line)); got != want {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

// wrongCommand returns the unknown part of a command, or "".
func wrongCommand(root *cobra.Command, words []string) string {
	cmd := root
	for i, word := range words {
		if word == "--" {
			break // the rest is another program's command
		}
		if flag := strings.TrimLeft(word, "-"); flag != word {
			flag, _, _ = strings.Cut(flag, "=")
			known := cmd.Flags().Lookup(flag) != nil || len(flag) == 1 && cmd.Flags().ShorthandLookup(flag) != nil
			if !known && flag != "help" && flag != "version" {
				return "no flag " + word
			}
			continue
		}
		next := slices.IndexFunc(cmd.Commands(), func(c *cobra.Command) bool {
			return c.Name() == word ||
				c.HasAlias(word)
		})
		if next >= 0 {
			cmd = cmd.Commands()[next]
		} else if cmd.HasSubCommands() && (i == 0 || words[i-1] == cmd.Name()) {
			return cmd.Name() + " has no command " + word
		}
	}
	return ""
}

func TestDocumentedSettingsExist(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	names, sections := map[string]bool{}, map[string]bool{}
	for _, s := range settings.All(&settings.Config{}) {
		section, _, nested := strings.Cut(s.Name, ".")
		names[s.Name] = true
		sections[section] = sections[section] || nested
	}
	found := 0
	for path, text := range tellings(t) {
		for _, m := range toldSetting.FindAllStringSubmatch(text, -1) {
			section, key, _ := strings.Cut(m[1], ".")
			if !sections[section] || slices.Contains([]string{"md", "json", "go"}, key) {
				continue // a file, or a Go identifier
			}
			if found++; !names[m[1]] {
				t.Errorf("%s tells of the setting %s, which there is not", path, m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d settings are told of", found)
	}
}
