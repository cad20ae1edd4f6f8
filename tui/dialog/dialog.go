// Package dialog has the dialogs that must not be answered by accident: whether a tool may
// run, and requests of servers.
package dialog

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
)

// QuietPeriod is how long a dialog must have been visible without typing before it takes
// keys. Earlier keys were meant for the composer and go there.
const QuietPeriod = 500 * time.Millisecond

// actsAfter is how long after a letter that acts at once, such as d for details, the next
// letter may still belong to the same word.
const actsAfter = 1200 * time.Millisecond

// Dialog handles the keys of a dialog. A letter, a whole word ("yes", "no") or ←→ chooses an
// answer, and Enter confirms it. Any other letter means that the user is writing: it goes to
// the composer together with the letters taken so far, and while the composer holds text all
// keys do. Enter sends that text, unless it is an answer that was typed while the dialog was
// visible: y, yes, n or no. The zero value is a dialog that was not visible yet.
type Dialog struct {
	visible  time.Time         // since when it is
	since    time.Time         // the same, or when a key last went to the composer
	Written  string            // what the composer holds
	spelled  string            // the part of it that was typed while the dialog was visible
	early    *tea.KeyPressMsg  // an Enter that confirms Chosen when the quiet period is over; nil: none
	Chosen   string            // label of the choice that Enter confirms; "" if none
	Typed    []tea.KeyPressMsg // letters taken since the last other key
	lettered bool              // one of them chose an answer
	acted    time.Time         // when one of them last acted immediately
	missing  string            // why the last Enter had no effect
}

// Choice is an answer, or another action of a dialog.
type Choice struct {
	key.Binding
	Label string
	Do    func() tea.Cmd

	atOnce bool // not an answer: its key acts without confirmation
	alone  bool // its letter chooses it only as the first one
	aside  bool // shown with the keys, not in the row of answers
}

// words are answers that may be typed in full. Each begins with the letter of its choice.
var words = []string{"yes", "no"}

// Appear starts the quiet period of a dialog that becomes visible. written is what the
// composer holds.
func (d *Dialog) Appear(now time.Time, written string) {
	if d.hold(written); d.visible.IsZero() {
		d.visible, d.since = now, now
	}
}

// hold sets what the composer holds.
func (d *Dialog) hold(written string) {
	if d.Written = written; written == "" {
		d.spelled = ""
	}
}

// Due returns the Enter that waited for the end of the quiet period, if it is over.
func (d *Dialog) Due(now time.Time) (enter tea.KeyPressMsg, due bool) {
	if d.early == nil || !d.armed(now) {
		return enter, false
	}
	return *d.early, true
}

// armed reports whether the dialog takes keys.
func (d *Dialog) armed(now time.Time) bool {
	return !d.since.IsZero() && now.Sub(d.since) >= QuietPeriod
}

// ready returns why keys are not taken yet, or "".
func (d *Dialog) ready(unread bool, now time.Time) string {
	switch {
	case !d.armed(now):
		return " · wait…"
	case unread:
		return " · more below"
	}
	return ""
}

// Press handles a key. written is what the composer holds. rest are the keys that go to the
// composer, in the order in which they were pressed; it is empty if the dialog took the key,
// and if that was Enter, the composer's text with it.
func (d *Dialog) Press(pressed tea.KeyPressMsg, k *draw.Keys, choices []Choice, written string,
	now time.Time,
) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	d.hold(written)
	if at := d.writtenAnswer(choices); at >= 0 && key.Matches(pressed, k.Send) {
		for _, letter := range d.spelled {
			d.Typed = append(d.Typed, tea.KeyPressMsg{Code: letter, Text: string(letter)})
		}
		d.Chosen, d.lettered, d.since = choices[at].Label, true, d.visible
		d.hold("")
	}
	cmd, rest = d.press(pressed, k, choices, now)
	for _, pressed := range rest {
		d.spelled = draw.TypedInto(d.spelled, pressed)
	}
	return cmd, rest
}

// writtenAnswer returns the choice that the composer's text answers with, or -1.
func (d *Dialog) writtenAnswer(choices []Choice) int {
	if d.Written != d.spelled {
		return -1
	}
	return slices.IndexFunc(choices, func(c Choice) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			return slices.Contains(c.Keys(), word[:1]) && (d.Written == word[:1] || strings.EqualFold(d.Written, word))
		})
	})
}

// chosen returns the label of the choice that Enter confirms, or "".
func (d *Dialog) chosen(choices []Choice) string {
	if at := d.writtenAnswer(choices); at >= 0 {
		return choices[at].Label
	}
	return d.Chosen
}

