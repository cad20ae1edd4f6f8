package draw

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textarea"
	"charm.land/lipgloss/v2"

	"lifehub/internal/pattern"
	"lifehub/tui/markdown/layout"
)

// Theme names colours by what they mean. A panel never names a colour.
type Theme struct {
	Dark bool

	Text      lipgloss.Style
	Strong    lipgloss.Style
	Dim       lipgloss.Style // of less importance than text
	Border    lipgloss.Style
	Brand     lipgloss.Style
	You       lipgloss.Style // the user's own words
	Selected  lipgloss.Style // what the keys act on
	Key       lipgloss.Style
	Success   lipgloss.Style
	Warning   lipgloss.Style
	Danger    lipgloss.Style
	Running   lipgloss.Style
	Added     lipgloss.Style
	Removed   lipgloss.Style
	Reference lipgloss.Style // numbers and places of sources
	Shade     lipgloss.Style // the background of what the user writes and wrote; none where colours are few

	Markdown layout.Theme
}

// colours are those of a theme; nil leaves the terminal's own.
type colours struct {
	dim, border, brand, you, selected, key, success, warning, danger, running, reference, shade color.Color
}

var (
	darkPalette = colours{
		dim: lipgloss.Color("#8A8F98"), border: lipgloss.Color("#4A4F58"), brand: lipgloss.Color("#B39DFF"),
		you: lipgloss.Color("#7DD3FC"), selected: lipgloss.Color("#B39DFF"), key: lipgloss.Color("#C9CED6"),
		success: lipgloss.Color("#7EE0A0"), warning: lipgloss.Color("#F5C76B"), danger: lipgloss.Color("#FF8A80"),
		running: lipgloss.Color("#7DD3FC"), reference: lipgloss.Color("#9CC4FF"), shade: lipgloss.Color("#23262D"),
	}
	lightPalette = colours{
		dim: lipgloss.Color("#6B7078"), border: lipgloss.Color("#C4C8CE"), brand: lipgloss.Color("#5B3FD1"),
		you: lipgloss.Color("#0369A1"), selected: lipgloss.Color("#5B3FD1"), key: lipgloss.Color("#3A3F47"),
		success: lipgloss.Color("#15803D"), warning: lipgloss.Color("#9A5B00"), danger: lipgloss.Color("#B91C1C"),
		running: lipgloss.Color("#0369A1"), reference: lipgloss.Color("#1D4ED8"), shade: lipgloss.Color("#EEF0F3"),
	}
	// ansiPalette leaves every shade to the terminal's own sixteen colours. None
	// of them is sure to be seen and less than the text: bright black is the
	// background of some, so that what is dim is faint instead.
	ansiPalette = colours{
		brand: lipgloss.Magenta,
		you:   lipgloss.Cyan, selected: lipgloss.Magenta, key: nil,
		success: lipgloss.Green, warning: lipgloss.Yellow, danger: lipgloss.Red,
		running: lipgloss.Cyan, reference: lipgloss.Blue,
	}
	// The contrast palettes keep 7:1 and tell states apart without red and green.
	darkContrast = colours{
		dim: lipgloss.Color("#D0D0D0"), border: lipgloss.Color("#FFFFFF"), brand: lipgloss.Color("#FFFFFF"),
		you: lipgloss.Color("#56B4E9"), selected: lipgloss.Color("#F0E442"), key: lipgloss.Color("#FFFFFF"),
		success: lipgloss.Color("#56B4E9"), warning: lipgloss.Color("#F0E442"), danger: lipgloss.Color("#FFA040"),
		running: lipgloss.Color("#56B4E9"), reference: lipgloss.Color("#56B4E9"),
	}
	lightContrast = colours{
		dim: lipgloss.Color("#303030"), border: lipgloss.Color("#000000"), brand: lipgloss.Color("#000000"),
		you: lipgloss.Color("#003A70"), selected: lipgloss.Color("#003A70"), key: lipgloss.Color("#000000"),
		success: lipgloss.Color("#003A70"), warning: lipgloss.Color("#5C3A00"), danger: lipgloss.Color("#7A2400"),
		running: lipgloss.Color("#003A70"), reference: lipgloss.Color("#003A70"),
	}
)

// byName are the colours as a user's own theme names them.
func (c *colours) byName() map[string]*color.Color {
	return map[string]*color.Color{
		"dim": &c.dim, "border": &c.border, "brand": &c.brand, "you": &c.you, "selected": &c.selected, "key": &c.key,
		"success": &c.success, "warning": &c.warning, "danger": &c.danger, "running": &c.running, "reference": &c.reference, "shade": &c.shade,
	}
}

