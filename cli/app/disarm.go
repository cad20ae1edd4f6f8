package app

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

// Disarm returns markdown that loads and runs nothing and has no link whose text hides its address.
// Outside code, it inserts a space or a backslash into each image, link, link definition and tag,
// so that they show as written. Code stays byte for byte.
func Disarm(markdown string) string {
	markdown = loneCR.Replace(markdown)
	if !slices.ContainsFunc(strings.Split(markdown, "\n\n"), tooCostly) {
		for range 4 { // defusing a tag or link may free a backtick inside it, so repeat
			next := separate(markdown, codeBytes(markdown))
			if next == markdown {
				return markdown
			}
			markdown = next
		}
	}
	return separate(markdown, make([]bool, len(markdown)))
}

// loneCR replaces a CR without LF by LF, because most renderers, but not goldmark, treat it as the
// end of a line.
var loneCR = strings.NewReplacer("\r\n", "\r\n", "\r", "\n")

// separate defuses what is not code.
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
		case c == '\\' && util.IsPunct(next): // next is escaped
			b.WriteString(markdown[i : i+2])
			i++
		case c == '<' && !util.IsSpace(next):
			b.WriteString(`\<`)
		case c == ']' && next == '(':
			// not a backslash, which would become part of an address that a renderer links automatically
			b.WriteString("] ")
		case c == ']' && next == ':', c == '!' && next == '[':
			b.WriteByte(c)
			b.WriteByte('\\')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// codeBytes reports for each byte whether it is code in every dialect: with and without the GitHub
// extensions, and with and without front matter.
func codeBytes(markdown string) []bool {
	code := slices.Repeat([]bool{true}, len(markdown))
	body := 0
	for range notes.Parse(notes.Entry{Path: "note.md"}, []byte(markdown)).BodyLine - 1 {
		body += strings.IndexByte(markdown[body:], '\n') + 1
	}
	for _, from := range slices.Compact([]int{0, body}) {
		for _, reader := range []goldmark.Markdown{
			goldmark.New(),
			goldmark.New(goldmark.WithExtensions(extension.GFM)),
		} {
			read := make([]bool, len(markdown))
			mark := func(s text.Segment) {
				for i := s.Start; i < s.Stop; i++ {
					read[from+i] = true
				}
			}
			_ = ast.Walk(reader.Parser().Parse(text.NewReader([]byte(markdown[from:]))),
				func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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

// tooCostly reports whether a paragraph would keep the parser busy for minutes. Its time grows with
// the square of the quotation and list markers in a line, and of the links in a paragraph.
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