func (d *Dialog) press(pressed tea.KeyPressMsg, keys *draw.Keys, choices []Choice,
	now time.Time,
) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	at := slices.IndexFunc(choices, func(c Choice) bool { return key.Matches(pressed, c.Binding) })
	d.missing = ""
	if !d.lettered && !d.acted.IsZero() && now.Sub(d.acted) > actsAfter {
		d.Typed = nil
	}
	switch {
	case d.Written != "":
		d.since = now
		return nil, []tea.KeyPressMsg{pressed}
	case key.Matches(pressed, keys.Send):
		at, typed := indexOf(choices, d.Chosen), d.Typed
		if at >= 0 && !d.armed(now) {
			if d.lettered { // else it was preselected
				d.early = &pressed
			}
			return nil, nil
		}
		d.Typed, d.lettered, d.early = nil, false, nil
		switch {
		case at >= 0:
			return choices[at].Do(), nil
		case len(typed) > 1: // a word that is not an answer
			d.since = now
			return nil, append(typed, pressed)
		}
		d.missing = pressOneOf(choices)
		return nil, nil
	case key.Matches(pressed, keys.PageUp, keys.PageDown): // scrolling does not revoke the choice
		return nil, []tea.KeyPressMsg{pressed}
	case !d.armed(now):
	case key.Matches(pressed, keys.OptionNext):
		d.move(choices, 1)
		return nil, nil
	case key.Matches(pressed, keys.OptionPrevious):
		d.move(choices, -1)
		return nil, nil
	case (at < 0 || d.lettered) && d.spells(pressed, choices):
		return nil, nil
	case at < 0 || d.lettered || choices[at].alone && len(d.Typed) > 0:
	default: // a letter may turn out to be text
		if d.Typed = append(d.Typed, pressed); pressed.Text == "" {
			d.Typed = nil
		}
		if choices[at].atOnce {
			d.acted = now
			return choices[at].Do(), nil
		}
		d.Chosen, d.lettered = choices[at].Label, pressed.Text != ""
		return nil, nil
	}
	if pressed.Text != "" || key.Matches(pressed, keys.Newline) {
		d.since = now
	}
	enter := d.early
	if rest = d.GiveBack(); enter != nil { // the answer was a message, and this is the next
		rest = append(rest, *enter)
	}
	return nil, append(rest, pressed)
}

// spells reports whether a letter continues one of words. Only a complete word chooses its
// answer.
func (d *Dialog) spells(pressed tea.KeyPressMsg, choices []Choice) bool {
	if pressed.Text == "" || !d.lettered && len(d.Typed) > 0 {
		return false
	}
	text := ""
	for _, letter := range append(slices.Clone(d.Typed), pressed) {
		text += letter.Text
	}
	for _, word := range words {
		at := slices.IndexFunc(choices, func(c Choice) bool { return slices.Contains(c.Keys(), word[:1]) })
		if at < 0 || !strings.HasPrefix(word, strings.ToLower(text)) {
			continue
		}
		d.Typed, d.lettered, d.Chosen = append(d.Typed, pressed), true, ""
		if len(text) == len(word) {
			d.Chosen = choices[at].Label
		}
		return true
	}
	return false
}

// escaped reports whether Esc answers. An Enter that waits has no effect any more.
func (d *Dialog) escaped(now time.Time) bool {
	d.early = nil
	return d.armed(now)
}

// pressOneOf returns a hint that lists the letters of the answers.
func pressOneOf(choices []Choice) string {
	var letters []string
	for _, c := range answers(choices) {
		if !c.aside {
			letters = append(letters, c.Help().Key)
		}
	}
	any := letters[0]
	if last := len(letters) - 1; last > 0 {
		any = strings.Join(letters[:last], ", ") + " or " + letters[last]
	}
	return "press " + any + ", then enter"
}

// GiveBack revokes the choice and returns the letters that the dialog took.
func (d *Dialog) GiveBack() []tea.KeyPressMsg {
	typed := d.Typed
	d.Typed, d.lettered, d.Chosen, d.early = nil, false, "", nil
	return typed
}

// move chooses the next answer, or the one before.
func (d *Dialog) move(choices []Choice, by int) {
	d.Typed, d.lettered = nil, false
	list := answers(choices)
	at := indexOf(list, d.Chosen) + by
	if at < 0 { // from the first, or from none
		at = len(list) - 1
	}
	d.Chosen = list[at%len(list)].Label
}

