package layout

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Style is how a piece of text looks. The zero Style is plain.
type Style struct {
	Foreground color.Color // nil: the terminal's own
	Attributes Attributes
}

// Attributes are a set of what a terminal does to letters.
type Attributes uint8

const (
	Bold Attributes = 1 << iota
	Faint
	Italic
	Underline
	Strike
)

// Over returns s with what it leaves open filled in from base.
func (s Style) Over(base Style) Style {
	if s.Foreground == nil {
		s.Foreground = base.Foreground
	}
	s.Attributes |= base.Attributes
	return s
}

// sequence returns the SGR sequence that turns s on, "" for plain text.
func (s Style) sequence() string {
	var codes ansi.Style
	for i, code := range [...]string{"1", "2", "3", "4", "9"} {
		if s.Attributes>>i&1 == 1 {
			codes = append(codes, code)
		}
	}
	sequence := ""
	if codes != nil {
		sequence = codes.String()
	}
	if s.Foreground != nil {
		sequence += ansi.NewStyle().ForegroundColor(s.Foreground).String()
	}
	return sequence
}

// Paint returns text in style s.
func (s Style) Paint(text string) string {
	if s == (Style{}) || text == "" {
		return text
	}
	return s.sequence() + text + "\x1b[m"
}

// Theme gives each meaning in Markdown its look.
type Theme struct {
	Heading    Style // all levels
	Title      Style // the heading of level 1, over Heading
	Strong     Style
	Emphasis   Style
	Deleted    Style
	Code       Style              // in a line of text
	Tokens     [Removed + 1]Style // highlighting
	Link       Style
	Host       Style // where a link leads, after its text
	Citation   Style // [1]
	Math       Style
	Quote      Style // the text of a quotation
	Marker     Style // bullets, numbers, check boxes
	Border     Style // rules, the lines of a table, the bar of a quotation
	TableHead  Style
	Image      Style
	HTML       Style // tags, shown as they are written
	Hyperlinks bool  // make links for the terminal to open (OSC 8)
}

// Palette holds the colours a theme is made of. The zero Palette tells
// everything apart without a colour.
type Palette struct {
	Heading, Code, Keyword, String, Number, Quiet, Border, Link, Citation color.Color
	Added, Removed                                                        color.Color // the lines of a difference
}

// Theme gives each meaning its look in these colours.
func (p Palette) Theme() Theme {
	faint := func(c color.Color) Style {
		if c == nil {
			return Style{Attributes: Faint}
		}
		return Style{Foreground: c}
	}
	quiet := faint(p.Quiet)
	return Theme{
		Heading:  Style{p.Heading, Bold},
		Title:    Style{Attributes: Underline},
		Strong:   Style{Attributes: Bold},
		Emphasis: Style{Attributes: Italic},
		Deleted:  Style{Attributes: Strike},
		Code:     Style{Foreground: p.Code},
		Tokens: [...]Style{
			Keyword: {Foreground: p.Keyword}, String: {Foreground: p.String}, Number: {Foreground: p.Number},
			Comment: Style{Attributes: Italic}.Over(quiet), Added: {Foreground: p.Added}, Removed: {Foreground: p.Removed},
		},
		Link:       Style{p.Link, Underline},
		Host:       quiet,
		Citation:   Style{p.Citation, Bold},
		Math:       Style{p.Code, Italic},
		Quote:      Style{Attributes: Italic},
		Marker:     Style{Foreground: p.Citation},
		Border:     faint(p.Border),
		TableHead:  Style{Attributes: Bold},
		Image:      Style{p.Link, Italic},
		HTML:       quiet,
		Hyperlinks: true,
	}
}
