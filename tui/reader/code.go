package reader

import (
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters"
	"github.com/charmbracelet/x/ansi"

	"lifehub/tui/layout"
)

// formatter is the name under which mark is registered with chroma.
const formatter = "lifehub"

func init() { formatters.Register(formatter, chroma.FormatterFunc(mark)) }

// token precedes the number of a [layout.Token] in a mark.
const token = "="

// soon bounds the time to highlight code. Chroma's only own bound is 250 ms per match of a pattern.
const soon = 250 * time.Millisecond

var errSlow = errors.New("reading this code takes too long")

// mark writes code with marks around its tokens. They are replaced by styles when rows are drawn.
func mark(w io.Writer, _ *chroma.Style, next chroma.Iterator) error {
	end := time.Now().Add(soon)
	for t := next(); t != chroma.EOF; t = next() {
		if time.Now().After(end) {
			return errSlow
		}
		value := t.Value
		if kind := kindOf(t.Type); kind > 0 {
			value = ansi.SetHyperlink(token+strconv.Itoa(int(kind))) + value + ansi.ResetHyperlink()
		}
		if _, err := io.WriteString(w, value); err != nil {
			return err //nolint:wrapcheck // chroma's caller says what failed
		}
	}
	return nil
}

func kindOf(t chroma.TokenType) layout.Token {
	switch {
	case t == chroma.GenericInserted:
		return layout.Added
	case t == chroma.GenericDeleted:
		return layout.Removed
	case t.InCategory(chroma.Comment), t == chroma.GenericSubheading:
		return layout.Comment
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return layout.Keyword
	case t.InSubCategory(chroma.LiteralString):
		return layout.String
	case t.InSubCategory(chroma.LiteralNumber):
		return layout.Number
	}
	return 0
}
