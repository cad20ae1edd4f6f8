package app

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

// CitationLine formats a citation and its verdict in one line. A problem is followed by the
// sentence of the answer.
func CitationLine(c agent.Citation) string {
	line := c.Place()
	if c.Mark() != "[?]" {
		line = strings.TrimSpace(c.Mark() + " " + line)
	}
	line = strings.TrimSpace(line + " " + c.Label())
	if c.Sentence != "" && c.Verdict != agent.Verified && c.Label() != "" {
		line += " — “" + text.Clip(strings.Trim(text.OneLine(c.Sentence), "“”\""), 80) + "”"
	}
	return safetext.Line(line)
}

// CitationLines returns the lines of citations, without duplicates.
func CitationLines(citations []agent.Citation) (lines []string) {
	for _, c := range citations {
		if line := CitationLine(c); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// answerOf returns the text of an answer, with a remark if it is incomplete.
func answerOf(e agent.Exchange) string {
	var b strings.Builder
	for _, part := range e.Answer.Parts() {
		b.WriteString(strings.TrimRight(part.Text, "\n"))
		if part.Done != nil { // fenced, because results of calls are not part of the conversation's Markdown
			b.WriteString("\n\n" + text.Fenced("", strings.Join(doneLines(part.Done), "\n")) + "\n\n")
		}
	}
	text := strings.TrimRight(b.String(), "\n")
	if ending := chat.Ending(e); ending != "" {
		text += "\n\n(" + ending + ")"
	}
	return strings.TrimSpace(text)
}

// doneLines returns one line for each action or thought.
func doneLines(log []agent.Logged) (lines []string) {
	for _, l := range log {
		lines = append(lines, safetext.Line(l.String()))
	}
	return lines
}
