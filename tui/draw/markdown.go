package draw

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
	TokenKeyword
	TokenString
	TokenNumber
	TokenComment
	TokenAdded
	TokenRemoved
)

// MarkdownTheme assigns a style to each element of Markdown.
type MarkdownTheme struct {
	Heading    Style // all levels
	Title      Style // heading of level 1, over Heading
	Strong     Style
	Emphasis   Style
	Deleted    Style
	Code       Style                   // inline
	Tokens     [TokenRemoved + 1]Style // in highlighted code
	Link       Style
	Host       Style // host of a link, after its text
	Citation   Style // [1]
	Verdicts   [Doubtful + 1]Style
	Math       Style
	Quote      Style // text of a quotation
	Marker     Style // bullets, numbers, check boxes
	Border     Style // rules, table borders, quotation bars
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

// palette holds the colours of a theme. The zero palette distinguishes everything without colours.
type palette struct {
	Heading, Code, Keyword, String, Number, Quiet, Border, Link, Citation color.Color
	// lines of a diff; what is right and wrong
	Added, Removed color.Color
	Doubtful       color.Color
}

// theme returns a theme in these colours.
func (p palette) theme() MarkdownTheme {
	faint := func(c color.Color) Style {
		if c == nil {
			return Style{Attributes: Faint}
		}
		return Style{Foreground: c}
	}
	quiet := faint(p.Quiet)
	return MarkdownTheme{
		Heading:  Style{p.Heading, Bold},
		Title:    Style{Attributes: Underline},
		Strong:   Style{Attributes: Bold},
		Emphasis: Style{Attributes: Italic},
		Deleted:  Style{Attributes: Strike},
		Code:     Style{Foreground: p.Code},
		Tokens: [...]Style{
			TokenKeyword: {Foreground: p.Keyword}, TokenString: {Foreground: p.String},
			TokenNumber:  {Foreground: p.Number},
			TokenComment: Style{Attributes: Italic}.Over(quiet), TokenAdded: {Foreground: p.Added},
			TokenRemoved: {Foreground: p.Removed},
		},
		Link:     Style{p.Link, Underline},
		Host:     quiet,
		Citation: Style{p.Citation, Bold},
		Verdicts: [...]Style{
			Unchecked: {p.Citation, Bold}, Quoted: {Foreground: p.Added},
			Wrong: {Foreground: p.Removed}, Doubtful: {Foreground: p.Doubtful},
		},
		Math:       Style{p.Code, Italic},
		Quote:      Style{},
		Marker:     Style{Foreground: p.Citation},
		Border:     faint(p.Border),
		HTML:       quiet,
		Hyperlinks: true,
	}
}
