package export

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/notes"
)

// Disarm returns markdown that loads nothing, runs nothing and has no link
// whose text hides its address: outside code, a blank or a backslash separates
// what would make a picture, a link, the definition of one or a tag, so that
// each shows as it was written. Code stays byte for byte.
func Disarm(markdown string) string {
	markdown = loneCR.Replace(markdown)
	if !slices.ContainsFunc(strings.Split(markdown, "\n\n"), tooCostly) {
		for range 4 { // what is no tag or link any more may free a backtick that was in it
			next := separate(markdown, codeBytes(markdown))
			if next == markdown {
				return markdown
			}
			markdown = next
		}
	}
	return separate(markdown, make([]bool, len(markdown)))
}

// loneCR makes a line end of a CR alone, which is one to most readers and not
// to goldmark.
var loneCR = strings.NewReplacer("\r\n", "\r\n", "\r", "\n")

// separate changes what is not code.
func separate(markdown string, code []bool) string {
	var b strings.Builder
	for i := 0; i < len(markdown); i++ {
		c, next := markdown[i], byte(' ')
		if i+1 < len(markdown) {
			next = markdown[i+1]
		}
		switch {
		case code[i]:
			b.WriteByte(c)
		case c == '\\' && util.IsPunct(next): // next is escaped already
			b.WriteString(markdown[i : i+2])
			i++
		case c == '<' && !util.IsSpace(next):
			b.WriteString(`\<`)
		case c == ']' && next == '(':
			b.WriteString("] ") // and no backslash: the address stays one to readers that make links of addresses
		case c == ']' && next == ':', c == '!' && next == '[':
			b.WriteByte(c)
			b.WriteByte('\\')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// codeBytes reports for each byte whether it is code to every reader: to those
// that know tables and bare addresses and those that don't, to those that know
// front matter and those that don't.
func codeBytes(markdown string) []bool {
	code := slices.Repeat([]bool{true}, len(markdown))
	body := 0
	for range notes.Parse(notes.Entry{Path: "note.md"}, []byte(markdown)).BodyLine - 1 {
		body += strings.IndexByte(markdown[body:], '\n') + 1
	}
	for _, from := range slices.Compact([]int{0, body}) {
		for _, reader := range []goldmark.Markdown{goldmark.New(), goldmark.New(goldmark.WithExtensions(extension.GFM))} {
			read := make([]bool, len(markdown))
			mark := func(s text.Segment) {
				for i := s.Start; i < s.Stop; i++ {
					read[from+i] = true
				}
			}
			_ = ast.Walk(reader.Parser().Parse(text.NewReader([]byte(markdown[from:]))), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
				if !entering {
					return ast.WalkContinue, nil
				}
				switch n := n.(type) {
				case *ast.CodeSpan:
					for c := n.FirstChild(); c != nil; c = c.NextSibling() {
						mark(c.(*ast.Text).Segment)
					}
				case *ast.FencedCodeBlock:
					if n.Info != nil {
						mark(n.Info.Segment)
					}
					for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
						mark(line)
					}
				case *ast.CodeBlock:
					for _, line := range n.Lines().Sliced(0, n.Lines().Len()) {
						mark(line)
					}
				}
				return ast.WalkContinue, nil
			})
			for i := range code {
				code[i] = code[i] && read[i]
			}
		}
	}
	return code
}

// tooCostly reports whether lines without a blank line between them would keep
// the parser busy for minutes: its time grows with the square of the marks of
// quotations and items in a line, and of the addresses begun in a paragraph.
func tooCostly(lines string) bool {
	if strings.Count(lines, "](") > 2000 {
		return true
	}
	for line := range strings.Lines(lines) {
		if len(line)-len(strings.TrimLeft(line, "> \t-*+.)0123456789")) > 10_000 {
			return true
		}
	}
	return false
}
