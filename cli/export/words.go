package export

import (
	"fmt"
	"strings"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

// CitationLine tells a citation and the verdict on it in one line.
func CitationLine(c agent.Citation) string {
	switch {
	case c.Words != "" && c.Path == "":
		return safetext.Line(c.Mark()) + " ✗ not found in what was searched"
	case c.Detail != "":
		return safetext.Line(c.Place() + " ✗ " + c.Detail)
	case c.Path == "":
		return c.Mark() + " no such source"
	}
	return fmt.Sprintf("%s %s %s", safetext.Line(c.Mark()), safetext.Line(c.Place()), verdictWords[c.Verdict])
}

var verdictWords = map[agent.Verdict]string{
	agent.Verified:   "✓ verified",
	agent.Paraphrase: "≈ in other words",
	agent.NotFound:   "✗ not found there",
	agent.Stale:      "! the note changed since",
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
