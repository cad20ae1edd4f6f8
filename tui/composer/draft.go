package composer

import (
	"slices"

	"lifehub/agent"
	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Unsent returns the unsent text. aside is a draft that was stashed for editing, or nil.
func (c *Model) Unsent(aside *Stashed) agent.Draft {
	d := agent.Draft{Text: c.Text(), Editing: c.InEditor}
	var behind []string // drafts replaced by the text in the composer
	if c.At >= 0 {
		if d.Text == safetext.Text(c.History[c.At]) {
			d.Text = c.Draft
		} else if !draw.Blank(c.Draft) {
			behind = append(behind, Written{Text: c.Draft, Pastes: c.Pastes}.Message())
		}
	}
	if aside != nil && !draw.Blank(aside.Message()) {
		behind = append(behind, aside.Message())
	}
	for _, p := range c.Pastes {
		if d.Text != "" {
			d.Pastes = append(d.Pastes, agent.Paste{Name: p.Name, Text: p.Text, Own: p.Own})
		}
	}
	d.Waiting, d.Steering = append(append(d.Waiting, c.Queue...), behind...), slices.Clone(c.Steering)
	return d
}

// Restore restores a draft. If the user has begun something else, it is queued. here reports
// whether the input is restored. Nothing is sent automatically.
func (c *Model) Restore(d agent.Draft, begun bool) (here bool) {
	for _, text := range d.Waiting {
		c.QueueRestored(safetext.Text(text), len(c.Queue))
	}
	w := Written{Text: safetext.Text(d.Text)}
	for _, p := range d.Pastes {
		w.Pastes = append(w.Pastes, Paste{Name: safetext.Line(p.Name), Text: safetext.Text(p.Text), Own: p.Own})
	}
	switch {
	case draw.Blank(w.Text):
		return false
	case begun || !c.Empty():
		c.QueueRestored(w.Message(), len(c.Queue))
		return false
	}
	c.Put(w)
	c.Area.MoveToEnd()
	c.Changed("", "")
	c.ForgetUndo()
	return true
}
