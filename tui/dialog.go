package tui

import (
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/keys"
)

// guard is how long a question must have been in sight, and nothing may have
// been typed into the composer, before it takes a key: what was on its way to
// the composer when it opened goes there.
const guard = 500 * time.Millisecond

// dialog is how each question of LifeHub is answered. A letter, or ←→, chooses
// an answer and Enter confirms it. Any other letter shows that a text is being
// typed: then all letters since the question took one are the composer's, and
// while the composer holds text every key is. The zero value is a dialog that
// was not in sight yet.
type dialog struct {
	since    time.Time         // when it came into sight, or a key last went to the composer
	writing  bool              // the composer holds text
	chosen   string            // the label of the choice that Enter confirms; "": none
	typed    []tea.KeyPressMsg // the letters it took since the last key that is none
	lettered bool              // one of them chose
}

// choice is an answer to a question, or something to do about it.
type choice struct {
	key.Binding
	label string
	do    func() tea.Cmd

	atOnce bool // it answers nothing: its key does it, and is not confirmed
	alone  bool // its letter chooses it only with no letter before
}

// appear starts the guard time of a dialog that comes into sight. writing says
// that the composer holds text.
func (d *dialog) appear(now time.Time, writing bool) {
	if d.writing = writing; d.since.IsZero() {
		d.since = now
	}
}

// armed reports whether the dialog takes keys.
func (d *dialog) armed(now time.Time) bool {
	return !d.since.IsZero() && now.Sub(d.since) >= guard
}

// press gives a key to the dialog. rest are the keys that are the composer's, in
// the order in which they were pressed; none: the dialog took this one.
func (d *dialog) press(pressed tea.KeyPressMsg, keys *keys.Map, choices []choice, now time.Time) (cmd tea.Cmd, rest []tea.KeyPressMsg) {
	at := slices.IndexFunc(choices, func(c choice) bool { return key.Matches(pressed, c.Binding) })
	switch {
	case d.writing:
		d.since = now
		return nil, []tea.KeyPressMsg{pressed}
	case key.Matches(pressed, keys.Send):
		at, typed := indexOf(choices, d.chosen), d.typed
		d.typed, d.lettered = nil, false
		switch {
		case at >= 0:
			return choices[at].do(), nil
		case len(typed) > 1: // a word of letters that choose nothing
			d.since = now
			return nil, append(typed, pressed)
		}
		return nil, nil
	case key.Matches(pressed, keys.PageUp, keys.PageDown): // who reads on has not changed their mind
		return nil, []tea.KeyPressMsg{pressed}
	case !d.armed(now):
	case key.Matches(pressed, keys.OptionNext):
		d.move(choices, 1)
		return nil, nil
	case key.Matches(pressed, keys.OptionPrevious):
		d.move(choices, -1)
		return nil, nil
	case at < 0 || d.lettered || choices[at].alone && len(d.typed) > 0:
	default: // a letter may turn out to be text
		if d.typed = append(d.typed, pressed); pressed.Text == "" {
			d.typed = nil
		}
		if choices[at].atOnce {
			return choices[at].do(), nil
		}
		d.chosen, d.lettered = choices[at].label, pressed.Text != ""
		return nil, nil
	}
	if pressed.Text != "" || key.Matches(pressed, keys.Newline) {
		d.since = now
	}
	return nil, append(d.giveBack(), pressed)
}

// giveBack takes the choice back and returns the letters that the dialog took.
func (d *dialog) giveBack() []tea.KeyPressMsg {
	typed := d.typed
	d.typed, d.lettered, d.chosen = nil, false, ""
	return typed
}

// move chooses the next answer, or the one before.
func (d *dialog) move(choices []choice, by int) {
	d.typed, d.lettered = nil, false
	list := answers(choices)
	at := indexOf(list, d.chosen) + by
	if at < 0 { // from the first, or from none
		at = len(list) - 1
	}
	d.chosen = list[at%len(list)].label
}

// answers are the choices that Enter confirms.
func answers(choices []choice) []choice {
	return slices.DeleteFunc(slices.Clone(choices), func(c choice) bool { return c.atOnce })
}

func indexOf(choices []choice, label string) int {
	return slices.IndexFunc(choices, func(c choice) bool { return c.label == label })
}

// lines shows the choices, the chosen one marked, and below them the keys. esc
// says what Esc does.
func (d *dialog) lines(choices []choice, esc string, width int, keys *keys.Map, look *draw.Theme, now time.Time) []string {
	var labels, letters, more []string
	for _, c := range choices {
		if c.atOnce {
			more = append(more, c.Help().Key+" "+c.label)
			continue
		}
		labels, letters = append(labels, c.label), append(letters, c.Help().Key)
		if c.label == d.chosen {
			labels[len(labels)-1] = "› " + c.label
		}
	}
	hints := []string{strings.Join(letters, " ") + " or " + keys.OptionPrevious.Help().Key + keys.OptionNext.Help().Key + " choose", keys.Send.Help().Key + " confirms", keys.Stop.Help().Key + " " + esc}
	if d.writing {
		hints, more = []string{keys.Clear.Help().Key + " clears what you wrote, then answer", hints[2]}, nil
	}
	return append(draw.Styled(d.style(look, now), draw.Joined(labels, width)), draw.Styled(look.Dim.Render, draw.Joined(append(hints, more...), width))...)
}

// oneLine is lines where there is room for one: the chosen answer, and as many
// of all as there is room for. between stands behind the first.
func (d *dialog) oneLine(choices []choice, between string, width int, keys *keys.Map, look *draw.Theme, now time.Time) string {
	var parts []string
	for _, c := range choices {
		parts = append(parts, c.label+" ("+c.Help().Key+")")
	}
	confirms := keys.Send.Help().Key + " confirms"
	if d.chosen != "" {
		parts = slices.Insert(parts, 0, "› "+d.chosen, confirms)
	} else {
		parts = append(parts, confirms)
	}
	if between != "" {
		parts = slices.Insert(parts, 1, between)
	}
	return d.style(look, now)(draw.Joined(parts, width)[0])
}

// style is the look of choices that are taken now, or not yet.
func (d *dialog) style(look *draw.Theme, now time.Time) func(...string) string {
	if d.armed(now) && !d.writing {
		return look.Key.Render
	}
	return look.Dim.Render
}
