// Package reader draws a whole Markdown document that is settled, a note or a
// saved answer, with glamour: one top-level block at a time, so that only what is
// in sight is drawn and each row on the screen belongs to known lines of the source.
//
// Start at [Parse] and [Document.Draw]. The way of the text: clean lines and
// blocks (document.go), what is made of a block before glamour sees it (tree.go),
// glamour and what is let through of its output (draw.go).
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

// Document is a text that was read into blocks. It is not safe for concurrent use.
type Document struct {
	Lines  int // of the source
	blocks []block
	refs   []parser.Reference

	theme *draw.Theme
	width int
	drawn map[int]Drawn
}

// block is a part of a document that is drawn by itself: a heading, a paragraph,
// a table, an item of a list.
type block struct {
	kind   kind
	text   string
	line   int    // the first one in the source, from 1
	info   string // the language of code
	number int    // of an item of a numbered list
	tight  bool   // no blank row stands above it
}

type kind int

const (
	markdown kind = iota
	code
	front // the settings at the head of a note
)

const (
	// maxNesting bounds quotes and lists within one another: the time of parsing
	// grows with it. What is deeper is shown as it is written.
	maxNesting = 50
	// maxDepth bounds them in what glamour draws, which goes over the text again
	// at each level.
	maxDepth = 10
	// maxFront bounds front matter, in lines.
	maxFront = 500
	// What glamour draws at once, so that no block takes longer than a key may: lines
	// of code and of a table, bytes of all else.
	maxCode, maxTable, maxBytes = 50, 50, 8 << 10
)

// blockParser finds headings, lists, code and so on; the marks inside a block are
// read when it is drawn.
var blockParser = parser.NewParser(
	parser.WithBlockParsers(parser.DefaultBlockParsers()...),
	parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)),
)

// Parse reads a Markdown text, from wherever it is, into blocks.
func Parse(source string) *Document {
	lines := strings.Split(source, "\n")
	for i, line := range lines { // one by one: a line stays a line, whatever is in it
		lines[i] = strings.ReplaceAll(strings.TrimSuffix(safetext.Source(line), "\n"), "\n", " ")
		if strings.HasPrefix(strings.TrimLeft(lines[i], " "), "[^") { // a footnote is no address of a link
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
	if tooDeep(lines[body:]) {
		d.addCode("", lines[body:], body+1)
		return d
	}
	d.readBody(lines[body:], body+1)
	return d
}

// readFront takes the front matter and returns how many lines it is.
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

// tooDeep reports whether a line opens more quotes and lists than any person does.
func tooDeep(lines []string) bool {
	for _, line := range lines {
		marks := 0
		for i := 0; i < len(line) && strings.IndexByte(" \t>-+*.)0123456789", line[i]) >= 0; i++ {
			if line[i] == '>' || i+1 < len(line) && strings.IndexByte("-+*.)", line[i]) >= 0 && (line[i+1] == ' ' || line[i+1] == '\t') {
				marks++
			}
		}
		if marks > maxNesting || len(line)-len(strings.TrimLeft(line, " ")) > 4*maxNesting && marks > 0 {
			return true
		}
	}
	return false
}

// readBody reads what follows the front matter, from a line of the source on: each
// block reaches to the next one.
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

	type start struct {
		node  ast.Node
		block block
	}
	var all []start
	for node := root.FirstChild(); node != nil; node = node.NextSibling() {
		list, isList := node.(*ast.List)
		if !isList {
			all = append(all, start{node, block{line: lineOf(node)}})
			continue
		}
		number := list.Start
		for item := list.FirstChild(); item != nil; item = item.NextSibling() {
			b := block{line: lineOf(item), tight: list.IsTight && item != list.FirstChild()}
			if list.IsOrdered() {
				b.number = number
				number++
			}
			all = append(all, start{item, b})
		}
	}
	for i, s := range all {
		end := len(lines)
		if i+1 < len(all) {
			end = max(s.block.line, all[i+1].block.line)
		}
		own := lines[s.block.line:end]
		for len(own) > 0 && strings.TrimSpace(own[len(own)-1]) == "" {
			own = own[:len(own)-1]
		}
		s.block.line += first
		d.add(s.node, s.block, own, source)
	}
}

// add puts a block behind the others, in pieces if it is a large one.
func (d *Document) add(node ast.Node, b block, lines []string, source []byte) {
	b.text = strings.Join(lines, "\n")
	switch node := node.(type) {
	case *ast.LinkReferenceDefinition:
		return
	case *ast.FencedCodeBlock:
		first := len(d.blocks)
		d.addCode(string(node.Language(source)), linesOf(node, source), b.line+1)
		d.blocks[first].line = b.line
		return
	case *ast.CodeBlock:
		d.addCode("", linesOf(node, source), b.line)
		return
	case *ast.Paragraph:
		d.addProse(b, lines)
		return
	}
	if len(b.text) > 2*maxBytes { // an item or a quote as long as a book
		d.addCode("", lines, b.line)
		return
	}
	d.blocks = append(d.blocks, b)
}

// linesOf are the lines of a block of code, without their line ends.
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

// addProse adds a paragraph, and the table that it may end with.
func (d *Document) addProse(b block, lines []string) {
	if head := tableAt(lines); head >= 0 {
		defer d.addTable(lines[head:], b.line+head)
		b.text = strings.Join(lines[:head], "\n")
	}
	for len(b.text) > maxBytes {
		piece := b
		at := cmp.Or(1+strings.LastIndexAny(b.text[:maxBytes], " \n"), maxBytes)
		piece.text, b.text = strings.ToValidUTF8(b.text[:at], ""), b.text[at:]
		d.blocks = append(d.blocks, piece)
		b.line += strings.Count(piece.text, "\n")
		b.tight = true
	}
	if b.text != "" {
		d.blocks = append(d.blocks, b)
	}
}

// addTable adds a table, a long one in pieces, each below the head.
func (d *Document) addTable(lines []string, line int) {
	head, end := lines[:2:2], min(2+maxTable, len(lines))
	d.blocks = append(d.blocks, block{line: line, text: strings.Join(lines[:end], "\n")})
	for at := end; at < len(lines); at += maxTable {
		piece := append(head, lines[at:min(at+maxTable, len(lines))]...)
		d.blocks = append(d.blocks, block{line: line + at, text: strings.Join(piece, "\n")})
	}
}

// tableAt is the line of a paragraph that is the head of a table; -1: none is.
func tableAt(lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool {
		return strings.Trim(line, "|:- \t") == "" && strings.Contains(line, "-") && strings.Contains(line, "|")
	}) - 1
}

// Blocks is how many blocks there are.
func (d *Document) Blocks() int { return len(d.blocks) }

// At returns the block that a line of the source stands in.
func (d *Document) At(line int) int {
	at := sort.Search(len(d.blocks), func(i int) bool { return d.blocks[i].line > line })
	return max(0, at-1)
}

// Line is the first line of a block in the source; behind the last block, the
// one behind the source.
func (d *Document) Line(at int) int {
	if at >= len(d.blocks) {
		return d.Lines + 1
	}
	return cmp.Or(d.blocks[at].line, 1)
}

// MayLink reports whether a document can hold a link.
func (d *Document) MayLink() bool { return slices.ContainsFunc(d.blocks, block.mayLink) }

// mayLink reports whether a block can hold a link, without drawing it.
func (b block) mayLink() bool {
	return b.kind == markdown && (strings.ContainsAny(b.text, "[<") || strings.Contains(b.text, "http") || strings.Contains(b.text, "www."))
}