// answers are the choices that Enter confirms.
func answers(choices []Choice) []Choice {
	return slices.DeleteFunc(slices.Clone(choices), func(c Choice) bool { return c.atOnce })
}

func indexOf(choices []Choice, label string) int {
	return slices.IndexFunc(choices, func(c Choice) bool { return c.Label == label })
}

// bar puts the selection bar around a chosen text, and blanks around any other.
func bar(text string, chosen bool) string {
	if chosen {
		return "▌" + text + "▐"
	}
	return " " + text + " "
}

// readFirst shows that an answer needs the text to be read to its end.
func (d *Dialog) readFirst(keys *draw.Keys) {
	d.missing = "first read to the end: " + keys.PageDown.Help().Key
}

// rows draws the answers with their letters and a bar on the chosen one, in one row if it
// fits, else in columns.
func (d *Dialog) rows(choices []Choice, width int, theme *draw.Theme, now time.Time) []string {
	var labels, names []string
	widest, sum, chosen := 0, -1, d.chosen(choices)
	for _, c := range answers(choices) {
		if !c.aside {
			shown := bar(c.Help().Key+" "+c.Label, c.Label == chosen)
			labels, names = append(labels, shown), append(names, c.Label)
			widest, sum = max(widest, draw.Width(shown)), sum+draw.Width(shown)+1
		}
	}
	columns := len(labels)
	if sum > width {
		columns = max(1, (width+1)/(widest+1))
	}
	var rows []string
	for at, label := range labels {
		style := d.style(theme, now)
		if names[at] == chosen {
			style = theme.Selected.Render
		}
		cell := style(draw.Truncate(label, width))
		switch {
		case at%columns == 0:
			rows = append(rows, cell)
		default:
			rows[len(rows)-1] += " " + cell
		}
		if columns < len(labels) && at%columns < columns-1 {
			rows[len(rows)-1] += strings.Repeat(" ", widest-draw.Width(label))
		}
	}
	return rows
}

// enter describes what Enter does now.
func (d *Dialog) enter(choices []Choice, keys *draw.Keys) string {
	chosen := d.chosen(choices)
	switch {
	case d.missing != "":
		return d.missing
	case chosen != "":
		return keys.Send.Help().Key + ": " + strings.ToLower(strings.TrimSuffix(chosen, "…"))
	case d.Written != "":
		return keys.Send.Help().Key + " queues your message"
	}
	return keys.OptionPrevious.Help().Key + keys.OptionNext.Help().Key + " or a letter, then " + keys.Send.Help().Key
}

// hints returns the keys of the choices; esc describes what Esc does, if anything.
func (d *Dialog) hints(choices []Choice, esc string, keys *draw.Keys) []string {
	var leave []string
	if esc != "" {
		leave = []string{keys.Stop.Help().Key + " " + esc}
	}
	if d.Written != "" && d.writtenAnswer(choices) < 0 {
		return append([]string{d.enter(choices, keys), keys.Clear.Help().Key + " clears it, then answer"}, leave...)
	}
	var more []string
	for _, c := range choices {
		switch hint := c.Help().Key + " " + strings.ToLower(c.Label); {
		case c.aside && c.Label == d.Chosen:
			more = append(more, bar(hint, true))
		case c.aside || c.atOnce:
			more = append(more, hint)
		}
	}
	return slices.Concat([]string{d.enter(choices, keys)}, leave, more)
}

// OneLine draws the answers in a single line: the chosen one, and as many others as fit.
// between follows the first.
func (d *Dialog) OneLine(choices []Choice, between string, width int, keys *draw.Keys,
	theme *draw.Theme, now time.Time,
) string {
	var parts []string
	for _, c := range choices {
		parts = append(parts, c.Label+" ("+c.Help().Key+")")
	}
	enter, chosen := d.enter(choices, keys), d.chosen(choices)
	switch {
	case chosen != "":
		parts = slices.Insert(parts, 0, bar(chosen, true), enter)
	case d.missing != "":
		parts = slices.Insert(parts, 0, enter)
	case d.Written != "":
		parts = slices.Insert(parts, 1, enter)
	default:
		parts = append(parts, enter)
	}
	if between != "" {
		parts = slices.Insert(parts, 1, between)
	}
	return d.style(theme, now)(draw.Flow(parts, width)[0])
}

// style returns the style of the choices, which are dim while no key is taken.
func (d *Dialog) style(theme *draw.Theme, now time.Time) func(...string) string {
	if d.armed(now) && d.Written == "" {
		return theme.Key.Render
	}
	return theme.Dim.Render
}

// CopyMsg asks to put a text on the clipboard.
type CopyMsg string
