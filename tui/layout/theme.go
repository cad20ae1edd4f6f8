package layout

import (
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Style is the appearance of a piece of text. The zero Style is plain.
type Style struct {
	Foreground color.Color // nil for the terminal's own
	Attributes Attributes
}

// Attributes is a set of text attributes.
type Attributes uint8

const (
	Bold Attributes = 1 << iota
	Faint
	Italic
	Underline
	Strike
)

// Over returns s with unset properties taken from base.
func (s Style) Over(base Style) Style {
	if s.Foreground == nil {
		s.Foreground = base.Foreground
	}
	s.Attributes |= base.Attributes
	return s
}

// sequence returns the SGR sequence that turns s on, or "" for plain text.
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

// Token is the kind of a piece of code.
type Token int

const (
	_ Token = iota
	Keyword
	String
	Number
	Comment
	Added
	Removed
)

// Theme assigns a style to each element of Markdown.
type Theme struct {
	Heading    Style // all levels
	Title      Style // heading of level 1, over Heading
	Strong     Style
	Emphasis   Style
	Deleted    Style
	Code       Style              // inline
	Tokens     [Removed + 1]Style // in highlighted code
	Link       Style
	Host       Style // host of a link, after its text
	Citation   Style // [1]
	Verdicts   [Doubtful + 1]Style
	Math       Style
	Quote      Style // text of a quotation
	Marker     Style // bullets, numbers, check boxes
	Border     Style // rules, table borders, quotation bars
	TableHead  Style
	Image      Style
	HTML       Style // tags, shown as written
	Hyperlinks bool  // emit terminal hyperlinks (OSC 8)
}

// Verdict is what was found out about a citation.
type Verdict int

const (
	Unchecked Verdict = iota
	Quoted            // its words are in the source
	Wrong             // they are not
	Doubtful          // they are, but something changes their meaning
)

// Palette holds the colours of a theme. The zero Palette distinguishes everything without colours.
type Palette struct {
	Heading, Code, Keyword, String, Number, Quiet, Border, Link, Citation color.Color
	Added, Removed                                                        color.Color // lines of a diff; what is right and wrong
	Doubtful                                                              color.Color
}

// Theme returns a theme in these colours.
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
		Verdicts:   [...]Style{Unchecked: {p.Citation, Bold}, Quoted: {Foreground: p.Added}, Wrong: {Foreground: p.Removed}, Doubtful: {Foreground: p.Doubtful}},
		Math:       Style{p.Code, Italic},
		Quote:      Style{},
		Marker:     Style{Foreground: p.Citation},
		Border:     faint(p.Border),
		TableHead:  Style{Attributes: Bold},
		Image:      Style{p.Link, Italic},
		HTML:       quiet,
		Hyperlinks: true,
	}
}
