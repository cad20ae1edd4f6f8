// Sgrfix makes every line of `tmux capture-pane -e -p` complete in itself: tmux
// carries colours over line ends, and freeze, which makes the picture, begins
// each line without any and does not know "default colour" (SGR 39 and 49).
package main

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

var sgr = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// link is a hyperlink's beginning or end: freeze would print it.
var link = regexp.MustCompile(`\x1b\]8;[^\x1b\x07]*(\x1b\\|\x07)`)

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
	var on []string // the attributes in force, as parameters
	for in.Scan() {
		line := link.ReplaceAllString(in.Text(), "")
		var b strings.Builder
		b.WriteString(sequence(on))
		last := 0
		for _, at := range sgr.FindAllStringIndex(line, -1) {
			b.WriteString(line[last:at[0]])
			on = apply(on, line[at[0]+2:at[1]-1])
			b.WriteString("\x1b[0m" + sequence(on))
			last = at[1]
		}
		b.WriteString(line[last:])
		fmt.Fprintln(out, b.String()+"\x1b[0m")
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("read the screen: %w", err)
	}
	return out.Flush()
}

func sequence(on []string) string {
	if len(on) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(on, ";") + "m"
}

// apply returns the attributes in force after the parameters of one sequence.
func apply(on []string, params string) []string {
	p := strings.Split(strings.ReplaceAll(params, ":", ";"), ";")
	for i := 0; i < len(p); i++ {
		switch one := p[i]; one {
		case "", "0":
			on = nil
		case "39", "49":
			on = drop(on, one[:1])
		case "22":
			on = slices.DeleteFunc(on, func(s string) bool { return s == "1" || s == "2" })
		case "23", "24", "27", "29":
			on = slices.DeleteFunc(on, func(s string) bool { return s == one[1:] })
		case "38", "48":
			n := 3
			if i+1 < len(p) && p[i+1] == "2" {
				n = 5
			}
			end := min(i+n, len(p))
			on = append(drop(on, one[:1]), strings.Join(p[i:end], ";"))
			i = end - 1
		default:
			if len(one) == 2 && (one[0] == '3' || one[0] == '4') {
				on = drop(on, one[:1])
			}
			on = append(on, one)
		}
	}
	return on
}

// drop returns on without the colour of the text ("3") or of the ground ("4").
func drop(on []string, which string) []string {
	return slices.DeleteFunc(slices.Clone(on), func(s string) bool {
		if which == "3" && strings.HasPrefix(s, "9") && len(s) == 2 || which == "4" && strings.HasPrefix(s, "10") {
			return true
		}
		return len(s) >= 2 && strings.HasPrefix(s, which)
	})
}
