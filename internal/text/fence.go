package text

import (
	"regexp"
	"slices"
	"strings"
)

var wrapping = regexp.MustCompile("^(`{3,}|~{3,})[ \t]*(?i:markdown|md)?[ \t]*$")

// Unfenced returns a text that is nothing but one code block, of Markdown or of
// no language, without its fences. Any other text is returned unchanged, also
// one that only contains a code block, or begins with one and ends with another.
func Unfenced(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	open := wrapping.FindStringSubmatch(strings.TrimRight(lines[0], "\r"))
	if open == nil {
		return s
	}
	closed := slices.IndexFunc(lines[1:], func(line string) bool {
		fence := strings.TrimRight(line, " \t\r")
		indent := len(fence) - len(strings.TrimLeft(fence, " "))
		return indent < 4 && len(fence)-indent >= len(open[1]) && strings.Trim(fence[indent:], open[1][:1]) == ""
	})
	if last := len(lines) - 2; closed < 0 || closed != last {
		return s
	}
	return strings.Join(lines[1:len(lines)-1], "\n")
}
