package agent

import (
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"lifehub/internal/pattern"
	"lifehub/internal/text"
)

const (
	titleLength = 60      // characters of a title
	titleOf     = 4 << 10 // bytes of a message that are looked at for one
)

// tag is one of HTML, or a comment; an address in angle brackets is none.
var tag = pattern.Lazy(`<!--[\s\S]*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)

// Title is what a conversation is called that begins with a message: its first
// line as plain text, cut at a word.
func Title(message string) string { return cutTitle(PlainLine(message)) }

// PlainLine is the first line of a message that says something, as plain text;
// "(empty)" where none does.
func PlainLine(message string) string {
	typed := ParseMessage(message).Text
	source := []byte(tag.ReplaceAllString(strings.ToValidUTF8(typed[:min(len(typed), titleOf)], ""), " "))
	var plain strings.Builder
	_ = ast.Walk(goldmark.DefaultParser().Parse(markdown.NewReader(source)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // none of its steps fails
		if !entering {
			if n.Type() == ast.TypeBlock {
				plain.WriteByte('\n')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			plain.Write(n.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				plain.WriteByte('\n')
			}
		case *ast.AutoLink:
			plain.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock, *ast.HTMLBlock:
			plain.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	for line := range strings.Lines(plain.String() + "\n" + string(source)) { // the source: where Markdown shows nothing, as of a link's definition
		if line = plainLine(line); line != "" {
			return line
		}
	}
	return "(empty)"
}

// plainLine leaves out what Markdown did not take for its own, half a pair of
// stars, and what no terminal should be given.
func plainLine(line string) string {
	return text.OneLine(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u200d' || strings.ContainsRune("*`", r):
			return -1
		}
		return r
	}, line))
}

func cutTitle(line string) string {
	runes := []rune(line)
	if len(runes) <= titleLength {
		return line
	}
	cut := string(runes[:titleLength-1])
	if space := strings.LastIndexByte(cut, ' '); space > len(cut)/2 {
		cut = cut[:space]
	}
	return cut + "…"
}
