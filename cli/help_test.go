package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lifehub/cli/app"
	"lifehub/tui/draw"
)

// No line of any help is wider than the terminal, although fang puts the name of a command or flag
// before the wrapped text.
func TestHelpWrapsAtWords(t *testing.T) {
	const width = 80
	root := newRoot(&app.Process{})
	wrapHelp(root, width)
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		names, texts := 0, map[string]string{}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			names, texts[f.Name] = max(names, len("-x --")+len(f.Name)), f.Usage
		})
		for _, below := range cmd.Commands() {
			names, texts[below.Name()] = max(names, usageWidth(below)), below.Short
			check(below)
		}
		for name, text := range texts {
			for line := range strings.SplitSeq(text, "\n") {
				if 4+names+2+draw.Width(line) > width {
					t.Errorf("%s, %s: %q is too long behind names of %d cells", cmd.CommandPath(), name, line, names)
				}
			}
		}
	}
	check(root)
}
