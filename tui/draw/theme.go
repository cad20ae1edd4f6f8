package draw

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textarea"
	"charm.land/lipgloss/v2"
)

// Theme names styles by meaning; panels never use a colour directly.
type Theme struct {
	Text      lipgloss.Style
	Strong    lipgloss.Style
	Dim       lipgloss.Style // less important than text
	Border    lipgloss.Style
	Brand     lipgloss.Style
	You       lipgloss.Style // the user's own text
	Selected  lipgloss.Style // selected by the keys
	Key       lipgloss.Style
	Success   lipgloss.Style
	Warning   lipgloss.Style
	Danger    lipgloss.Style
	Running   lipgloss.Style
	Added     lipgloss.Style
	Removed   lipgloss.Style
	Reference lipgloss.Style // numbers and locations of sources
	Shade     lipgloss.Style // background of the user's text; none with few colours
	Ground    lipgloss.Style // background of the screen; none if the terminal's own suits

	Markdown MarkdownTheme
}

// byName returns the colours by the names that a user's theme has for them.
func (c *colours) byName() map[string]*string {
	return map[string]*string{
		"dim": &c.dim, "border": &c.border, "brand": &c.brand, "you": &c.you, "selected": &c.selected, "key": &c.key,
		"success": &c.success, "warning": &c.warning, "danger": &c.danger, "running": &c.running,
		"reference": &c.reference, "shade": &c.shade,
	}
}

// with replaces colours by those of a user's theme.
func (c colours) with(own map[string]string) colours {
	named := c.byName()
	for name, value := range own {
		if at := named[name]; at != nil {
			*at = value
		}
	}
	return c
}

// aColour matches a colour as a user writes it.
var aColour = regexp.MustCompile(`^(#[0-9a-fA-F]{6}|[0-9]|1[0-5])$`)

// CheckColours returns an error unless every colour of a user's theme has a known name
// and is #rrggbb or a colour of the terminal, 0 to 15.
func CheckColours(own map[string]string) error {
	known := (&colours{}).byName()
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if known[name] == nil {
			return fmt.Errorf("unknown colour %q; colours: %s", name,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
		if !aColour.MatchString(own[name]) {
			return fmt.Errorf("%s: invalid colour %q, use #7DD3FC or 0–15", name, own[name])
		}
	}
	return nil
}

// NewTheme returns the named theme. The variant of a theme, or the default theme
// for "auto" or an unknown name, depends on the background of the terminal. Without
// colours, the name has no effect.
func NewTheme(name string, dark, coloured bool, own map[string]string) *Theme {
	var c colours
	if coloured {
		c = schemeOf(name, dark).with(own)
	}
	return c.theme(schemeOf(name, dark).light, dark)
}

// theme derives the styles. light reports for which background the colours are, dark
// which one the terminal has; if they differ, the theme paints its own.
func (c colours) theme(light, dark bool) *Theme {
	plain := lipgloss.NewStyle()
	in := func(colour string) lipgloss.Style {
		if colour == "" {
			return plain
		}
		return plain.Foreground(lipgloss.Color(colour))
	}
	faint := func(colour string) lipgloss.Style {
		if colour == "" {
			return plain.Faint(true)
		}
		return in(colour)
	}
	shade, ground := plain, plain
	ink := lipgloss.Color("#EEEEEE")
	if light {
		ink = lipgloss.Color("#1C1C1C")
	}
	if c.shade != "" {
		shade = plain.Background(lipgloss.Color(c.shade)).Foreground(ink)
	}
	if c.background != "" && light == dark {
		ground = plain.Background(lipgloss.Color(c.background)).Foreground(ink)
	}
	return &Theme{
		Ground:    ground,
		Shade:     shade,
		Text:      plain,
		Strong:    plain.Bold(true),
		Dim:       faint(c.dim),
		Border:    faint(c.border),
		Brand:     in(c.brand).Bold(true),
		You:       in(c.you).Bold(true),
		Selected:  in(c.selected).Bold(true),
		Key:       in(c.key).Bold(true),
		Success:   in(c.success),
		Warning:   in(c.warning),
		Danger:    in(c.danger),
		Running:   in(c.running),
		Added:     in(c.success),
		Removed:   in(c.danger),
		Reference: in(c.reference),
		Markdown:  c.markdown(),
	}
}

// markdown derives the styles of Markdown and code from the colours. Without colours they are told apart by attributes.
func (c colours) markdown() MarkdownTheme {
	in := func(colour string, attributes Attributes) Style {
		if colour == "" {
			return Style{Attributes: attributes}
		}
		return Style{lipgloss.Color(colour), attributes}
	}
	faint := func(colour string) Style {
		if colour == "" {
			return Style{Attributes: Faint}
		}
		return in(colour, 0)
	}
	right, wrong, doubtful, quiet := in(c.success, 0), in(c.danger, 0), in(c.warning, 0), faint(c.dim)
	citation := in(c.running, Bold)
	return MarkdownTheme{
		Heading:  in(c.you, Bold),
		Title:    Style{Attributes: Underline},
		Strong:   Style{Attributes: Bold},
		Emphasis: Style{Attributes: Italic},
		Deleted:  Style{Attributes: Strike},
		Code:     in(c.warning, 0),
		Tokens: [...]Style{
			TokenKeyword: in(c.brand, 0), TokenString: right, TokenNumber: in(c.warning, 0),
			TokenComment: Style{Attributes: Italic}.Over(quiet), TokenAdded: right, TokenRemoved: wrong,
		},
		Link:     in(c.reference, Underline),
		Host:     quiet,
		Citation: citation,
		Verdicts: [...]Style{Unchecked: citation, Quoted: right, Wrong: wrong, Doubtful: doubtful},
		Math:     in(c.warning, Italic),
		Marker:   in(c.running, 0),
		Border:   faint(c.border),
		HTML:     quiet,
	}
}

// AreaStyles returns the styles of text input.
func AreaStyles(theme *Theme) textarea.Styles {
	styles := textarea.DefaultStyles(true)
	for _, state := range []*textarea.StyleState{&styles.Focused, &styles.Blurred} {
		state.Base, state.Text, state.CursorLine, state.EndOfBuffer = theme.Text, theme.Text, theme.Text, theme.Text
		state.Placeholder, state.Prompt = theme.Dim, theme.Brand
	}
	styles.Cursor.Color = theme.Text.GetForeground()
	return styles
}