// with puts the user's own colours over those of a theme.
func (c colours) with(own map[string]string) colours {
	named := c.byName()
	for name, value := range own {
		if at := named[name]; at != nil {
			*at = lipgloss.Color(value)
		}
	}
	return c
}

// aColour is one that a user may write.
var aColour = pattern.Lazy(`^(#[0-9a-fA-F]{6}|[0-9]|1[0-5])$`)

// CheckColours reports whether every colour of a user's own theme has a name
// that there is, and is #rrggbb or one of the terminal's own, 0 to 15.
func CheckColours(own map[string]string) error {
	known := (&colours{}).byName()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if known[name] == nil {
			return fmt.Errorf("no colour is called %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if !aColour.MatchString(own[name]) {
			return fmt.Errorf("%s: %q is no colour such as #7DD3FC, or 0 to 15 for one of the terminal's own", name, own[name])
		}
	}
	return nil
}

// NewTheme makes the named theme for a background. Without colours the name
// does not matter.
func NewTheme(name string, dark, coloured bool, own map[string]string) *Theme {
	colour := darkPalette
	switch {
	case !coloured:
		colour = colours{}
	case name == "ansi":
		colour = ansiPalette
	case name == "contrast" && dark:
		colour = darkContrast
	case name == "contrast":
		colour = lightContrast
	case !dark:
		colour = lightPalette
	}
	if coloured {
		colour = colour.with(own)
	}
	plain := lipgloss.NewStyle()
	in := func(c color.Color) lipgloss.Style {
		if c == nil {
			return plain
		}
		return plain.Foreground(c)
	}
	faint := func(c color.Color) lipgloss.Style {
		if c == nil {
			return plain.Faint(true)
		}
		return in(c)
	}
	shown := layout.Palette{}.Theme()
	if coloured {
		shown = markdownTheme(name, dark, colour, own)
	}
	shade := plain
	if colour.shade != nil {
		shade = plain.Background(colour.shade)
	}
	return &Theme{
		Dark:      dark,
		Shade:     shade,
		Text:      plain,
		Strong:    plain.Bold(true),
		Dim:       faint(colour.dim),
		Border:    faint(colour.border),
		Brand:     in(colour.brand).Bold(true),
		You:       in(colour.you).Bold(true),
		Selected:  in(colour.selected).Bold(true),
		Key:       in(colour.key).Bold(true),
		Success:   in(colour.success),
		Warning:   in(colour.warning),
		Danger:    in(colour.danger),
		Running:   in(colour.running),
		Added:     in(colour.success),
		Removed:   in(colour.danger),
		Reference: in(colour.reference),
		Markdown:  shown,
	}
}

// markdownTheme takes the colours of Markdown from those of the theme: all of
// them where the theme is a named one, else those that are the user's own.
func markdownTheme(name string, dark bool, colour colours, own map[string]string) layout.Theme {
	palette := layout.LightPalette()
	if dark {
		palette = layout.DarkPalette()
	}
	whole := name == "ansi" || name == "contrast"
	named := colour.byName()
	for name, meanings := range map[string][]*color.Color{
		"you": {&palette.Heading}, "warning": {&palette.Code, &palette.Number}, "brand": {&palette.Keyword}, "dim": {&palette.Quiet},
		"success": {&palette.String, &palette.Added}, "danger": {&palette.Removed}, "reference": {&palette.Link}, "running": {&palette.Citation},
	} {
		if own[name] != "" || whole {
			for _, meaning := range meanings {
				*meaning = *named[name]
			}
		}
	}
	return palette.Theme()
}

// IsDark reports which background a theme asks for by its name, or else
// what the terminal said.
func IsDark(name string, terminal bool) bool {
	switch name {
	case "dark":
		return true
	case "light":
		return false
	}
	return terminal
}

// AreaStyles is how text that is being written looks.
func AreaStyles(theme *Theme) textarea.Styles {
	styles := textarea.DefaultStyles(theme.Dark)
	for _, state := range []*textarea.StyleState{&styles.Focused, &styles.Blurred} {
		state.Base, state.Text, state.CursorLine, state.EndOfBuffer = theme.Text, theme.Text, theme.Text, theme.Text
		state.Placeholder, state.Prompt = theme.Dim, theme.Brand
	}
	styles.Cursor.Color = theme.Text.GetForeground()
	return styles
}
