package draw

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	markup "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"lifehub/agent"
	"lifehub/tui/safetext"
)

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

// DocumentLink is a link in a document.
type DocumentLink struct {
	To   string // web address, or path or name of a note
	Note bool   // it leads to a note
	Row  int    // row of the drawn block where it begins
}

// inlineTree is one block being prepared for glamour. Replacement texts are appended to its source. All
// text from the document is cleaned there and escaped so that glamour's unescaping returns exactly
// that. So glamour outputs no escape sequences but ours.
type inlineTree struct {
	root   *ast.Document
	source []byte
	links  []DocumentLink
	theme  *MarkdownTheme
	indent string // of the continuation lines of an item
	tables []*east.Table
	answer bool // with the numbers of sources and the verdicts on them
	fence  int  // number of the next code
	copied string
	rule   int // width of a rule
}

// newTree parses a block and makes it safe to draw.
func newTree(b block, d *Document) *inlineTree {
	x := &inlineTree{
		root: ast.NewDocument(), theme: &d.theme.Markdown, answer: d.answer,
		fence: b.fence.number, copied: d.copied,
	}
	context := parser.NewContext()
	for _, ref := range d.refs {
		context.AddReference(ref)
	}
	x.source = []byte(b.text)
	add(x.root, taken(d.grammar().inline.Parse(text.NewReader(x.source), parser.WithContext(context))))
	if list, ok := x.root.FirstChild().(*ast.List); ok {
		list.Start = b.number
	}
	x.blocks(x.root)
	return x
}

// blocks makes the blocks below a node safe to draw.
func (x *inlineTree) blocks(parent ast.Node) {
	for node := parent.FirstChild(); node != nil; {
		next := node.NextSibling()
		x.block(parent, node)
		node = next
	}
}

