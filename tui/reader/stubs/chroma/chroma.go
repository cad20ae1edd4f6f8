// Package chroma has the names that glamour's code blocks use of chroma, and
// nothing behind them: code is highlighted by lifehub/tui/markdown. The real one
// reads 300 languages and 70 styles before main (6 ms, 5 MB of binary), and its
// backtracking patterns have no bound on untrusted text.
package chroma

// The names of glamour's styles.
const (
	Text = iota
	Error
	Comment
	CommentPreproc
	Keyword
	KeywordReserved
	KeywordNamespace
	KeywordType
	Operator
	Punctuation
	Name
	NameBuiltin
	NameTag
	NameAttribute
	NameClass
	NameConstant
	NameDecorator
	NameException
	NameFunction
	NameOther
	Literal
	LiteralNumber
	LiteralDate
	LiteralString
	LiteralStringEscape
	GenericDeleted
	GenericEmph
	GenericInserted
	GenericStrong
	GenericSubheading
	Background
)

// StyleEntries and Style are what a style is made of.
type (
	StyleEntries map[int]string
	Style        struct{}
)

// MustNewStyle returns nothing to draw with.
func MustNewStyle(string, StyleEntries) *Style { return &Style{} }
