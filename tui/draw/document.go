package draw

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/tui/safetext"
)

// Document is a text parsed into blocks, of which the visible ones are drawn with glamour. A block that has ended is
// drawn once, and each row of the screen belongs to known lines of the source.
//
// Text is cleaned and split into blocks here, each block is prepared for glamour in document_tree.go, and glamour's
// output is filtered and wrapped in document_rows.go. Code is highlighted by chroma in document_code.go. It is not safe
// for concurrent use.
type Document struct {
	Lines  int // of the source
	blocks []block
	refs   []parser.Reference
	fences int    // blocks of fenced code
	answer bool   // it has numbers of sources, verdicts on them, and no definitions of links
	copied string // label of code, with a verb for its number; "" for none

	theme *Theme
	width int
	drawn map[int]Drawn
}

// block is a part of a document that is drawn separately: a heading, a paragraph, a table, an item
// of a list.
type block struct {
	kind   blockKind
	text   string
	line   int   // first line in the source, from 1
	node   int   // first line of the list or code of which this is a part, or line
	before int   // blocks of fenced code before that
	number int   // of an item of a numbered list
	tight  bool  // no blank row above it
	fence  fence // of fenced code
	open   bool  // more of it may arrive
}

// isTable reports whether a block begins like a table.
func (b block) isTable() bool {
	head, rest, _ := strings.Cut(b.text, "\n")
	rule, _, _ := strings.Cut(rest, "\n")
	return strings.Contains(head, "|") && strings.Contains(rule, "-") && strings.Trim(rule, "|:- \t") == ""
}

// fence describes a piece of fenced code.
type fence struct {
	info        string // language
	number      int    // among all fenced code of the document, from 1; 0 for other code
	first, last bool   // it is the first or last piece of its code
}

// infoOf returns what is written after the opening fence of code.
func infoOf(node *ast.FencedCodeBlock, source []byte) string {
	if node.Info == nil {
		return ""
	}
	return safetext.Line(string(node.Info.Value(source)))
}

type blockKind int

