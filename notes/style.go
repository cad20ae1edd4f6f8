package notes

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// DateStyle is the syntax of dates in tasks.
type DateStyle int

// The styles. Emoji, the default, is that of the Obsidian Tasks plugin.
const (
	Emoji    DateStyle = iota // 📅 2026-01-01
	Dataview                  // [due:: 2026-01-01]
	Plain                     // due: 2026-01-01
)

var styles = []struct {
	used      *regexp.Regexp // matches the style in the line of a task
	due, done string
}{
	Emoji:    {emojiField, "📅 %s", "✅ %s"},
	Dataview: {pairField, "[due:: %s]", "[completion:: %s]"},
	Plain:    {plainField, "due: %s", "done: %s"},
}

// Style returns the style of the task's dates; ok is false if it has none.
func (t Task) Style() (style DateStyle, ok bool) {
	for i, s := range styles {
		if s.used.MatchString(t.Raw) {
			return DateStyle(i), true
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
func (s DateStyle) Due(day time.Time) string {
	return fmt.Sprintf(styles[s].due, day.Format(time.DateOnly))
}

// Done formats the day of completion.
func (s DateStyle) Done(day time.Time) string {
	return fmt.Sprintf(styles[s].done, day.Format(time.DateOnly))
}

// Ticked returns the task's line marked as done on the given day.
func (t Task) Ticked(on time.Time) string {
	m := taskLine.FindStringSubmatchIndex(t.Raw)
	if m == nil {
		return wordLine.ReplaceAllString(t.Raw, "${1}DONE $3")
	}
	line := t.Raw[:m[4]] + "x" + t.Raw[m[5]:]
	if !t.DoneOn.IsZero() {
		return line
	}
	style, _ := t.Style()
	body, end := strings.TrimRight(line, " \t\r"), ""
	if at := blockMark.FindStringIndex(body); at != nil { // a block ID must stay at the end
		body, end = body[:at[0]], body[at[0]:]
	}
	return body + " " + style.Done(on) + end
}

// StateLine formats an open task in Logseq's syntax.
func StateLine(text string, due time.Time) string {
	line := "- TODO " + text
	if !due.IsZero() {
		line += " DEADLINE: <" + due.Format("2006-01-02 Mon") + ">"
	}
	return line
}
