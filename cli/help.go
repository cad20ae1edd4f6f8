package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"lifehub/tui/draw"
)

// helpMargin is the width of the margins to the left of and between the help columns.
const helpMargin = 6

// wrapHelp wraps the help of a command and its subcommands at a terminal width, because fang prints
// each description on one line.
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
		// fang appends the default in brackets
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
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

// usageWidth returns the width of a command in its parent's list of commands.
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

// unwrapped joins the lines of each paragraph, so that the terminal wraps them.
func unwrapped(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		paragraphs[i] = strings.ReplaceAll(p, "\n", " ")
	}
	return strings.Join(paragraphs, "\n\n")
}
