package tui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/backend"
	"lifehub/tui/draw"
	"lifehub/tui/keys"
	"lifehub/tui/safetext"
)

// welcome is the screen before the first question, with the question that Enter asks
// while the input is empty.
type welcome struct {
	Question string // "" if none
	Again    string // answered while notes were still being read; "" if none
	First    bool   // suggest the first question of the vault as soon as there is one

	Earlier bool // there are earlier conversations

	first     int // the line of the first question
	questions []string
}

// wordmark is the name in block letters; the first part of each line is "Life".
var wordmark = [][2]string{
	{"█   █ █▀▀ █▀▀ ", "█ █ █ █ █▀▄"},
	{"█   █ █▀▀ █▀▀ ", "█▀█ █ █ █▀▄"},
	{"▀▀▀ ▀ ▀   ▀▀▀ ", "▀ ▀ ▀▀▀ ▀▀ "},
}

// welcomeLines is the height of the welcome where there is room, so that it does not
// move when facts arrive.
const welcomeLines = 12

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

// Heard sets the questions of the vault.
func (w *welcome) Heard(questions []string) {
	if w.First && len(questions) > 0 {
		w.Question, w.First = questions[0], false
	}
}

// View draws it in the middle of a window. opening reports that the notes are not
// known yet.
func (w *welcome) View(width, height int, s backend.Status, opening bool, k *keys.Map, theme *draw.Theme) []string {
	var lines []string
	add := func(text string) { lines = append(lines, centred(text, draw.Width(text), width)) }
	small := height < welcomeLines+2 || width < 40
	if small {
		add(theme.Brand.Render("LifeHub"))
	} else {
		lines = make([]string, (height-welcomeLines)/2)
		for _, row := range wordmark {
			add(theme.Dim.Render(row[0]) + theme.Brand.Render(row[1]))
		}
		add("")
	}
	if !small || height > 6 {
		add("Ask your notes anything")
	}
	var facts []string
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
	if len(facts) == 3 && draw.Width(strings.Join(facts, " · ")) > width-2*draw.Gutter {
		facts = slices.Delete(facts, 1, 2) // the header has it
	}
	add(theme.Dim.Render(safetext.Line(strings.Join(facts, " · "))))
	if w.questions = s.Questions; s.Scope != "" {
		w.questions = nil // it may leave out what answers them
	}
	if !small {
		add("")
	}
	w.first = len(lines)
	widest := 0
	for _, question := range w.questions {
		widest = max(widest, draw.Width(safetext.Line(question))+4)
	}
	for _, question := range w.questions {
		row := draw.Row{Label: question}
		lines = append(lines, centred(row.View(question == w.Question, widest, min(widest, width-2*draw.Gutter), theme), widest, width))
	}
	if !small && len(w.questions) > 0 {
		add("")
	}
	var hints []string
	if len(w.questions) > 0 {
		hints = append(hints, k.Up.Help().Key+k.Down.Help().Key+" choose a question")
	}
	if w.Earlier && k.Conversations.Enabled() {
		hints = append(hints, k.Conversations.Help().Key+" earlier conversations")
	}
	add(theme.Dim.Render(draw.Hints(hints, width-2*draw.Gutter)))
	return lines
}

// Hide hides the questions, and with them the chosen one, while something else is
// shown.
func (w *welcome) Hide() {
	if slices.Contains(w.questions, w.Question) {
		w.Question = ""
	}
	w.questions = nil
}

// centred centres a text of a given width in a line.
func centred(text string, wide, width int) string {
	return strings.Repeat(" ", max(draw.Gutter, (width-wide)/2)) + draw.Truncate(text, width-2*draw.Gutter)
}

// Press moves the choice among the visible questions. It does not handle keys beyond
// the first and the last.
func (w *welcome) Press(pressed tea.KeyPressMsg, k *keys.Map) bool {
	at, by := slices.Index(w.questions, w.Question), 0
	switch {
	case len(w.questions) == 0:
		return false
	case key.Matches(pressed, k.Down):
		by = 1
	case key.Matches(pressed, k.Up) && at < 0:
		at, by = len(w.questions), -1
	case key.Matches(pressed, k.Up):
		by = -1
	default:
		return false
	}
	if at += by; at < 0 || at >= len(w.questions) {
		w.Question = ""
		return false
	}
	w.Question = w.questions[at]
	return true
}

// At returns the question in a line of the welcome, or "".
func (w *welcome) At(line int) string {
	if at := line - w.first; at >= 0 && at < len(w.questions) {
		return w.questions[at]
	}
	return ""
}
