package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/chat"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// welcome is the screen before the first question, with due tasks, which Enter opens,
// and questions, which it asks, while the input is empty.
type welcome struct {
	Question string // the chosen row, or a suggested question; "" if none
	Again    string // answered while notes were still being read; "" if none
	First    bool   // suggest the first question of the vault as soon as there is one

	Earlier bool // there are earlier conversations

	at        int   // the line of the first of lines
	lines     []int // the row of each drawn line; -1 for none
	row       int   // the row chosen last; see chosen
	due       []chat.Task
	questions []string
}

// wordmark is the name in block letters; the first part of each line is "Life".
var wordmark = [][2]string{
	{"█   █ █▀▀ █▀▀ ", "█ █ █ █ █▀▄"},
	{"█   █ █▀▀ █▀▀ ", "█▀█ █ █ █▀▄"},
	{"▀▀▀ ▀ ▀   ▀▀▀ ", "▀ ▀ ▀▀▀ ▀▀ "},
}

// Suggest sets the question that Enter asks while the input is empty, "" for none.
func (w *welcome) Suggest(question string) { *w = welcome{Question: question} }

// AskAgain suggests a question that was answered while notes were still being read.
// A text of several lines is not suggested.
func (w *welcome) AskAgain() string {
	if strings.Contains(w.Again, "\n") {
		w.Suggest("")
		return "All notes are indexed now: /retry asks again."
	}
	w.Suggest(w.Again)
	return "All notes are indexed now: Enter asks again."
}

// SetQuestions sets the questions of the vault.
func (w *welcome) SetQuestions(questions []string) {
	if w.First && len(questions) > 0 {
		w.Question, w.First = questions[0], false
	}
}

// Update sets the rows. opening reports that the notes are not known yet.
func (w *welcome) Update(s chat.Status, opening bool) {
	w.lines, w.due, w.questions = nil, s.Due, s.Questions
	if opening || s.Scope != "" {
		w.due, w.questions = nil, nil // it may leave out what they are about
	}
}

// Mark returns the wordmark and the line about the notes, centred in a column.
func (w *welcome) Mark(column draw.Column, s chat.Status, opening bool, theme *draw.Theme) (lines []string) {
	add := func(text string) {
		text = draw.Truncate(text, column.Width())
		lines = append(lines, strings.Repeat(" ", column.Left+(column.Width()-draw.Width(text))/2)+text)
	}
	for _, row := range wordmark {
		add(theme.Dim.Render(row[0]) + theme.Brand.Render(row[1]))
	}
	lines = append(lines, "")
	add(theme.Dim.Render(safetext.Line(strings.Join(facts(s, opening, column.Width()), " · "))))
	return lines
}

// facts describes the notes in a few words each, as many as fit a width.
func facts(s chat.Status, opening bool, width int) (facts []string) {
	switch {
	case opening:
	case s.Notes == 0 && !s.Indexing:
		facts = []string{"no notes yet · add a folder: lifehub index DIR"}
	case s.Indexing && s.Notes > 0:
		does, noun := "reading ", "note"
		if s.Embedding {
			does, noun = "embedding ", "passage"
		}
		facts = []string{s.Vault, does + draw.Thousands(s.Indexed) + " of " + draw.Count(s.Notes, noun)}
	default:
		facts = []string{s.Vault, draw.Count(s.Notes, "note"), s.News}
	}
	facts = slices.DeleteFunc(facts, func(s string) bool { return s == "" })
	if len(facts) == 3 && draw.Width(strings.Join(facts, " · ")) > width {
		facts = slices.Delete(facts, 1, 2) // the header has it
	}
	return facts
}

