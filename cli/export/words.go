package export

import (
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/tui/safetext"
)

// CitationLine writes a citation and the verdict on it in one line. What is wrong
// is told with the sentence of the answer that it is on.
func CitationLine(c agent.Citation) string {
	line := c.Place()
	if c.Mark() != "[?]" {
		line = strings.TrimSpace(c.Mark() + " " + line)
	}
	line = strings.TrimSpace(line + " " + c.Told())
	if c.Sentence != "" && c.Verdict != agent.Verified && c.Told() != "" {
		line += " — “" + text.Clip(strings.Trim(text.OneLine(c.Sentence), "“”\""), 80) + "”"
	}
	return safetext.Line(line)
}

// CitationLines are the lines of citations, equal ones once.
func CitationLines(citations []agent.Citation) (lines []string) {
	for _, c := range citations {
		if line := CitationLine(c); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// answerOf is the answer's text, with a mark where it is not whole.
func answerOf(e agent.Exchange) string {
	var b strings.Builder
	for _, part := range e.Answer.Parts() {
		b.WriteString(strings.TrimRight(part.Text, "\n"))
		if part.Done != nil { // in a fence: what a call brought is no markdown of the conversation's
			b.WriteString("\n\n```\n" + strings.Join(doneLines(part.Done), "\n") + "\n```\n\n")
		}
	}
	text := strings.TrimRight(b.String(), "\n")
	if ending := endingOf(e); ending != "" {
		text += "\n\n(" + ending + ")"
	}
	return strings.TrimSpace(text)
}

// doneLines are what was done, or thought, a line each.
func doneLines(log []agent.Logged) (lines []string) {
	for _, l := range log {
		lines = append(lines, safetext.Line(l.String()))
	}
	return lines
}

// endingOf says why an answer is not whole; "": it is.
func endingOf(e agent.Exchange) string {
	switch {
	case e.Answer.Error != "":
		return "failed: " + e.Answer.Error
	case e.Open || e.Answer.Cut:
		return "cut off"
	}
	return ""
}
