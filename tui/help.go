package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// help is the page of keys and commands, made from the key map.
type help struct {
	top   int
	lines []string
	width int
}

// build makes the lines for a width.
func (h *help) build(keys *keyMap, commands []command, width int, look *theme) {
	if h.width == width && h.lines != nil {
		return
	}
	h.width, h.lines = width, nil
	column := min(24, max(8, width/3))
	add := func(left, right string) {
		left = fit(left, column)
		pad := strings.Repeat(" ", max(1, column+2-cells(left)))
		h.lines = append(h.lines, wrapped("  "+look.Key.Render(left)+pad, right, width)...)
	}
	for _, group := range keys.groups() {
		if !slices.ContainsFunc(group.keys, func(named namedKey) bool { return named.Enabled() }) {
			continue
		}
		h.lines = append(h.lines, look.Strong.Render(fit(group.title, width)))
		for _, named := range group.keys {
			if named.Enabled() {
				add(named.Help().Key, named.Help().Desc)
			}
		}
		h.lines = append(h.lines, "")
	}
	h.lines = append(h.lines, look.Strong.Render("Commands"))
	for _, c := range commands {
		add(strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
}

// press scrolls; any other key closes the page.
func (h *help) press(pressed tea.KeyPressMsg, keys *keyMap, height int) (done bool) {
	top, scrolls := keys.scrolled(pressed, h.first(height), len(h.lines), height)
	h.top = top
	return !scrolls
}

// first is the first line in sight. h.top may lie further down: the window may
// shrink again.
func (h *help) first(height int) int { return max(0, min(h.top, len(h.lines)-height)) }

func (h *help) view(height int) []string {
	top := h.first(height)
	return filled(h.lines[top:min(len(h.lines), top+height)], height)
}
