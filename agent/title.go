package agent

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"lifehub/internal/text"
)

const (
	titleLength = 60      // characters
	titleOf     = 4 << 10 // bytes of a message that are searched for a title
)

// tag matches an HTML tag or comment, but not an address in angle brackets.
var tag = regexp.MustCompile(`<!--[\s\S]*?-->|</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)

// Title returns the title of a conversation that begins with message: its first
// line as plain text, cut at a word.
func Title(message string) string { return cutTitle(PlainLine(message)) }

// PlainLine returns the first line of a message with text, as plain text;
// "(empty)" if there is none.
func PlainLine(message string) string {
	typed := ParseMessage(message).Text
	source := []byte(tag.ReplaceAllString(strings.ToValidUTF8(typed[:min(len(typed), titleOf)], ""), " "))
	var plain strings.Builder
	// the walker never fails
	_ = ast.Walk(goldmark.DefaultParser().Parse(markdown.NewReader(source)),
		func(n ast.Node, entering bool) (ast.WalkStatus, error) {
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
	// It falls back to the source, as for a link definition, which Markdown does not show.
	for line := range strings.Lines(plain.String() + "\n" + string(source)) {
		if line = plainLine(line); line != "" {
			return line
		}
	}
	return "(empty)"
}

// plainLine removes unpaired Markdown markup and control characters.
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
