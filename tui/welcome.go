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

// Welcome is the screen before the first question, and the question that Enter
// asks while nothing is typed.
type Welcome struct {
	Question string // "": none
	Again    string // was answered while notes were being read; "": none
	First    bool   // the first of the vault's questions is suggested, once there is one

	Earlier bool // there are earlier conversations

	first     int // the line of the first question
	questions []string
}

// wordmark is the name, small; the first part of each line is that of "Life".
var wordmark = [][2]string{
	{"█   █ █▀▀ █▀▀ ", "█ █ █ █ █▀▄"},
	{"█   █ █▀▀ █▀▀ ", "█▀█ █ █ █▀▄"},
	{"▀▀▀ ▀ ▀   ▀▀▀ ", "▀ ▀ ▀▀▀ ▀▀ "},
}

// welcomeLines is how many lines the welcome has where there is room: it stays
// where it is when more becomes known.
const welcomeLines = 12

// Suggest has Enter ask a question while nothing is typed; "": none.
func (w *Welcome) Suggest(question string) { *w = Welcome{Question: question} }

// AskAgain suggests what was answered while notes were being read, and says so.
// A text of several lines is no suggestion.
func (w *Welcome) AskAgain() string {
	if strings.Contains(w.Again, "\n") {
		w.Suggest("")
		return "All notes are indexed now: /retry asks again."
	}
	w.Suggest(w.Again)
	return "All notes are indexed now: Enter asks again."
}

// Heard takes in which questions the vault has.
func (w *Welcome) Heard(questions []string) {
	if w.First && len(questions) > 0 {
		w.Question, w.First = questions[0], false
	}
}

// View returns its lines, in the middle of a window. opening says that nobody
// knows yet what there is.
func (w *Welcome) View(width, height int, s backend.Status, opening bool, k *keys.Map, theme *draw.Theme) []string {
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

// Hide takes the questions away while something else is in sight, and with them
// the chosen one.
func (w *Welcome) Hide() {
	if slices.Contains(w.questions, w.Question) {
		w.Question = ""
	}
	w.questions = nil
}

// centred puts a text so many cells wide into the middle of a line.
func centred(text string, wide, width int) string {
	return strings.Repeat(" ", max(draw.Gutter, (width-wide)/2)) + draw.Truncate(text, width-2*draw.Gutter)
}

// Press moves the choice among the questions that are in sight. It leaves the
// key to others beyond the first and the last.
func (w *Welcome) Press(pressed tea.KeyPressMsg, k *keys.Map) bool {
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

// At is the question in a line of the welcome; "": none.
func (w *Welcome) At(line int) string {
	if at := line - w.first; at >= 0 && at < len(w.questions) {
		return w.questions[at]
	}
	return ""
}
