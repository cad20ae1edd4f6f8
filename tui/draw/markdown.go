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
	Heading  Style // all levels
	Title    Style // heading of level 1, over Heading
	Strong   Style
	Emphasis Style
	Deleted  Style
	Code     Style                   // inline
	Tokens   [TokenRemoved + 1]Style // in highlighted code
	Link     Style
	Host     Style // host of a link, after its text
	Citation Style // [1]
	Verdicts [Doubtful + 1]Style
	Math     Style
	Marker   Style // bullets, numbers, check boxes
	Border   Style // rules, table borders, quotation bars
	HTML     Style // tags, shown as written
}

// Verdict is what was found out about a citation.
type Verdict int

const (
	Unchecked Verdict = iota
	Quoted            // its words are in the source
	Wrong             // they are not
	Doubtful          // they are, but something changes their meaning
)
