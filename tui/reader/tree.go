package reader

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
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

	"lifehub/agent"
	"lifehub/tui/layout"
	"lifehub/tui/safetext"
)

// treeParser parses a block with its inline syntax.
var treeParser = goldmark.New(
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithParserOptions(
		parser.WithBlockParsers(util.Prioritized(mathBlock{}, 150)),
		parser.WithInlineParsers(util.Prioritized(mathInline{}, 90), util.Prioritized(wikiParser{}, 150)),
	),
).Parser()

// wikiParser parses [[note]], [[note|text]] and ![[note]].
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
	if named && line[0] == '!' {
		shown = withoutSize(shown)
	}
	label := text.NewSegment(at, at+len(bytes.TrimSuffix(target, []byte(`\`)))) // an escaped | in a table
	if named && len(bytes.TrimSpace(shown)) > 0 {
		label = text.NewSegment(at+len(target)+1, at+len(target)+1+len(shown))
	}
	target = target[:len(bytes.TrimSuffix(target, []byte(`\`)))]
	link := ast.NewLink()
	link.Destination = append([]byte(wiki), target...)
	link.AppendChild(link, ast.NewTextSegment(label))
	reader.Advance(from + size + 2)
	return link
}

// withoutSize returns the text of an embedded picture without its size: 300 or 300x200, alone or after another |.
func withoutSize(shown []byte) []byte { return pictureSize.ReplaceAll(shown, nil) }

var pictureSize = regexp.MustCompile(`(?:^|\|)\s*\d+(?:x\d+)?\s*$`)

const (
	wiki    = "[[" // precedes the destination of a wikilink
	maxWiki = 300  // in bytes
	mine    = "#"  // precedes the number of a link in a mark
)

// Link is a link in a document.
type Link struct {
	To   string // web address, or path or name of a note
	Note bool   // it leads to a note
	Row  int    // row of the drawn block where it begins
}

// tree is one block being prepared for glamour. Replacement texts are appended to its source. All
// text from the document is cleaned there and escaped so that glamour's unescaping returns exactly
// that. So glamour outputs no escape sequences but ours.
type tree struct {
	root   *ast.Document
	source []byte
	links  []Link
	theme  *layout.Theme
	indent string // of the continuation lines of an item
	tables []*east.Table
}

// newTree parses a block and makes it safe to draw.
func newTree(b block, refs []parser.Reference, theme *layout.Theme) *tree {
	x := &tree{root: ast.NewDocument(), theme: theme}
	if b.kind == code {
		x.root.AppendChild(x.root, x.code(b.info, b.text))
		return x
	}
	context := parser.NewContext()
	for _, ref := range refs {
		context.AddReference(ref)
	}
	x.source = []byte(b.text)
	add(x.root, taken(treeParser.Parse(text.NewReader(x.source), parser.WithContext(context))))
	if list, ok := x.root.FirstChild().(*ast.List); ok {
		list.Start = b.number
	}
	x.blocks(x.root)
	return x
}

// blocks makes the blocks below a node safe to draw.
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
			lines = append(lines, string(node.ClosureLine.Value(x.source)))
		}
		shown := ast.NewParagraph()
		for _, line := range lines {
			shown.AppendChild(shown, x.styled(line, x.theme.HTML))
			shown.AppendChild(shown, x.raw("\n"+x.indent))
		}
		parent.ReplaceChild(parent, node, shown)
	case *east.Table:
		x.tables = append(x.tables, node)
		x.blocks(node)
	case *east.TableCell:
		x.children(node)
		if parent.Kind() == east.KindTableHeader && node.HasChildren() {
			strong := ast.NewEmphasis(2)
			add(strong, taken(node))
			node.AppendChild(node, strong)
		}
	case *ast.Heading, *ast.Paragraph, *ast.TextBlock:
		x.children(node)
	default:
		x.blocks(node)
	}
}

// item prepares a list item. It inserts breaks and indentation that glamour omits between the
// paragraphs of an item.
func (x *tree) item(item *ast.ListItem) {
	outer := x.indent
	x.indent = "  "
	if list, ok := item.Parent().(*ast.List); ok && list.IsOrdered() {
		x.indent = "   "
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
	x.indent = outer
}

// headsAsRows turns table headers into ordinary rows, because glamour truncates header cells but
// wraps others. It returns the largest number of columns.
func (x *tree) headsAsRows() (columns int) {
	for _, table := range x.tables {
		row := east.NewTableRow(table.Alignments)
		add(row, taken(table.FirstChild()))
		table.ReplaceChild(table, table.FirstChild(), row)
		columns = max(columns, len(table.Alignments))
	}
	return columns
}

// code returns a code block in a language known to chroma, which would otherwise guess one.
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

// escaped escapes text so that glamour's unescaping of entities and backslashes restores it.
var escaped = strings.NewReplacer("&", "&amp;", `\`, `\\`)

// raw returns a node with text that is output unchanged.
func (x *tree) raw(written string) *ast.Text {
	from := len(x.source)
	x.source = append(x.source, written...)
	return ast.NewTextSegment(text.NewSegment(from, len(x.source)))
}

// plain returns a node with text from the document.
func (x *tree) plain(value string) ast.Node { return x.raw(escaped.Replace(safetext.Line(value))) }

// children replaces the inline nodes of a block by nodes that are safe to draw.
func (x *tree) children(parent ast.Node) {
	for _, node := range taken(parent) {
		add(parent, x.node(node))
	}
}

func (x *tree) node(node ast.Node) []ast.Node {
	text := shown(node, x.source)
	switch node := node.(type) {
	case *ast.Text:
		value := node.Segment.Value(x.source)
		if !node.IsRaw() {
			value = util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(value)))
		}
		if node.HardLineBreak() {
			return []ast.Node{x.plain(string(value)), x.raw("\n" + x.indent)}
		}
		if node.SoftLineBreak() {
			value = append(value[:len(value):len(value)], ' ')
		}
		return []ast.Node{x.plain(string(value))}
	case *ast.CodeSpan:
		return []ast.Node{x.styled(text, x.theme.Code)}
	case *ast.Emphasis, *east.Strikethrough, *east.TaskCheckBox:
		x.children(node)
		return []ast.Node{node}
	case *ast.Link:
		x.children(node)
		return x.link(string(node.Destination), text, taken(node))
	case *ast.AutoLink:
		text = string(node.Label(x.source))
		return x.link(string(node.URL(x.source)), text, []ast.Node{x.plain(text)})
	case *ast.Image:
		text = strings.TrimSuffix("[image: "+string(withoutSize([]byte(text))), ": ") + "]"
		return x.link(string(node.Destination), text, []ast.Node{x.plain(text)})
	case *ast.RawHTML:
		tag := string(node.Segments.Value(x.source))
		if strings.HasPrefix(strings.ToLower(tag), "<br") {
			return []ast.Node{x.raw("\n" + x.indent)}
		}
		return []ast.Node{x.styled(tag, x.theme.HTML)}
	}
	return []ast.Node{x.plain(text)}
}

// styled returns a node with text from the document in a style.
func (x *tree) styled(value string, style layout.Style) ast.Node {
	return x.raw(style.Paint(escaped.Replace(safetext.Line(value))))
}

// link puts nodes between marks with the number of the link.
func (x *tree) link(to, text string, label []ast.Node) []ast.Node {
	link, host := destination(to)
	made := append([]ast.Node{x.raw(ansi.SetHyperlink(mine + strconv.Itoa(len(x.links))))}, label...)
	made = append(made, x.raw(ansi.ResetHyperlink()))
	if host != "" && !strings.Contains(text, host) {
		made = append(made, x.styled(" ("+host+")", x.theme.Host))
	}
	link.Row = -1 // not drawn yet
	x.links = append(x.links, link)
	return made
}

// destination parses the address of a link and returns what to show of it after the link's text.
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
	page, site, err := agent.ReadAddress(to)
	if err != nil {
		return Link{To: to}, safetext.Reveal(u.Host)
	}
	return Link{To: to}, agent.ShownHost(page, site)
}

// taken removes and returns the children of a node.
func taken(from ast.Node) (children []ast.Node) {
	for child := from.FirstChild(); child != nil; child = from.FirstChild() {
		from.RemoveChild(from, child)
		children = append(children, child)
	}
	return children
}

func add(to ast.Node, children []ast.Node) {
	for _, child := range children {
		to.AppendChild(to, child)
	}
}

// shown returns the text below a node.
func shown(node ast.Node, source []byte) (text string) {
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if leaf, ok := child.(*ast.Text); ok {
			text += string(leaf.Segment.Value(source))
			if leaf.SoftLineBreak() || leaf.HardLineBreak() {
				text += " "
			}
		}
		text += shown(child, source)
	}
	return text
}