func (x *inlineTree) block(parent, node ast.Node) {
	switch node := node.(type) {
	case *ast.ListItem:
		x.item(node)
	case *ast.FencedCodeBlock:
		caption := infoOf(node, x.source)
		if x.copied != "" {
			caption = strings.TrimSpace(caption + "  " + fmt.Sprintf(x.copied, x.fence))
		}
		parent.ReplaceChild(parent, node, x.code(caption, string(node.Language(x.source)), node))
		x.fence++
	case *ast.CodeBlock:
		parent.ReplaceChild(parent, node, x.code("", "", node))
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
func (x *inlineTree) item(item *ast.ListItem) {
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
func (x *inlineTree) headsAsRows() (columns int) {
	for _, table := range x.tables {
		row := east.NewTableRow(table.Alignments)
		add(row, taken(table.FirstChild()))
		table.ReplaceChild(table, table.FirstChild(), row)
		columns = max(columns, len(table.Alignments))
	}
	return columns
}

// code returns code within a list or quotation, below a caption: its lines, indented.
func (x *inlineTree) code(caption, language string, node ast.Node) ast.Node {
	lines := highlighted(language, strings.Join(linesOf(node, x.source), "\n"), x.theme)
	if caption != "" {
		lines = slices.Insert(lines, 0, x.theme.Border.Paint(caption))
	}
	shown := ast.NewParagraph()
	shown.AppendChild(shown, x.raw("  "+escapedMarkdown.Replace(strings.Join(lines, "\n"+x.indent+"  "))))
	return shown
}

// escapedMarkdown escapes text so that glamour's unescaping of entities and backslashes restores it.
var escapedMarkdown = strings.NewReplacer("&", "&amp;", `\`, `\\`)

// raw returns a node with text that is output unchanged.
func (x *inlineTree) raw(written string) *ast.Text {
	from := len(x.source)
	x.source = append(x.source, written...)
	return ast.NewTextSegment(text.NewSegment(from, len(x.source)))
}

// plain returns a node with text from the document.
func (x *inlineTree) plain(value string) ast.Node {
	if x.answer {
		return x.raw(x.cited(value))
	}
	return x.raw(escapedMarkdown.Replace(safetext.Line(value)))
}

// citationMark matches the numbers of sources, and verdicts.
var citationMark = regexp.MustCompile(`[\[【［]\d+(?:, ?\d+)*[\]】］]|` + verdictSign + "([0-9])([^" +
	verdictSign + "]*)" + verdictSign)

// cited returns text of an answer, with the numbers of sources and verdicts in their colours.
func (x *inlineTree) cited(value string) (out string) {
	at := 0
	for _, m := range citationMark.FindAllStringSubmatchIndex(value, -1) {
		style, text := x.theme.Citation, value[m[0]:m[1]]
		if m[2] >= 0 {
			style, text = x.theme.Verdicts[min(int(value[m[2]]-'0'), len(x.theme.Verdicts)-1)], value[m[4]:m[5]]
		}
		out += escapedMarkdown.Replace(safetext.Line(value[at:m[0]])) + style.Paint(escapedMarkdown.Replace(safetext.Line(text)))
		at = m[1]
	}
	return out + escapedMarkdown.Replace(safetext.Line(withoutSigns(value[at:])))
}

// children replaces the inline nodes of a block by nodes that are safe to draw.
func (x *inlineTree) children(parent ast.Node) {
	written := "" // of adjacent texts
	flush := func() {
		if written != "" {
			parent.AppendChild(parent, x.plain(written))
		}
		written = ""
	}
	for _, node := range taken(parent) {
		leaf, ok := node.(*ast.Text)
		if !ok {
			flush()
			add(parent, x.node(node))
			continue
		}
		written += x.text(leaf)
		if leaf.SoftLineBreak() {
			written += " "
		}
		if leaf.HardLineBreak() {
			flush()
			parent.AppendChild(parent, x.raw("\n"+x.indent))
		}
	}
	flush()
}

// text returns a text without Markdown's escapes and with its entities resolved.
func (x *inlineTree) text(leaf *ast.Text) string {
	var page strings.Builder
	out := bufio.NewWriter(&page)
	markup.DefaultWriter.Write(out, leaf.Segment.Value(x.source))
	_ = out.Flush() // a Builder takes everything
	return html.UnescapeString(page.String())
}

func (x *inlineTree) node(node ast.Node) []ast.Node {
	switch node := node.(type) {
	case *ast.String: // a formula
		return []ast.Node{x.styled(string(node.Value), x.theme.Math)}
	case *ast.CodeSpan:
		return []ast.Node{x.styled(shown(node, x.source), x.theme.Code)}
	case *ast.Emphasis, *east.Strikethrough, *east.TaskCheckBox:
		x.children(node)
		return []ast.Node{node}
	case *ast.Link:
		text := shown(node, x.source)
		x.children(node)
		return x.link(string(node.Destination), text, taken(node))
	case *ast.AutoLink:
		text := string(node.Label(x.source))
		return x.link(string(node.URL(x.source)), text, []ast.Node{x.plain(text)})
	case *ast.Image:
		text := strings.TrimSuffix("[image: "+string(withoutSize([]byte(shown(node, x.source)))), ": ") + "]"
		return x.link(string(node.Destination), text, []ast.Node{x.plain(text)})
	case *ast.RawHTML:
		tag := string(node.Segments.Value(x.source))
		if strings.HasPrefix(strings.ToLower(tag), "<br") {
			return []ast.Node{x.raw("\n" + x.indent)}
		}
		return []ast.Node{x.styled(tag, x.theme.HTML)}
	}
	return []ast.Node{x.plain(shown(node, x.source))}
}

// styled returns a node with text from the document in a style.
func (x *inlineTree) styled(value string, style Style) ast.Node {
	return x.raw(style.Paint(escapedMarkdown.Replace(safetext.Line(value))))
}

// link puts nodes between marks with the number of the link.
func (x *inlineTree) link(to, text string, label []ast.Node) []ast.Node {
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
func destination(to string) (link DocumentLink, host string) {
	if note, ok := strings.CutPrefix(to, wiki); ok {
		return DocumentLink{To: note, Note: true}, ""
	}
	to = html.UnescapeString(to)
	u, err := url.Parse(to)
	switch {
	case err != nil:
		return DocumentLink{To: to}, safetext.Line(to)
	case u.Scheme == "" && u.Host == "":
		name := strings.TrimSuffix(u.Path, "/")
		if u.Fragment != "" {
			name += "#" + u.Fragment
		}
		return DocumentLink{To: name, Note: true}, ""
	case u.Host == "":
		return DocumentLink{To: to}, safetext.Reveal(to)
	}
	page, site, err := agent.ReadAddress(to)
	if err != nil {
		return DocumentLink{To: to}, safetext.Reveal(u.Host)
	}
	return DocumentLink{To: to}, agent.ShownHost(page, site)
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
		if formula, ok := child.(*ast.String); ok {
			text += string(formula.Value)
		}
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
