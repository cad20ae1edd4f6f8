package text

import (
	"regexp"
	"strings"
)

// flagSequence matches the flag of a subdivision, such as that of Scotland: a black flag and tags. Tags
// elsewhere hide text.
var flagSequence = regexp.MustCompile(`\x{1F3F4}[\x{E0030}-\x{E0039}\x{E0061}-\x{E007A}]{3,6}\x{E007F}`)

// isControl reports whether a character is not written to notes: a control character except tab and line
// end, one that changes the direction of the text around it, an invisible tag, or a separator that
// programs do not agree to be a line end.
func isControl(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n'
	case r >= 0x7f && r <= 0x9f, r >= 0x2028 && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe007f:
		return true
	}
	return false
}

// Controls returns the control characters of a text, in order, except those of line ends and of flags.
func Controls(s string) (found []rune) {
	for _, r := range flagSequence.ReplaceAllString(strings.ReplaceAll(s, "\r\n", "\n"), "") {
		if isControl(r) {
			found = append(found, r)
		}
	}
	return found
}

// WithoutControls returns a text without what [Controls] finds; a separator becomes a space.
func WithoutControls(s string) string {
	var out strings.Builder
	drop := func(r rune) rune {
		switch {
		case r == 0x85 || r == 0x2028 || r == 0x2029:
			return ' '
		case isControl(r):
			return -1
		}
		return r
	}
	from := 0
	for _, flag := range flagSequence.FindAllStringIndex(s, -1) {
		out.WriteString(strings.Map(drop, s[from:flag[0]]) + s[flag[0]:flag[1]])
		from = flag[1]
	}
	return out.String() + strings.Map(drop, s[from:])
}
