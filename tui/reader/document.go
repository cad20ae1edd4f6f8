// Package reader draws a complete Markdown document, a note or a saved answer, with glamour. It
// draws one top-level block at a time, so that only visible blocks are drawn and each row of the
// screen belongs to known lines of the source.
//
// Start at [Parse] and [Document.Draw]. Text is cleaned and split into blocks (document.go), each
// block is prepared for glamour (tree.go), and glamour's output is filtered and wrapped (draw.go).
package reader

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/tui/draw"
	"lifehub/tui/safetext"
)

// Document is a text parsed into blocks. It is not safe for concurrent use.
type Document struct {
	Lines  int // of the source
	blocks []block
	refs   []parser.Reference

	theme *draw.Theme
	width int
	drawn map[int]Drawn
}

// block is a part of a document that is drawn separately: a heading, a paragraph, a table, an item
// of a list.
type block struct {
	kind   kind
	text   string
	line   int    // first line in the source, from 1
	info   string // language of code
	number int    // of an item of a numbered list
	tight  bool   // no blank row above it
}

type kind int

const (
	markdown kind = iota
	code
	front // front matter
)

const (
	// maxNesting bounds the nesting of quotes and lists when parsing, and maxDepth when drawing
	// with glamour, because the time of both grows with it.
	maxNesting, maxDepth = 50, 8
	// maxFront bounds front matter, in lines.
	maxFront = 500
	// What glamour draws at once, so that no key has to wait: lines of code, and bytes of other
	// blocks.
	maxCode, maxBytes = 50, 16 << 10
)

// blockParser parses headings, lists, code and other blocks. Inline syntax is parsed when a block
// is drawn.
var blockParser = parser.NewParser(
	parser.WithBlockParsers(append(parser.DefaultBlockParsers(), util.Prioritized(mathBlock{}, 150))...),
	parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)),
)

// Parse parses Markdown from an untrusted source into blocks.
func Parse(source string) *Document {
	lines := strings.Split(source, "\n")
	for i, line := range lines { // separately, so that a line remains one line whatever it contains
		lines[i] = strings.ReplaceAll(strings.TrimSuffix(safetext.Source(line), "\n"), "\n", " ")
		if strings.HasPrefix(strings.TrimLeft(lines[i], " "), "[^") { // a footnote is not a link definition
			lines[i] = strings.Replace(lines[i], "[^", `\[^`, 1)
		}
	}
	d := &Document{Lines: len(lines)}
	if lines[len(lines)-1] == "" {
		d.Lines--
	}
	body := d.readFront(lines)
	head := len(d.blocks)
	defer func() {
		if recover() != nil {
			d.blocks = d.blocks[:head]
			d.addCode("", lines[body:], body+1)
		}
	}()
	if tooDeep(lines[body:], maxNesting) {
		d.addCode("", lines[body:], body+1)
	} else {
		d.readBody(lines[body:], body+1)
	}
	return d
}

// readFront parses the front matter and returns its number of lines.
func (d *Document) readFront(lines []string) int {
	fence := strings.TrimRight(lines[0], " \t")
	if fence != "---" && fence != "+++" {
		return 0
	}
	for i, line := range lines[1:min(len(lines), maxFront)] {
		if end := strings.TrimRight(line, " \t"); end == fence || fence == "---" && end == "..." {
			d.blocks = append(d.blocks, block{kind: front, text: strings.Join(lines[1:i+1], "\n"), line: 1})
			return i + 2
		}
	}
	return 0
}

// tooDeep reports whether a line opens more than the given number of quotes and lists.
func tooDeep(lines []string, most int) bool {
	for _, line := range lines {
		marks := 0
		for i := 0; i < len(line) && strings.IndexByte(" \t>-+*.)0123456789", line[i]) >= 0; i++ {
			if line[i] == '>' || i+1 < len(line) && strings.IndexByte("-+*.)", line[i]) >= 0 && (line[i+1] == ' ' || line[i+1] == '\t') {
				marks++
			}
		}
		if marks > most || len(line)-len(strings.TrimLeft(line, " ")) > 4*most && marks > 0 {
			return true
		}
	}
	return false
}

