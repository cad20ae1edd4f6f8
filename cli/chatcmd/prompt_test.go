package chatcmd

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lifehub/cli/app"
)

func TestQuestionOnTheCommandLine(t *testing.T) {
	for line, want := range map[string]struct{ prompt, wrong string }{
		"":                   {},
		"what is due?":       {prompt: "what is due?"},
		"serach for the key": {prompt: "serach for the key"},
		"boiler":             {prompt: "boiler"},
		"serach":             {wrong: `did you mean "search"?`},
		"sear":               {wrong: `did you mean "search"?`},
		"serach|boiler":      {wrong: `did you mean "search"?`},
		"boiler|pressure":    {wrong: "in quotes"},
	} {
		root := &cobra.Command{Use: "lifehub"}
		root.AddCommand(&cobra.Command{Use: "search", Run: func(*cobra.Command, []string) {}},
			&cobra.Command{Use: "index", Run: func(*cobra.Command, []string) {}})
		var given []string
		if line != "" {
			given = strings.Split(line, "|")
		}
		prompt, err := NewFlags(&app.Process{}).Prompt(root, given)
		if prompt != want.prompt || (err != nil) != (want.wrong != "") ||
			err != nil && !strings.Contains(err.Error(), want.wrong) {
			t.Errorf("%q: prompt %q, error %v; want %+v", line, prompt, err, want)
		}
	}
}

func TestMisspeltFlagNamesTheNearest(t *testing.T) {
	cmd := &cobra.Command{Use: "ask"}
	cmd.Flags().String("model", "", "")
	for flag, want := range map[string]string{"--modle": "--model?", "--nothing-like-it": "", "-z": ""} {
		err := app.FlagError(cmd, cmd.ParseFlags([]string{flag}))
		if got := strings.Contains(err.Error(), "did you mean"); got != (want != "") ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
