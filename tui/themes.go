package tui

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"lifehub/tui/draw"
)

// themes are the built-in ones, with what each is for.
var themes = []draw.Row{
	{Label: "auto", Detail: "dark or light, as the terminal's background"},
	{Label: "dark", Detail: "for a dark background"},
	{Label: "light", Detail: "for a light background"},
	{Label: "ansi", Detail: "the terminal's own sixteen colours"},
	{Label: "contrast", Detail: "7:1, and nothing told by red and green"},
}

// chooseTheme takes what was typed after /theme, or lets the user choose.
func (m *Model) chooseTheme(name string) {
	if name == "" {
		now := cmp.Or(m.Theme, themes[0].Label)
		p := &picker{title: "Themes", rows: themes, beside: true, chosen: max(0, slices.IndexFunc(themes, func(r draw.Row) bool { return r.Label == now }))}
		p.pick = func(at int) tea.Cmd { m.chooseTheme(themes[at].Label); return nil }
		m.cover(p)
		return
	}
	if !slices.ContainsFunc(themes, func(r draw.Row) bool { return r.Label == name }) {
		m.flash("/theme takes auto, dark, light, ansi or contrast")
		return
	}
	m.Theme, m.Colours = name, nil
	m.restyle()
	m.flash("theme " + name + " for this run; theme: " + name + " in the settings keeps it")
}