// Rows returns the rows in two groups, and their keys, in a column, in at most so many lines.
// at is the line of the body on which they begin. The captions are left out where there is no
// room for them.
func (w *welcome) Rows(column draw.Column, height, at int, k *draw.Keys, theme *draw.Theme) (lines []string) {
	w.at, w.lines = at, nil
	add := func(line string, row int) { lines, w.lines = append(lines, line), append(w.lines, row) }
	all, chosen := len(w.due)+len(w.questions), w.chosen()
	captions := all+3 <= height
	caption := func(text string) {
		if !captions {
			return
		}
		if len(lines) > 0 {
			add("", -1)
		}
		add("  "+theme.Dim.Render(text), -1)
	}
	if len(w.due) > 0 {
		caption("Due")
	}
	var rows []draw.Row
	for _, t := range w.due {
		rows = append(rows, draw.Row{Label: "[ ] " + t.Text, Detail: t.When})
	}
	labels := draw.Columns(rows, column.Width())
	for i, row := range rows {
		add(row.View(i == chosen, labels, column.Width(), theme), i)
	}
	if len(w.questions) > 0 {
		caption("Ask")
	}
	for i, question := range w.questions {
		i += len(w.due)
		add(draw.Row{Label: question}.View(i == chosen, column.Width(), column.Width(), theme), i)
	}
	lines, w.lines = lines[:min(len(lines), height)], w.lines[:min(len(lines), height)]
	if hints := w.hints(chosen, k); len(hints) > 0 && len(lines)+1 < height {
		lines = append(lines, "", "  "+theme.Dim.Render(draw.Truncate(draw.Hints(hints, column.TextWidth()),
			column.TextWidth())))
	}
	return indented(lines, column.Left)
}

// hints are the keys of the rows, of which one may be chosen.
func (w *welcome) hints(chosen int, k *draw.Keys) (hints []string) {
	choose, enter, space := k.Up.Help().Key+k.Down.Help().Key+" choose", k.Send.Help().Key,
		k.TickOff.Help().Key+" ticks it off"
	switch {
	case w.Task() != nil:
		hints = append(hints, choose, enter+" opens it", space)
	case len(w.due) > 0 && chosen < 0:
		hints = append(hints, choose, enter+" opens or asks", space)
	case len(w.due)+len(w.questions) > 0:
		hints = append(hints, choose, enter+" asks")
	}
	if w.Earlier && k.Conversations.Enabled() {
		hints = append(hints, k.Conversations.Help().Key+" earlier conversations")
	}
	return hints
}

// choices returns the labels of the rows.
func (w *welcome) choices() (all []string) {
	for _, t := range w.due {
		all = append(all, t.Text)
	}
	return append(all, w.questions...)
}

// chosen returns the row of the question, -1 if it is none. Two tasks may have the same
// text: then it is the row chosen last.
func (w *welcome) chosen() int {
	choices := w.choices()
	if w.row < len(choices) && choices[w.row] == w.Question {
		return w.row
	}
	return slices.Index(choices, w.Question)
}

// choose chooses a row.
func (w *welcome) choose(row int) { w.row, w.Question = row, w.choices()[row] }

// Task returns the chosen task, nil if none is.
func (w *welcome) Task() *chat.Task {
	if at := w.chosen(); at >= 0 && at < len(w.due) {
		return &w.due[at]
	}
	return nil
}

// Hide hides the rows, and with them the chosen one, while something else is shown.
func (w *welcome) Hide() {
	if w.chosen() >= 0 {
		w.Question = ""
	}
	w.due, w.questions = nil, nil
}

// Press moves the choice among the visible rows. It does not handle keys beyond
// the first and the last.
func (w *welcome) Press(pressed tea.KeyPressMsg, k *draw.Keys) bool {
	choices := w.choices()
	at, by := w.chosen(), 0
	switch {
	case len(choices) == 0:
		return false
	case key.Matches(pressed, k.Down):
		by = 1
	case key.Matches(pressed, k.Up) && at < 0:
		at, by = len(choices), -1
	case key.Matches(pressed, k.Up):
		by = -1
	default:
		return false
	}
	if at += by; at < 0 || at >= len(choices) {
		w.Question = ""
		return false
	}
	w.choose(at)
	return true
}

// Click chooses the row on a line of the body. It reports false if there is none.
func (w *welcome) Click(line int) bool {
	at := line - w.at
	if at < 0 || at >= len(w.lines) || w.lines[at] < 0 {
		return false
	}
	w.choose(w.lines[at])
	return true
}
