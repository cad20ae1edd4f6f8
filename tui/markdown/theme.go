package markdown

import (
	"image/color"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Style is how a piece of text looks. The zero Style is plain.
type Style struct {
	Foreground color.Color // nil: the terminal's own
	Bold       bool
	Faint      bool
	Italic     bool
	Underline  bool
	Strike     bool
}

// over returns s with what it leaves open filled in from base.
func (s Style) over(base Style) Style {
	if s.Foreground == nil {
		s.Foreground = base.Foreground
	}
	s.Bold = s.Bold || base.Bold
	s.Faint = s.Faint || base.Faint
	s.Italic = s.Italic || base.Italic
	s.Underline = s.Underline || base.Underline
	s.Strike = s.Strike || base.Strike
	return s
}

// sequence returns the SGR sequence that turns s on, "" for plain text.
func (s Style) sequence() string {
	if s == (Style{}) {
		return ""
	}
	var codes []string
	for i, on := range [...]bool{s.Bold, s.Faint, s.Italic, s.Underline} {
		if on {
			codes = append(codes, strconv.Itoa(i+1))
		}
	}
	if s.Strike {
		codes = append(codes, "9")
	}
	sgr := ""
	if len(codes) > 0 {
		sgr = "\x1b[" + strings.Join(codes, ";") + "m"
	}
	if s.Foreground != nil {
		sgr += ansi.NewStyle().ForegroundColor(s.Foreground).String()
	}
	return sgr
}

// Theme gives each meaning in Markdown its look.
type Theme struct {
	Text       Style
	Heading    Style // all levels
	Title      Style // the heading of level 1, over Heading
	Strong     Style
	Emphasis   Style
	Deleted    Style
	Code       Style // in a line of text
	Block      Style // a code block
	Keyword    Style // the rest is highlighting, over Block
	String     Style
	Number     Style
	Comment    Style
	Added      Style // a line of a difference
	Removed    Style
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

// Dark is the theme for a dark background.
func Dark() Theme { return DarkPalette().Theme() }

// DarkPalette holds the colours for a dark background.
func DarkPalette() Palette {
	return Palette{
		Heading: ansi.IndexedColor(117), Code: ansi.IndexedColor(216), Keyword: ansi.IndexedColor(176), String: ansi.IndexedColor(150),
		Number: ansi.IndexedColor(179), Quiet: ansi.IndexedColor(245), Link: ansi.IndexedColor(111), Citation: ansi.IndexedColor(80),
		Added: ansi.IndexedColor(114), Removed: ansi.IndexedColor(210),
	}
}

// LightPalette holds the colours for a light background.
func LightPalette() Palette {
	return Palette{
		Heading: ansi.IndexedColor(25), Code: ansi.IndexedColor(130), Keyword: ansi.IndexedColor(90), String: ansi.IndexedColor(28),
		Number: ansi.IndexedColor(94), Quiet: ansi.IndexedColor(243), Link: ansi.IndexedColor(26), Citation: ansi.IndexedColor(30),
		Added: ansi.IndexedColor(28), Removed: ansi.IndexedColor(124),
	}
}

// Light is the theme for a light background.
func Light() Theme { return LightPalette().Theme() }

// NoColor is the theme that tells everything apart without a colour.
func NoColor() Theme { return Palette{}.Theme() }

// Palette holds the colours a theme is made of. The zero Palette tells
// everything apart without a colour.
type Palette struct {
	Heading, Code, Keyword, String, Number, Quiet, Link, Citation color.Color
	Added, Removed                                                color.Color // the lines of a difference
}

// Theme gives each meaning its look in these colours.
func (p Palette) Theme() Theme {
	quiet := Style{Foreground: p.Quiet, Faint: p.Quiet == nil}
	return Theme{
		Heading:    Style{Foreground: p.Heading, Bold: true},
		Title:      Style{Underline: true},
		Strong:     Style{Bold: true},
		Emphasis:   Style{Italic: true},
		Deleted:    Style{Strike: true},
		Code:       Style{Foreground: p.Code},
		Keyword:    Style{Foreground: p.Keyword},
		String:     Style{Foreground: p.String},
		Number:     Style{Foreground: p.Number},
		Comment:    Style{Foreground: p.Quiet, Italic: true, Faint: p.Quiet == nil},
		Added:      Style{Foreground: p.Added},
		Removed:    Style{Foreground: p.Removed},
		Link:       Style{Foreground: p.Link, Underline: true},
		Host:       quiet,
		Citation:   Style{Foreground: p.Citation, Bold: true},
		Math:       Style{Foreground: p.Code, Italic: true},
		Quote:      Style{Italic: true},
		Marker:     Style{Foreground: p.Citation},
		Border:     quiet,
		TableHead:  Style{Bold: true},
		Image:      Style{Foreground: p.Link, Italic: true},
		HTML:       quiet,
		Hyperlinks: true,
	}
}
