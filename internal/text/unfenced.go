package text

import "strings"

// Unfenced returns the inside of a text that is wrapped whole in a code fence of Markdown or of no
// language, as models wrap what they write; any other text is returned unchanged.
func Unfenced(s string) string {
	inside, ok := strings.CutPrefix(s, "```")
	info, inside, more := strings.Cut(inside, "\n")
	body, closed := strings.CutSuffix(strings.TrimRight(inside, " \t\r\n"), "\n```")
	info = strings.ToLower(strings.TrimSpace(info))
	if !ok || !more || !closed || info != "" && info != "markdown" && info != "md" || strings.Contains("\n"+body, "\n```\n") {
		return s
	}
	return body
}
