package reader

import (
	"bytes"
	"html"
	"net/url"
	"strconv"
	"strings"

	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"lifehub/tui/markdown/layout"
	"lifehub/tui/safetext"
)

// treeParser reads a block with all marks inside it.
var treeParser = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(parser.WithInlineParsers(util.Prioritized(wikiParser{}, 150))),
).Parser()

// wikiParser reads [[note]], [[note|text]] and ![[note]].
type wikiParser struct{}

func (wikiParser) Trigger() []byte { return []byte{'[', '!'} }

func (wikiParser) Parse(_ ast.Node, reader text.Reader, _ parser.Context) ast.Node {
	line, segment := reader.PeekLine()
	from := bytes.IndexByte(line, '[')
	if from > 1 || from < 0 || !bytes.HasPrefix(line[from:], []byte("[[")) {
		return nil
	}
	from += 2
	size := bytes.Index(line[from:], []byte("]]"))
	if size <= 0 || size > maxWiki || bytes.ContainsAny(line[from:from+size], "[]") {
		return nil
	}
	target, shown, named := bytes.Cut(line[from:from+size], []byte("|"))
	at := segment.Start + from
	label := text.NewSegment(at, at+len(target))
	if named && len(bytes.TrimSpace(shown)) > 0 {
		label = text.NewSegment(at+len(target)+1, at+size)
		target = bytes.TrimSuffix(target, []byte(`\`)) // in a table
	}
	link := ast.NewLink()
	link.Destination = append([]byte(wiki), target...)
	link.AppendChild(link, ast.NewTextSegment(label))
	reader.Advance(from + size + 2)
	return link
}

const (
	wiki    = "[[" // before the destination of a wikilink
	maxWiki = 300  // bytes of one
	mine    = "#"  // before the number of a link, on its way through glamour
)

// Link is a place that a document leads to.
type Link struct {
	To   string // an address of the web, or the path or name of a note
	Note bool   // it is a note
	Row  int    // of the drawn block, where it begins
}

// tree is one block on its way through glamour. Its source grows by what its
// texts are replaced with: everything from the document is cleaned there, and
// written so that glamour's own unescaping returns exactly that. So no escape
// sequence but ours comes out of glamour.
type tree struct {
	root    *ast.Document
	source  []byte
	links   []Link
	theme   *layout.Theme
	indent  string // of the lines of an item below its first
	step    int    // cells that what is inside an item stands further right
	rule    int    // how long a rule is
	tables  []*east.Table
	inTable bool

	depth, deepest int // of quotes and lists within one another
}

// newTree reads a block and makes it safe to draw.
func newTree(b block, refs []parser.Reference, theme *layout.Theme) *tree {
	x := &tree{root: ast.NewDocument(), theme: theme, step: 2, rule: 20}
	if b.kind == code {
		x.root.AppendChild(x.root, x.code(b.info, b.text))
		return x
	}
	context := parser.NewContext()
	for _, ref := range refs {
		context.AddReference(ref)
	}
	x.source = []byte(b.text)
	adopt(x.root, treeParser.Parse(text.NewReader(x.source), parser.WithContext(context)))
	if list, ok := x.root.FirstChild().(*ast.List); ok && list.IsOrdered() {
		list.Start = b.number
		x.step = len(strconv.Itoa(b.number) + ". ")
	}
	x.blocks(x.root)
	return x
}

// blocks replaces what is in the blocks below a node by what is safe to draw.
func (x *tree) blocks(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; {
		next := node.NextSibling()
		x.block(parent, node)
		node = next
	}
}

func (x *tree) block(parent, node ast.Node) {
	switch node := node.(type) {
	case *ast.ListItem:
		x.item(node)
	case *ast.FencedCodeBlock:
		parent.ReplaceChild(parent, node, x.code(string(node.Language(x.source)), strings.Join(linesOf(node, x.source), "\n")))
	case *ast.CodeBlock:
		parent.ReplaceChild(parent, node, x.code("", strings.Join(linesOf(node, x.source), "\n")))
	case *ast.HTMLBlock:
		lines := linesOf(node, x.source)
		if node.HasClosure() {
			lines = append(lines, strings.TrimSuffix(string(node.ClosureLine.Value(x.source)), "\n"))
		}
		shown := ast.NewParagraph()
		for i, line := range lines {
			if i > 0 {
				shown.AppendChild(shown, x.raw("\n"+x.indent))
			}
			shown.AppendChild(shown, x.styled(line, x.theme.HTML))
		}
		parent.ReplaceChild(parent, node, shown)
	case *east.Table:
		x.tables = append(x.tables, node)
		x.inTable = true
		x.blocks(node)
		x.inTable = false
	case *east.TableCell:
		x.children(node)
		if parent.Kind() == east.KindTableHeader && node.HasChildren() {
			strong := ast.NewEmphasis(2)
			adopt(strong, node)
			node.AppendChild(node, strong)
		}
	case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
		x.children(node)
	default:
		x.depth++
		x.deepest = max(x.deepest, x.depth)
		x.blocks(node)
		x.depth--
	}
}

// item takes an item of a list. glamour draws the paragraphs of one without a
// break, and what is below its first line at the edge of the list.
func (x *tree) item(item *ast.ListItem) {
	outer := x.indent
	defer func() { x.indent = outer }()
	x.indent = "  "
	if list, ok := item.Parent().(*ast.List); ok && list.IsOrdered() {
		number := list.Start
		for before := item.PreviousSibling(); before != nil; before = before.PreviousSibling() {
			number++
		}
		x.indent = strings.Repeat(" ", len(strconv.Itoa(number)+". "))
	}
	if first := item.FirstChild(); first != nil && first.FirstChild() != nil && first.FirstChild().Kind() == east.KindTaskCheckBox {
		x.indent = "    "
	}
	x.blocks(item)
	for node := item.FirstChild(); node != nil; node = node.NextSibling() {
		if node.PreviousSibling() == nil {
			continue
		}
		switch node.(type) {
		case *ast.Paragraph:
			node.InsertBefore(node, node.FirstChild(), x.raw("\n\n"+x.indent))
		case *ast.FencedCodeBlock, *ast.Blockquote:
			blank := ast.NewTextBlock()
			blank.AppendChild(blank, x.raw("\n"))
			item.InsertBefore(item, node, blank)
		}
	}
}

// headsAsRows makes the heads of tables their first rows: glamour cuts what is too
// wide for a column in a head, and breaks it in a row.
func (x *tree) headsAsRows() {
	for _, table := range x.tables {
		head := table.FirstChild()
		row := east.NewTableRow(table.Alignments)
		adopt(row, head)
		table.ReplaceChild(table, head, row)
	}
}

// code makes a block of code in a language that chroma knows; it would guess else.
func (x *tree) code(language, value string) ast.Node {
	language = strings.Trim(language, "{}.")
	if language == "" || lexers.Get(language) == nil {
		language = "text"
	}
	made := ast.NewFencedCodeBlock(x.raw(language))
	from := len(x.source)
	x.source = append(x.source, value+"\n"...)
	made.Lines().Append(text.NewSegment(from, len(x.source)))
	return made
}

// escaped is text that glamour's unescaping of entities and backslashes returns
// as it was.
var escaped = strings.NewReplacer("&", "&amp;", `\`, `\\`)

// raw makes a node that is written as it is.
func (x *tree) raw(written string) *ast.Text {
	from := len(x.source)
	x.source = append(x.source, written...)
	return ast.NewTextSegment(text.NewSegment(from, len(x.source)))
}

// plain makes a node of text from the document.
func (x *tree) plain(value string) ast.Node { return x.raw(escaped.Replace(safetext.Line(value))) }

// children replaces the marks inside a block by nodes that are safe to draw.
func (x *tree) children(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; {
		next := node.NextSibling()
		if node.Kind() != east.KindTaskCheckBox {
			for _, instead := range x.node(node) {
				parent.InsertBefore(parent, node, instead)
			}
			parent.RemoveChild(parent, node)
		}
		node = next
	}
}

func (x *tree) node(node ast.Node) []ast.Node {
	switch node := node.(type) {
	case *ast.Text:
		value := node.Segment.Value(x.source)
		if !node.IsRaw() {
			value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
		}
		if node.SoftLineBreak() {
			value = append(value[:len(value):len(value)], ' ')
		}
		made := []ast.Node{x.plain(string(value))}
		if node.HardLineBreak() {
			made = append(made, x.raw("\n"+x.indent))
		}
		return made
	case *ast.String:
		return []ast.Node{x.plain(string(node.Value))}
	case *ast.CodeSpan:
		span := ast.NewCodeSpan()
		value := strings.ReplaceAll(safetext.Line(shown(node, x.source)), "&", "&amp;")
		if x.inTable { // glamour takes one more backslash away there
			value = strings.ReplaceAll(value, `\`, `\\`)
		}
		span.AppendChild(span, x.raw(value))
		return []ast.Node{span}
	case *ast.Emphasis:
		x.children(node)
		made := ast.NewEmphasis(node.Level)
		adopt(made, node)
		return []ast.Node{made}
	case *east.Strikethrough:
		made := east.NewStrikethrough()
		made.AppendChild(made, x.plain(shown(node, x.source)))
		return []ast.Node{made}
	case *ast.Link:
		x.children(node)
		return x.link(string(node.Destination), node)
	case *ast.AutoLink:
		label := ast.NewParagraph()
		label.AppendChild(label, x.plain(string(node.Label(x.source))))
		return x.link(string(node.URL(x.source)), label)
	case *ast.Image:
		label := ast.NewParagraph()
		label.AppendChild(label, x.plain(strings.TrimSuffix("[image: "+shown(node, x.source), ": ")+"]"))
		return x.link(string(node.Destination), label)
	case *ast.RawHTML:
		tag := string(node.Segments.Value(x.source))
		if strings.HasPrefix(strings.ToLower(tag), "<br") {
			return []ast.Node{x.raw("\n" + x.indent)}
		}
		return []ast.Node{x.styled(tag, x.theme.HTML)}
	}
	return []ast.Node{x.plain(shown(node, x.source))}
}

// styled makes a node of text from the document in a style of its own.
func (x *tree) styled(value string, style layout.Style) ast.Node {
	return x.raw(style.Paint(escaped.Replace(safetext.Line(value))))
}

// link puts the children of a node between marks that say which link they are.
func (x *tree) link(to string, label ast.Node) []ast.Node {
	link, host := destination(to)
	made := []ast.Node{x.raw(ansi.SetHyperlink(mine + strconv.Itoa(len(x.links))))}
	text := shown(label, x.source)
	for child := label.FirstChild(); child != nil; child = label.FirstChild() {
		label.RemoveChild(label, child)
		made = append(made, child)
	}
	made = append(made, x.raw(ansi.ResetHyperlink()))
	if host != "" && !strings.Contains(text, host) {
		made = append(made, x.styled(" ("+host+")", x.theme.Host))
	}
	link.Row = -1 // until it is drawn
	x.links = append(x.links, link)
	return made
}

// destination is where a link leads, and what of it is to be seen after its text.
func destination(to string) (link Link, host string) {
	if note, ok := strings.CutPrefix(to, wiki); ok {
		return Link{To: note, Note: true}, ""
	}
	to = html.UnescapeString(to)
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return Link{To: to}, safetext.Line(to)
	case u.Scheme == "" && u.Host == "":
		name := strings.TrimSuffix(u.Path, "/")
		if u.Fragment != "" {
			name += "#" + u.Fragment
		}
		return Link{To: name, Note: true}, ""
	case u.Host == "":
		return Link{To: to}, safetext.Reveal(to)
	}
	return Link{To: to}, safetext.Reveal(u.Host)
}

// adopt moves the children of a node to another.
func adopt(to, from ast.Node) {
	for child := from.FirstChild(); child != nil; child = from.FirstChild() {
		from.RemoveChild(from, child)
		to.AppendChild(to, child)
	}
}

// shown is the text below a node.
func shown(node ast.Node, source []byte) string {
	var value strings.Builder
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		switch child := child.(type) {
		case *ast.Text:
			value.Write(child.Segment.Value(source))
			if child.SoftLineBreak() || child.HardLineBreak() {
				value.WriteByte(' ')
			}
		case *ast.String:
			value.Write(child.Value)
		default:
			value.WriteString(shown(child, source))
		}
	}
	return value.String()
}
