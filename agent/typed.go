package agent

import (
	"strings"

	"lifehub/pattern"
)

// fenceMark begins or ends text in a message that was pasted or piped.
var fenceMark = pattern.Lazy("^(`{3,}|~{3,})")

// Typed is what of a message its writer wrote: all but what stands in fences,
// which was pasted, piped or read from a file.
func Typed(message string) string {
	typed, _ := splitFences(message)
	return typed
}

// Fenced puts a text into a fence that none of its lines ends.
func Fenced(text string) string {
	mark := "```"
	for strings.Contains(text, mark) {
		mark += "`"
	}
	return mark + "\n" + strings.TrimRight(text, "\n") + "\n" + mark
}

// splitFences parts a message into what stands outside fences and inside.
func splitFences(message string) (outside, inside string) {
	var kept, fenced strings.Builder
	open := ""
	for line := range strings.Lines(message) {
		mark := fenceMark.FindString(line)
		switch {
		case open == "" && mark != "":
			open = mark
		case open == "":
			kept.WriteString(line)
		case strings.HasPrefix(mark, open) && strings.TrimSpace(line) == mark:
			open = ""
		default:
			fenced.WriteString(line)
		}
	}
	return kept.String(), fenced.String()
}

// split parts a message of the user's into what was typed and what was not.
// Where words of others stand in it (see Options.Quoted) nothing is certain to
// have been typed.
func (t *turn) split(message string) (typed, brought string) {
	if len(t.Quoted(message)) > 0 {
		return "", message
	}
	return splitFences(message)
}

// typed is what of a message of the user's was typed.
func (t *turn) typed(message string) string {
	typed, _ := t.split(message)
	return typed
}
