package tui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
	"lifehub/tui/panel"
)

// chooseTheme takes what was typed after /theme, or lets the user choose.
func (m *Model) chooseTheme(name string) {
	if name == "" {
		now := cmp.Or(m.Theme, panel.Themes[0].Label)
		p := &panel.Picker{Title: "Themes", Rows: panel.Themes, Beside: true, Chosen: max(0, slices.IndexFunc(panel.Themes, func(r draw.Row) bool { return r.Label == now }))}
		p.Pick = func(at int) tea.Cmd { m.chooseTheme(panel.Themes[at].Label); return nil }
		m.cover(p)
		return
	}
	if !slices.ContainsFunc(panel.Themes, func(r draw.Row) bool { return r.Label == name }) {
		m.flash("/theme takes auto, dark, light, ansi or contrast")
		return
	}
	m.Theme, m.Colours = name, nil
	m.restyle()
	m.flash("theme " + name + " for this run; theme: " + name + " in the settings keeps it")
}
