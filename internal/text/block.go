package text

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
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

// Prose reports whether the words of the block are its author's: it is no quotation and no code.
func (k BlockKind) Prose() bool { return k != QuoteBlock && k != CodeBlock }

// ruleLine matches a thematic break, or the line below a heading.
var ruleLine = regexp.MustCompile(`^\s*(?:[-*_=]\s*){3,}$`)

// States of tasks that are words, as alternatives of a pattern. Those of Logseq come first, then more of Org.
const (
	LogseqStates = `TODO|DOING|NOW|LATER|WAITING|WAIT|STARTED|IN-PROGRESS|DONE|CANCELED|CANCELLED`
	TaskStates   = LogseqStates + `|NEXT|HOLD`
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
	if tree := BlockTree(markdown); tree != nil {
		w.add(tree, 0)
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

// Parts returns the blocks of Markdown that say something, trimmed to it: code without its fences, text without
// rules, and each row of a table as a block, also of one that has lost its header.
func Parts(markdown string) (parts []Block) {
	for _, b := range Blocks(markdown) {
		part := b
		part.End = b.Start
		end := func(at int) {
			if part.Start < part.End {
				parts = append(parts, part)
			}
			part.Start, part.End = at, at
		}
		fence := fenceOf(b.Header)
		for start := b.Start; start < b.End; {
			line, _, _ := strings.Cut(markdown[start:b.End], "\n")
			next := min(b.End, start+len(line)+1)
			switch bare := strings.Trim(line, "> \t"); {
			case b.Kind == CodeBlock && fence != "" && strings.HasPrefix(bare, fence) &&
				(start == b.Start || strings.Trim(bare, fence[:1]) == ""),
				b.Kind != CodeBlock && (bare == "" || ruleLine.MatchString(line)):
				end(next)
			case b.Kind.Prose() && strings.HasPrefix(bare, "|"), b.Kind == TableBlock:
				end(start)
				part.End = start + len(line)
				end(next)
			default:
				part.End = start + len(line)
			}
			start = next
		}
		end(b.End)
	}
	return parts
}

// fenceOf returns the marks of the line that opens code.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, "> \t")
	if line == "" {
		return ""
	}
	return line[:len(line)-len(strings.TrimLeft(line, line[:1]))]
}

// blockParser finds headings, lists, code and other blocks. It has no inline parsers: wikilinks and tags are not
// CommonMark, and package notes finds them in linear time for any input.
var blockParser = parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))

// BlockTree parses the blocks of Markdown. It is nil for a text that is nested too deep.
func BlockTree(markdown string) ast.Node {
	if overNested(markdown) {
		return nil
	}
	return blockParser.Parse(text.NewReader([]byte(markdown)))
}

// maxNesting bounds the nesting of quotes and lists. No person nests this deep,
// and the time and stack space of parsing grow with depth.
const maxNesting = 50

// maxIndent is the indentation of a list item at that depth, in columns.
const maxIndent = 4 * maxNesting

// overNested reports whether any line is nested deeper than maxNesting, as a
// quote or list on one line or by its indentation.
func overNested(body string) bool {
	for line := range strings.Lines(body) {
		depth, columns := 0, 0
	markers:
		for i := 0; i+1 < len(line); i++ {
			switch c := line[i]; {
			case c == '>':
				depth++
			case c == ' ', '0' <= c && c <= '9':
				columns++
			case c == '\t':
				columns += 4
			case strings.IndexByte("-+*.)", c) >= 0 && (line[i+1] == ' ' || line[i+1] == '\t'):
				depth++
				if columns > maxIndent {
					return true
				}
			default:
				break markers
			}
		}
		if depth > maxNesting {
			return true
		}
	}
	return false
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
