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
func Dark() Theme {
	return theme(palette{
		heading: ansi.IndexedColor(117), code: ansi.IndexedColor(216), keyword: ansi.IndexedColor(176), text: ansi.IndexedColor(150),
		number: ansi.IndexedColor(179), quiet: ansi.IndexedColor(245), link: ansi.IndexedColor(111), citation: ansi.IndexedColor(80),
	})
}

// Light is the theme for a light background.
func Light() Theme {
	return theme(palette{
		heading: ansi.IndexedColor(25), code: ansi.IndexedColor(130), keyword: ansi.IndexedColor(90), text: ansi.IndexedColor(28),
		number: ansi.IndexedColor(94), quiet: ansi.IndexedColor(243), link: ansi.IndexedColor(26), citation: ansi.IndexedColor(30),
	})
}

// NoColor is the theme that tells everything apart without a colour.
func NoColor() Theme { return theme(palette{}) }

// palette holds the colours a theme is made of.
type palette struct {
	heading, code, keyword, text, number, quiet, link, citation color.Color
}

func theme(p palette) Theme {
	quiet := Style{Foreground: p.quiet, Faint: p.quiet == nil}
	return Theme{
		Heading:    Style{Foreground: p.heading, Bold: true},
		Title:      Style{Underline: true},
		Strong:     Style{Bold: true},
		Emphasis:   Style{Italic: true},
		Deleted:    Style{Strike: true},
		Code:       Style{Foreground: p.code},
		Keyword:    Style{Foreground: p.keyword},
		String:     Style{Foreground: p.text},
		Number:     Style{Foreground: p.number},
		Comment:    Style{Foreground: p.quiet, Italic: true, Faint: p.quiet == nil},
		Link:       Style{Foreground: p.link, Underline: true},
		Host:       quiet,
		Citation:   Style{Foreground: p.citation, Bold: true},
		Math:       Style{Foreground: p.code, Italic: true},
		Quote:      Style{Italic: true},
		Marker:     Style{Foreground: p.citation},
		Border:     quiet,
		TableHead:  Style{Bold: true},
		Image:      Style{Foreground: p.link, Italic: true},
		HTML:       quiet,
		Hyperlinks: true,
	}
}
