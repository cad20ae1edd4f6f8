package notes

import (
	"sort"
	"strings"

	"github.com/yuin/goldmark/ast"

	"lifehub/internal/text"
)

// readBody fills Headings, Lists, Links, Tags and Tasks.
func (n *Note) readBody(body string) {
	lines := newLineIndex(body, n.BodyLine)
	document := text.BlockTree(body)
	if document == nil {
		n.problem("its quotes or lists are nested too deep; it is read as plain text")
		return
	}
	code := map[int]bool{}                 // line numbers of code and comments, which hold no tasks and properties
	ends := make([]int, len(lines.starts)) // of each line, the last line of its paragraph
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		n.readBlock(node, lines)
	}
	var scan inlineScan
	for node := range leaves(document) {
		segments := node.Lines()
		if segments.Len() == 0 {
			continue
		}
		start, stop := segments.At(0).Start, segments.At(segments.Len()-1).Stop
		switch node.Kind() {
		case ast.KindCodeBlock, ast.KindFencedCodeBlock:
			for line := lines.at(start); line < lines.at(stop-1)+1; line++ {
				code[line] = true
			}
			n.setApart(body, start, stop)
		case ast.KindHTMLBlock:
		default:
			for line, last := lines.at(start), lines.at(stop-1); line <= last; line++ {
				ends[line-lines.first] = last
			}
			scan.block(n, body, start, stop, lines)
		}
	}
	for _, part := range n.between(body, len(n.Text)-len(body), comments) {
		first := lines.at(part.start)
		if strings.TrimSpace(lines.text(first)[:part.start-lines.starts[first-lines.first]]) != "" {
			first++ // the comment is about what is before it
		}
		for line := first; line <= lines.at(part.stop-1); line++ {
			code[line] = true
		}
	}
	n.readProperties(lines, code)
	n.readTasks(lines, code, ends)
	if kindOf(n.Path) == orgMode {
		n.readOrgTasks(lines, code)
		n.dropUnlisted()
	}
}

// readTasks collects the tasks outside of code, each with the lines of its paragraph below, down to the next task.
func (n *Note) readTasks(lines lineIndex, code map[int]bool, ends []int) {
	for line := lines.first; line <= lines.last(); line++ {
		text := lines.text(line)
		task, ok := ParseTasks(text)
		if !ok || code[line] {
			continue
		}
		last := line
		for last < ends[line-lines.first] && stateOf(lines.text(last+1)) == nil {
			last++
		}
		if whole, ok := ParseTasks(lines.between(line, last)); ok {
			task = whole
		}
		task.Line = line
		n.Tasks = append(n.Tasks, task)
	}
}

// leaves iterates over the blocks that contain text, in document order. It does
// not recurse.
func leaves(document ast.Node) func(func(ast.Node) bool) {
	return func(yield func(ast.Node) bool) {
		node := document
		for node != nil {
			if node != document && node.Type() == ast.TypeBlock && (node.Lines().Len() > 0) && !yield(node) {
				return
			}
			if child := node.FirstChild(); child != nil && child.Type() == ast.TypeBlock {
				node = child
				continue
			}
			for node != document && node.NextSibling() == nil {
				node = node.Parent()
			}
			if node == document {
				return
			}
			node = node.NextSibling()
		}
	}
}

// readBlock reads a top-level block.
func (n *Note) readBlock(node ast.Node, lines lineIndex) {
	if node.Pos() < 0 {
		return
	}
	first := lines.at(node.Pos())
	switch node := node.(type) {
	case *ast.Heading:
		n.Headings = append(n.Headings, Heading{node.Level, headingText(node, lines.body), first})
	case *ast.List:
		last := lines.last()
		if next := node.NextSibling(); next != nil && next.Pos() >= 0 {
			last = max(first, lines.at(next.Pos())-1)
		}
		for last > first && strings.TrimSpace(lines.text(last)) == "" {
			last--
		}
		n.Lists = append(n.Lists, Lines{first, last})
	}
}

func headingText(node *ast.Heading, body string) string {
	var words []string
	for i := range node.Lines().Len() {
		segment := node.Lines().At(i)
		words = append(words, strings.TrimSpace(body[segment.Start:segment.Stop]))
	}
	return strings.Join(words, " ")
}

// lineIndex maps byte offsets to line numbers, and line numbers to text.
type lineIndex struct {
	body   string
	starts []int // offset of the first byte of each line
	first  int   // line number of the body's first line in the file
}

func newLineIndex(body string, first int) lineIndex {
	x := lineIndex{body: body, first: first, starts: []int{0}}
	for i := 0; i < len(body); i++ {
		if body[i] == '\n' && i+1 < len(body) {
			x.starts = append(x.starts, i+1)
		}
	}
	return x
}

func (x lineIndex) at(offset int) int {
	return x.first + sort.SearchInts(x.starts, offset+1) - 1
}

func (x lineIndex) last() int { return x.first + len(x.starts) - 1 }

// text returns a line without its line end.
func (x lineIndex) text(line int) string { return x.between(line, line) }

// between returns lines without the last line end.
func (x lineIndex) between(first, last int) string {
	end := len(x.body)
	if i := last - x.first + 1; i < len(x.starts) {
		end = x.starts[i]
	}
	return strings.TrimSuffix(x.body[x.starts[first-x.first]:end], "\n")
}