// readBody parses the text after the front matter, which begins at line first of the source. Each
// block extends to the next.
func (d *Document) readBody(lines []string, first int) {
	source := []byte(strings.Join(lines, "\n"))
	starts := []int{0}
	for at, b := range source {
		if b == '\n' {
			starts = append(starts, at+1)
		}
	}
	lineOf := func(node ast.Node) int { return sort.SearchInts(starts, max(0, node.Pos())+1) - 1 }
	context := parser.NewContext()
	root := blockParser.Parse(text.NewReader(source), parser.WithContext(context))
	d.refs = context.References()

	var nodes []ast.Node
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		if node.Kind() != ast.KindList {
			nodes = append(nodes, node)
			continue
		}
		for item := node.FirstChild(); item != nil; item = item.NextSibling() {
			nodes = append(nodes, item)
		}
	}
	number := 0
	for i, node := range nodes {
		at, end := lineOf(node), len(lines)
		if i+1 < len(nodes) {
			end = max(at, lineOf(nodes[i+1]))
		}
		b := block{text: strings.TrimRight(strings.Join(lines[at:end], "\n"), " \n"), line: first + at}
		if list, ok := node.Parent().(*ast.List); ok {
			if number++; node.PreviousSibling() == nil {
				number = list.Start
			}
			b.number, b.tight = number, list.IsTight && node.PreviousSibling() != nil
		}
		d.add(node, b, source)
	}
}

// add appends a block, split into pieces if it is code, or shown as code if it is too large.
func (d *Document) add(node ast.Node, b block, source []byte) {
	switch node := node.(type) {
	case *ast.LinkReferenceDefinition:
	case *ast.FencedCodeBlock:
		first := len(d.blocks)
		d.addCode(string(node.Language(source)), linesOf(node, source), b.line+1)
		d.blocks[first].line = b.line
	case *ast.CodeBlock:
		d.addCode("", linesOf(node, source), b.line)
	default:
		if len(b.text) > maxBytes {
			d.addCode("", strings.Split(b.text, "\n"), b.line)
			return
		}
		d.blocks = append(d.blocks, b)
	}
}

// linesOf returns the lines of a code block without line ends.
func linesOf(node ast.Node, source []byte) (lines []string) {
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		lines = append(lines, strings.TrimSuffix(string(segment.Value(source)), "\n"))
	}
	return lines
}

func (d *Document) addCode(info string, lines []string, line int) {
	for at := 0; at == 0 || at < len(lines); at += maxCode {
		piece := lines[at:min(at+maxCode, len(lines))]
		d.blocks = append(d.blocks, block{kind: code, info: info, text: strings.Join(piece, "\n"), line: line + at, tight: at > 0})
	}
}

// Blocks returns the number of blocks.
func (d *Document) Blocks() int { return len(d.blocks) }

// At returns the block that contains a line of the source.
func (d *Document) At(line int) int {
	at := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].line > line })
	return max(0, at-1)
}

// Line returns the first source line of a block or, after the last block, the line after the
// source.
func (d *Document) Line(at int) int {
	if at >= len(d.blocks) {
		return d.Lines + 1
	}
	return cmp.Or(d.blocks[at].line, 1)
}

// MayLink reports whether a document may contain a link.
func (d *Document) MayLink() bool { return slices.ContainsFunc(d.blocks, block.mayLink) }

// mayLink reports, without drawing it, whether a block may contain a link.
func (b block) mayLink() bool {
	return b.kind == markdown && (strings.ContainsAny(b.text, "[<") || strings.Contains(b.text, "http") || strings.Contains(b.text, "www."))
}
