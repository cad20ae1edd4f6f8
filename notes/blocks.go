package notes

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Block is a block of Markdown. The blocks of a text are a division of it: each is
// whole lines, up to the next one.
type Block struct {
	Start, End int // bytes of the text; there may be blank lines at the end
	Kind       BlockKind
	Level      int    // of a heading: 1 to 6
	Depth      int    // of a list item: 1 for the outermost; of another block: that of the item it is in, 0: none
	Header     string // of a table, the row above its rule; of code, the line that opens it; else ""
}

// BlockKind is the kind of a block.
type BlockKind int

// The kinds of blocks.
const (
	TextBlock    BlockKind = iota
	HeadingBlock           // not of a list item or a quotation
	ItemBlock              // the text of a list item, without the blocks below it
	QuoteBlock
	CodeBlock
	TableBlock
)

// tableRule matches the line below the header of a table.
var tableRule = regexp.MustCompile(`^\s*(?:\|\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?|:?-+:?\s*(?:\|\s*:?-+:?\s*)+\|?)\s*$`)

// Blocks returns the blocks of Markdown in order. A text that is nested too deep is one
// block.
func Blocks(markdown string) []Block {
	if strings.TrimSpace(markdown) == "" {
		return nil
	}
	w := blockList{source: markdown}
	if !overNested(markdown) {
		w.add(blockParser.Parse(text.NewReader([]byte(markdown))), 0)
	}
	if len(w.all) == 0 {
		w.all = []Block{{}}
	}
	w.all[0].Start = 0
	for i := range w.all {
		w.all[i].End = len(markdown)
		if i+1 < len(w.all) {
			w.all[i].End = w.all[i+1].Start
		}
	}
	return w.all
}

type blockList struct {
	source string
	all    []Block
}

// add adds the blocks in a node.
func (w *blockList) add(parent ast.Node, depth int) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		b := Block{Start: node.Pos(), Depth: depth}
		switch node := node.(type) {
		case *ast.List:
			w.add(node, depth)
			continue
		case *ast.ListItem:
			b.Kind, b.Depth = ItemBlock, depth+1
			w.start(b)
			w.add(node, depth+1)
			continue
		case *ast.Heading:
			// A rule below several lines is a heading in CommonMark, and hardly ever meant as one.
			if depth == 0 && node.Lines().Len() < 2 {
				b.Kind, b.Level = HeadingBlock, node.Level
			}
		case *ast.Blockquote:
			b.Kind = QuoteBlock
			w.start(b)
			w.code(node, depth)
			continue
		case *ast.FencedCodeBlock:
			w.fence(b)
			continue
		case *ast.CodeBlock:
			b.Kind = CodeBlock
		case *ast.Paragraph, *ast.TextBlock:
			w.start(b)
			w.tables(node, depth)
			continue
		}
		w.start(b)
	}
}

// code begins the code in a quotation, and what follows it.
func (w *blockList) code(quote ast.Node, depth int) {
	for node := quote.FirstChild(); node != nil; node = node.NextSibling() {
		b := Block{Start: node.Pos(), Kind: QuoteBlock, Depth: depth}
		if _, is := node.(*ast.FencedCodeBlock); is {
			w.fence(b)
		} else if last := len(w.all) - 1; last >= 0 && w.all[last].Kind == CodeBlock {
			w.start(b)
		}
	}
}

// fence begins fenced code, whose header is its first line, with the marks of a quotation before it.
func (w *blockList) fence(b Block) {
	if b.Start < 0 || b.Start >= len(w.source) {
		return
	}
	b.Kind = CodeBlock
	line := 1 + strings.LastIndexByte(w.source[:b.Start], '\n')
	b.Header = strings.TrimSpace(w.line(b.Start))
	if marks := w.source[line:b.Start]; strings.Contains(marks, ">") {
		b.Header = strings.TrimLeft(marks, " \t") + b.Header
	}
	// A quotation that begins with its code is that code.
	if last := len(w.all) - 1; last >= 0 && w.all[last].Start == line && w.all[last].Kind == QuoteBlock {
		w.all = w.all[:last]
	}
	w.start(b)
}

// start begins a block on the line of its start, unless another begins there.
func (w *blockList) start(b Block) {
	if b.Start < 0 {
		return
	}
	b.Start = 1 + strings.LastIndexByte(w.source[:min(b.Start, len(w.source))], '\n')
	if last := len(w.all) - 1; last < 0 || w.all[last].Start < b.Start {
		w.all = append(w.all, b)
	}
}

// tables begins the table in a paragraph: the line above a rule, if both have cells.
func (w *blockList) tables(node ast.Node, depth int) {
	lines := node.Lines()
	for i := 1; i < lines.Len(); i++ {
		above, rule := lines.At(i-1), lines.At(i)
		header := strings.TrimSpace(w.source[above.Start:above.Stop])
		if strings.Contains(header, "|") && tableRule.MatchString(w.source[rule.Start:rule.Stop]) {
			b := Block{Start: above.Start, Kind: TableBlock, Depth: depth, Header: header}
			if last := len(w.all) - 1; i == 1 && last >= 0 && w.all[last].Kind == TextBlock {
				w.all = w.all[:last] // the paragraph is nothing but the table
			}
			w.start(b)
			return
		}
	}
}

// line returns the rest of the line at an offset.
func (w *blockList) line(at int) string {
	line, _, _ := strings.Cut(w.source[at:], "\n")
	return line
}
