package notes

import (
	"fmt"
	"strings"

	"lifehub/internal/when"
)

// DateStyle is the syntax of dates in tasks.
type DateStyle int

// The styles. Emoji, the default, is that of the Obsidian Tasks plugin.
const (
	Emoji    DateStyle = iota // 📅 2026-01-01
	Dataview                  // [due:: 2026-01-01]
	Plain                     // due: 2026-01-01
	planned                   // DEADLINE: <2026-01-01 Thu>; has no syntax for the day of completion
)

var styles = []struct{ due, done string }{
	Emoji: {"📅 %s", "✅ %s"}, Dataview: {"[due:: %s]", "[completion:: %s]"}, Plain: {"due: %s", "done: %s"},
}

// Style returns the style of the task's dates; ok is false if it has none.
func (t Task) Style() (style DateStyle, ok bool) {
	fields, _ := fieldsIn(t.Raw, 0)
	for _, f := range fields {
		if f.dayAt > 0 && f.style != planned {
			return f.style, true
		}
	}
	return Emoji, false
}

// MostUsed returns the most frequent style of tasks that have a date.
func MostUsed(tasks []Task) (style DateStyle, ok bool) {
	used := map[DateStyle]int{}
	for _, t := range tasks {
		if s, dated := t.Style(); dated {
			if used[s]++; used[s] > used[style] {
				style = s
			}
			ok = true
		}
	}
	return style, ok
}

// Due formats a due date.
func (s DateStyle) Due(day when.Day) string { return fmt.Sprintf(styles[s].due, day) }

// Done formats the day of completion.
func (s DateStyle) Done(day when.Day) string { return fmt.Sprintf(styles[s].done, day) }

// Ticked returns the task's line marked as done on the given day.
func (t Task) Ticked(on when.Day) string {
	at := stateOf(t.Raw)
	if wordLine.MatchString(t.Raw) {
		return t.Raw[:at[4]] + "DONE" + t.Raw[at[5]:]
	}
	line := t.Raw[:at[4]] + "x" + t.Raw[at[5]:]
	if !t.DoneOn.IsZero() {
		return line
	}
	style, _ := t.Style()
	body, end := strings.TrimRightFunc(line, isBlank), ""
	if at := blockMark.FindStringIndex(body); at != nil { // a block ID must stay at the end
		body, end = body[:at[0]], body[at[0]:]
	}
	return body + " " + style.Done(on) + end
}

// StateLine formats an open task in Logseq's syntax.
func StateLine(text string, due when.Day) string {
	line := "- TODO " + text
	if !due.IsZero() {
		line += " DEADLINE: <" + due.Format("2006-01-02 Mon") + ">"
	}
	return line
}
