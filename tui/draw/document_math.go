package draw

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// LaTeX is drawn as it is written: in it, a backslash is a command, and not an escape of Markdown.

// mathMarks are the marks around LaTeX.
var mathMarks = [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}}

// maxMath bounds a formula in a line, in bytes; $ is more often money.
const maxMath = 2000

// marksOf returns the marks of the formula with which a text may begin.
func marksOf(line []byte) (marks [2]string, ok bool) {
	for _, marks := range mathMarks {
		if bytes.HasPrefix(line, []byte(marks[0])) {
			return marks, true
		}
	}
	return [2]string{}, false
}

// mathInline parses a formula in a line.
type mathInline struct{}

func (mathInline) Trigger() []byte { return []byte{'$', '\\'} }

func (mathInline) Parse(_ ast.Node, reader text.Reader, _ parser.Context) ast.Node {
	line, _ := reader.PeekLine()
	marks, ok := marksOf(line)
	if !ok {
		return nil
	}
	from := len(marks[0])
	within := line[from:min(len(line), maxMath)]
	size := bytes.Index(within, []byte(marks[1]))
	if size <= 0 {
		return nil
	}
	after := from + size + len(marks[1])
	switch marks[0] {
	case "$":
		spaced := within[0] == ' ' || within[size-1] == ' '
		beforeDigit := after < len(line) && '0' <= line[after] && line[after] <= '9'
		if spaced || beforeDigit || within[size-1] == '\\' { // it is money
			return nil
		}
	case `\[`: // in a line with other text it is a bracket
		if reader.PrecendingCharacter() != '\n' || len(bytes.TrimSpace(line[after:])) > 0 {
			return nil
		}
	}
	reader.Advance(after)
	return ast.NewString(line[:after]) // not a text, to which goldmark would add what follows
}

// mathBlock parses a formula of several lines, which begins on a line of its own, and ends with its mark or
// before a blank line. It looks no further ahead, since a formula may still be arriving.
type mathBlock struct{}

func (mathBlock) Trigger() []byte { return []byte{'$', '\\'} }

func (mathBlock) Open(_ ast.Node, reader text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	marks, ok := marksOf(bytes.TrimLeft(line, " "))
	written := bytes.TrimSpace(line)
	bracket := marks[0] == `\[` && len(written) > len(marks[0]) // escaped, and not the beginning of a formula
	if !ok || marks[0] == "$" || marks[0] == `\(` || bracket || bytes.Contains(written[2:], []byte(marks[1])) {
		return nil, parser.NoChildren
	}
	node := ast.NewCodeBlock()
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return node, parser.NoChildren
}

func (mathBlock) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	first, last := node.Lines().At(0), node.Lines().At(node.Lines().Len()-1)
	source := reader.Source()
	marks, _ := marksOf(bytes.TrimLeft(first.Value(source), " "))
	if last.Start != first.Start && bytes.Contains(last.Value(source), []byte(marks[1])) {
		return parser.Close
	}
	line, segment := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Close
	}
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (mathBlock) Close(ast.Node, text.Reader, parser.Context) {}

func (mathBlock) CanInterruptParagraph() bool { return true }

func (mathBlock) CanAcceptIndentedLine() bool { return false }
