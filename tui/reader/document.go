// Package reader draws a whole Markdown document that is settled, a note or a
// saved answer, with glamour: block by block, so that only what is in sight is
// drawn however long the document is.
//
// Start at [Parse] and [Document.Draw]. The way of the text: clean lines and
// blocks (document.go), the marks inside a block (inline.go), glamour and what is
// let through of its output (draw.go). Code and tables are drawn by tui/markdown,
// as they are in an answer.
package reader

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
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
// a piece of code.
type block struct {
	kind  kind
	level int // of a heading
	text  string
	line  int    // the first one in the source, from 1
	gap   []mark // what the blank row above it stands in; nil: there is none
	marks []mark // the quotes and items that it stands in
}

type kind int

const (
	prose   kind = iota // a paragraph or a heading
	written             // code, a table, HTML: as tui/markdown draws it
	rule
	front // the settings at the head of a note
)

// mark is what stands before the rows of a quote or of an item of a list.
type mark struct {
	first, rest string
	node        ast.Node
}

// maxNesting bounds quotes and lists within one another: the time of parsing
// grows with it. What is deeper is shown as it is written.
const maxNesting = 50

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
	head := d.blocks
	asWritten := func() {
		d.blocks = append(head, block{kind: written, text: Fenced("", strings.Join(lines[body:], "\n")), line: body + 1})
	}
	defer func() {
		if recover() != nil {
			asWritten()
		}
	}()
	if tooDeep(lines[body:]) {
		asWritten()
		return d
	}
	r := blockReader{Document: d, source: []byte(strings.Join(lines[body:], "\n")), first: body + 1}
	r.starts = append(r.starts, 0)
	for at, b := range r.source {
		if b == '\n' {
			r.starts = append(r.starts, at+1)
		}
	}
	context := parser.NewContext()
	root := blockParser.Parse(text.NewReader(r.source), parser.WithContext(context))
	d.refs = context.References()
	r.children(root, nil)
	return d
}

// maxFront bounds front matter, in lines.
const maxFront = 500

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

// blockReader puts the blocks of a tree into a row.
type blockReader struct {
	*Document
	source []byte
	starts []int // the first byte of each line
	first  int   // the number of the first line
	tight  bool  // the next block follows without a blank row
	last   []mark
}

func (r *blockReader) line(at int) int {
	return r.first + sort.SearchInts(r.starts, at+1) - 1
}

func (r *blockReader) children(parent ast.Node, within []mark) {
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		r.node(node, within)
		r.tight = false
	}
}

func (r *blockReader) node(node ast.Node, within []mark) {
	switch node := node.(type) {
	case *ast.Blockquote:
		r.children(node, deeper(within, mark{"│ ", "│ ", node}))
	case *ast.List:
		number := node.Start
		for item := node.FirstChild(); item != nil; item = item.NextSibling() {
			head := "•"
			if node.IsOrdered() {
				head = strconv.Itoa(number) + string(node.Marker)
				number++
			}
			r.item(item, head, node.IsTight, within)
			r.tight = node.IsTight
		}
	default:
		r.leaf(node, within)
	}
}

// item takes an item of a list, which may be a task and may be empty.
func (r *blockReader) item(item ast.Node, head string, tight bool, within []mark) {
	first := item.FirstChild()
	if first == nil {
		r.add(block{line: r.line(max(0, item.Pos()))}, deeper(within, mark{head + " ", "", item}))
		return
	}
	if lines := first.Lines(); first.Type() == ast.TypeBlock && lines.Len() > 0 {
		segment := lines.At(0)
		value := segment.Value(r.source)
		if len(value) > 3 && value[0] == '[' && value[2] == ']' && value[3] == ' ' && bytes.IndexByte([]byte(" xX"), value[1]) >= 0 {
			head = "[" + strings.ToLower(string(value[1])) + "]"
			lines.Set(0, segment.WithStart(segment.Start+len("[ ] ")))
		}
	}
	within = deeper(within, mark{head + " ", strings.Repeat(" ", draw.Width(head)+1), item})
	for node := first; node != nil; node = node.NextSibling() {
		r.node(node, within)
		r.tight = tight
	}
}

func deeper(within []mark, one mark) []mark {
	return append(within[:len(within):len(within)], one)
}

// leaf takes a block that holds text.
func (r *blockReader) leaf(node ast.Node, within []mark) {
	var value strings.Builder
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		value.Write(segment.Value(r.source))
	}
	b := block{text: strings.TrimRight(value.String(), "\n"), line: r.line(max(0, node.Pos()))}
	switch node := node.(type) {
	case *ast.Heading:
		b.level = node.Level
	case *ast.ThematicBreak:
		b.kind = rule
	case *ast.FencedCodeBlock:
		info := ""
		if node.Info != nil {
			info = string(node.Info.Value(r.source))
		}
		b.kind, b.text = written, Fenced(info, b.text)
	case *ast.CodeBlock:
		b.kind, b.text = written, Fenced("", b.text)
	case *ast.HTMLBlock:
		if node.HasClosure() {
			b.text += "\n" + strings.TrimRight(string(node.ClosureLine.Value(r.source)), "\n")
		}
		b.kind = written
	case *ast.LinkReferenceDefinition:
		return
	default:
		if isTable(b.text) {
			b.kind = written
		}
		for b.kind == prose && len(b.text) > maxProse {
			rest := b
			at := cmp.Or(1+strings.LastIndexAny(b.text[:maxProse], " \n"), maxProse)
			b.text, rest.text = strings.ToValidUTF8(b.text[:at], ""), b.text[at:]
			r.add(b, within)
			rest.line += strings.Count(b.text, "\n")
			b, r.tight = rest, true
		}
	}
	r.add(b, within)
}

// maxProse is the longest piece of a paragraph, in bytes, that is drawn at once.
const maxProse = 8 << 10

// isTable reports whether a paragraph holds the line that makes it a table.
func isTable(text string) bool {
	head, rest, more := strings.Cut(text, "\n")
	for more && strings.Contains(head, "|") {
		var line string
		line, rest, more = strings.Cut(rest, "\n")
		if strings.Trim(line, "|:- \t") == "" && strings.Contains(line, "-") {
			return true
		}
		head = line
	}
	return false
}

// Fenced puts a text into a fence that is longer than any in it.
func Fenced(info, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.Contains(info, "`") {
		fence = strings.Repeat("~", len(fence)+strings.Count(text, "~"))
	}
	return fence + info + "\n" + strings.TrimRight(text, "\n") + "\n" + fence
}

// add puts a block behind the others. An item's own mark stands before its
// first row only.
func (r *blockReader) add(b block, within []mark) {
	common := 0
	for common < len(within) && common < len(r.last) && within[common].node == r.last[common].node {
		common++
	}
	if !r.tight && len(r.blocks) > 0 {
		b.gap = append([]mark{}, within[:common]...)
	}
	r.tight = false
	for i, m := range within {
		if i < common {
			m.first = m.rest
		}
		b.marks = append(b.marks, m)
	}
	r.last = within
	r.blocks = append(r.blocks, b)
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
	return b.kind == prose && (strings.ContainsAny(b.text, "[<") || strings.Contains(b.text, "http") || strings.Contains(b.text, "www."))
}
