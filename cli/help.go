package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lifehub/tui/draw"
)

// helpMargin is what the help leaves at the left of its columns, and between them.
const helpMargin = 6

// wrapHelp breaks the help of a command and of those below it at words, for a
// terminal of a width: fang prints each description on one line.
func wrapHelp(cmd *cobra.Command, width int) {
	names := helpMargin
	flags := []*pflag.Flag{}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		flags = append(flags, f)
		names = max(names, len("-x --")+len(f.Name))
	})
	for _, below := range cmd.Commands() {
		names = max(names, usageWidth(below))
	}
	room := max(20, width-names-helpMargin)
	for _, f := range flags {
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" { // it follows in brackets
			f.Usage = wrapped(f.Usage, room-len(f.DefValue)-3)
			continue
		}
		f.Usage = wrapped(f.Usage, room)
	}
	cmd.Long = unwrapped(cmd.Long)
	for _, below := range cmd.Commands() {
		if below.Long == "" {
			below.Long = below.Short
		}
		below.Short = wrapped(below.Short, room)
		wrapHelp(below, width)
	}
}

// usageWidth is how wide a command is in the list of those of its parent.
func usageWidth(cmd *cobra.Command) int {
	width := draw.Width(cmd.Use)
	if cmd.HasAvailableSubCommands() {
		width += len(" [command]")
	}
	if cmd.HasAvailableFlags() {
		width += len(" [--flags]")
	}
	return width
}

func wrapped(text string, width int) string { return strings.Join(draw.Wrap(text, width), "\n") }

// unwrapped leaves it to the width of the terminal where the lines of a paragraph
// end.
func unwrapped(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
