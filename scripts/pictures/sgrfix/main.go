// Sgrfix makes every line of `tmux capture-pane -e -p` complete in itself: tmux
// carries colours over line ends, and freeze, which makes the picture, begins
// each line without any and does not know "default colour" (SGR 39 and 49).
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/cellbuf"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "sgrfix:", err)
		os.Exit(1)
	}
}

func run() error {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	parser := ansi.NewParser()
	var style cellbuf.Style // in force
	for in.Scan() {
		out.WriteString(sequence(style))
		for line := in.Text(); line != ""; {
			text, width, n, _ := ansi.DecodeSequence(line, ansi.NormalState, parser)
			line = line[n:]
			switch {
			case width > 0:
				out.WriteString(text)
			case parser.Command() == 'm' && ansi.HasCsiPrefix(text):
				cellbuf.ReadStyle(parser.Params(), &style)
				out.WriteString("\x1b[0m" + sequence(style))
			} // else a hyperlink, which freeze would print
		}
		fmt.Fprintln(out, "\x1b[0m")
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	return out.Flush()
}

// sequence turns a style on; the plain one is.
func sequence(style cellbuf.Style) string {
	if style.Empty() {
		return ""
	}
	return style.Sequence()
}