const (
	markdown blockKind = iota
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

// markdownGrammar has parsers of the blocks of a document, and of one block with its inline syntax.
type markdownGrammar struct{ blocks, inline parser.Parser }

// In an answer, what defines a link is text: it may be its list of sources.
var (
	documentGrammar = newGrammar(parser.DefaultParagraphTransformers()...)
	answerGrammar   = newGrammar()
)

func newGrammar(transformers ...util.PrioritizedValue) markdownGrammar {
	blocks := append(parser.DefaultBlockParsers(), util.Prioritized(mathBlock{}, 150))
	return markdownGrammar{
		blocks: parser.NewParser(parser.WithBlockParsers(blocks...), parser.WithParagraphTransformers(transformers...)),
		inline: goldmark.New(
			goldmark.WithParser(parser.NewParser(
				parser.WithBlockParsers(blocks...),
				parser.WithInlineParsers(append(parser.DefaultInlineParsers(), util.Prioritized(mathInline{}, 90),
					util.Prioritized(wikiParser{}, 150))...),
				parser.WithParagraphTransformers(transformers...),
			)),
			goldmark.WithExtensions(extension.GFM),
		).Parser(),
	}
}

// grammar returns the grammar of the document.
func (d *Document) grammar() markdownGrammar {
	if d.answer {
		return answerGrammar
	}
	return documentGrammar
}

// ParseDocument parses Markdown from an untrusted source into blocks.
func ParseDocument(source string) *Document {
	lines := cleaned(source)
	d := &Document{Lines: len(lines)}
	if lines[len(lines)-1] == "" {
		d.Lines--
	}
	body := d.readFront(lines)
	d.readBody(lines[body:], body+1)
	return d
}

// cleaned returns the lines of an untrusted source.
func cleaned(source string) []string {
	lines := strings.Split(source, "\n")
	for i, line := range lines { // separately, so that a line remains one line whatever it contains
		lines[i] = strings.ReplaceAll(strings.TrimSuffix(safetext.Source(line), "\n"), "\n", " ")
		if strings.HasPrefix(strings.TrimLeft(lines[i], " "), "[^") { // a footnote is not a link definition
			lines[i] = strings.Replace(lines[i], "[^", `\[^`, 1)
		}
		if tooDeep(lines[i], maxNesting) {
			at := strings.IndexAny(lines[i], ">-+*.)")
			lines[i] = lines[i][:at] + `\` + lines[i][at:]
		}
	}
	return lines
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
func tooDeep(line string, most int) bool {
	marks := 0
	for i := 0; i < len(line) && strings.IndexByte(" \t>-+*.)0123456789", line[i]) >= 0; i++ {
		if line[i] == '>' || i+1 < len(line) && strings.IndexByte("-+*.)", line[i]) >= 0 &&
			(line[i+1] == ' ' || line[i+1] == '\t') {
			marks++
		}
	}
	return marks > most || len(line)-len(strings.TrimLeft(line, " ")) > 4*most && marks > 0
}

// readBody parses the text after the front matter, which begins at line first of the source. Each
// block extends to the next. Text that goldmark cannot parse is shown as code, and readBody returns false.
func (d *Document) readBody(lines []string, first int) (ok bool) {
	head, fences := len(d.blocks), d.fences
	defer func() {
		if ok = recover() == nil; !ok {
			d.blocks, d.fences = d.blocks[:head], fences
			d.addCode(fence{}, lines, first)
		}
	}()
	source := []byte(strings.Join(lines, "\n"))
	starts := []int{0}
	for at, b := range source {
		if b == '\n' {
			starts = append(starts, at+1)
		}
	}
	lineOf := func(node ast.Node) int { return sort.SearchInts(starts, max(0, node.Pos())+1) - 1 }
	context := parser.NewContext()
	root := d.grammar().blocks.Parse(text.NewReader(source), parser.WithContext(context))
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
	number, top, before := 0, 0, d.fences
	for i, node := range nodes {
		at, end := lineOf(node), len(lines)
		if i+1 < len(nodes) {
			end = max(at, lineOf(nodes[i+1]))
		}
		list, isItem := node.Parent().(*ast.List)
		if number++; isItem && node.PreviousSibling() == nil {
			number = list.Start
		}
		if !isItem || node.PreviousSibling() == nil {
			top, before = first+at, d.fences
		}
		d.add(node, block{
			text: strings.TrimRight(strings.Join(lines[at:end], "\n"), " \n"), line: first + at, node: top,
			before: before, number: number,
			tight: at > 0 && strings.TrimSpace(lines[at-1]) != "",
		}, source)
	}
	return true
}

// add appends a block, split into pieces if it is code, or shown as code if it is too large.
func (d *Document) add(node ast.Node, b block, source []byte) {
	before := d.fences
	_ = ast.Walk(node, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindFencedCodeBlock && entering {
			d.fences++
		}
		return ast.WalkContinue, nil
	})
	first := len(d.blocks)
	switch node := node.(type) {
	case *ast.LinkReferenceDefinition:
	case *ast.FencedCodeBlock:
		d.addCode(fence{info: infoOf(node, source), number: before + 1}, linesOf(node, source), b.line+1)
	case *ast.CodeBlock:
		d.addCode(fence{}, linesOf(node, source), b.line)
	default:
		if len(b.text) > maxBytes {
			d.addCode(fence{}, strings.Split(b.text, "\n"), b.line)
			break
		}
		b.fence.number = before + 1 // of the first code within
		d.blocks = append(d.blocks, b)
	}
	for i := first; i < len(d.blocks); i++ {
		d.blocks[i].node, d.blocks[i].before = b.node, b.before
	}
	if first < len(d.blocks) {
		d.blocks[first].line, d.blocks[first].tight = b.line, b.tight
	}
}

// linesOf returns the lines of a code block without line ends.
func linesOf(node ast.Node, source []byte) (lines []string) {
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		// it may append a line end, which must not go into source
		value := segment.Value(source[:segment.Stop:segment.Stop])
		lines = append(lines, strings.TrimSuffix(string(value), "\n"))
	}
	return lines
}

// addCode appends the pieces of code that begins at a line.
func (d *Document) addCode(f fence, lines []string, line int) {
	for at := 0; at == 0 || at < len(lines); at += maxCode {
		end := min(at+maxCode, len(lines))
		f.first, f.last = at == 0, end == len(lines)
		d.blocks = append(d.blocks, block{
			kind: code, text: strings.Join(lines[at:end], "\n"), line: line + at,
			tight: at > 0, fence: f,
		})
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
	return b.kind == markdown && (strings.ContainsAny(b.text, "[<") || strings.Contains(b.text, "http") ||
		strings.Contains(b.text, "www."))
}
