package draw

import (
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"lifehub/tui/safetext"
)

// highlightTime bounds the time to highlight code. Chroma's only own bound is 250 ms per match of a pattern.
const highlightTime = 250 * time.Millisecond

// tab is how a tab in code is shown.
const tab = "    "

// leastFrame is the width of the narrowest frame around code.
const leastFrame = 24

// framed draws a piece of fenced code in a frame with its language and number. Lines that are too long
// are cut: a copy has all of them.
func (d *Document) framed(b block, width int) (rows []string) {
	width = min(width, Readable)
	theme := &d.theme.Markdown
	border := func(parts ...string) string { return theme.Border.Paint(strings.Join(parts, "")) }
	label := ""
	if d.copied != "" {
		label = border(fmt.Sprintf(d.copied, b.fence.number))
	}
	if b.fence.first {
		rows = append(rows, Edge("╭", b.fence.info, label, "╮", width, border))
	}
	inside := width - BoxSides
	info := b.fence.info
	if b.open {
		info = "" // it has colours once it is whole
	}
	for _, line := range highlighted(info, b.text, theme) {
		line = Fit(line, inside, "›")
		rows = append(rows, border("│")+" "+line+strings.Repeat(" ", max(0, inside-Width(line)))+" "+border("│"))
	}
	if b.fence.last {
		rows = append(rows, Edge("╰", "", "", "╯", width, border))
	}
	return rows
}

// highlighted returns the lines of code, with its tokens in colour if chroma knows the language and is
// fast enough.
func highlighted(info, code string, theme *MarkdownTheme) []string {
	plain := strings.Split(safetext.Source(code), "\n")
	for i, line := range plain {
		plain[i] = safetext.Line(strings.ReplaceAll(line, "\t", tab))
	}
	language, _, _ := strings.Cut(strings.Trim(info, "{}. "), " ")
	if language == "" { // for which chroma would match the names of files
		return plain
	}
	lexer := lexers.Get(language)
	if lexer == nil {
		return plain
	}
	next, err := lexer.Tokenise(nil, strings.Join(plain, "\n"))
	if err != nil {
		return plain
	}
	lines, shown, end := []string{""}, 0, time.Now().Add(highlightTime)
	for t := next(); t != chroma.EOF; t = next() {
		if time.Now().After(end) {
			return plain
		}
		style := theme.Tokens[kindOf(t.Type)]
		for i, part := range strings.Split(t.Value, "\n") {
			if i > 0 {
				lines = append(lines, "")
			}
			shown += len(part)
			lines[len(lines)-1] += style.Paint(part)
		}
	}
	if shown != len(strings.Join(plain, "")) || len(lines) < len(plain) { // it was changed
		return plain
	}
	return lines[:len(plain)]
}

func kindOf(t chroma.TokenType) Token {
	switch {
	case t == chroma.GenericInserted:
		return TokenAdded
	case t == chroma.GenericDeleted:
		return TokenRemoved
	case t.InCategory(chroma.Comment), t == chroma.GenericSubheading:
		return TokenComment
	case t.InCategory(chroma.Keyword), t == chroma.NameTag:
		return TokenKeyword
	case t.InSubCategory(chroma.LiteralString):
		return TokenString
	case t.InSubCategory(chroma.LiteralNumber):
		return TokenNumber
	}
	return 0
}

// CodeBlocks returns the fenced code of an answer, also within lists and quotations, in the order of the
// numbers on its frames.
func CodeBlocks(source string) (blocks []string) {
	raw := []byte(strings.Join(cleaned(source), "\n"))
	_ = ast.Walk(answerGrammar.blocks.Parse(text.NewReader(raw)),
		func(node ast.Node, entering bool) (ast.WalkStatus, error) {
			if block, ok := node.(*ast.FencedCodeBlock); ok && entering {
				code := ""
				for _, line := range linesOf(block, raw) {
					code += line + "\n"
				}
				blocks = append(blocks, code)
			}
			return ast.WalkContinue, nil
		})
	return blocks
}
