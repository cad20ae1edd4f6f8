package text

import (
	"regexp"
	"slices"
	"strings"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/strikethrough"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"
)

// Markdown returns the text of a node, with its headings, lists, tables, code, links, checkboxes and what is struck
// out.
func Markdown(node *html.Node) (string, error) {
	c := converter.NewConverter(converter.WithPlugins(base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(),
		strikethrough.NewStrikethroughPlugin(),
		table.NewTablePlugin(table.WithHeaderPromotion(true), table.WithSkipEmptyRows(true),
			table.WithNewlineBehavior(table.NewlineBehaviorPreserve),
			table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal))))
	for n := range node.Descendants() {
		if n.Data == "input" && strings.EqualFold(valueOf(n, "type"), "checkbox") {
			n.Data = "en-todo" // inputs are removed
		}
	}
	for name := range strings.FieldsSeq("center dir legend listing menu optgroup option search summary xmp") {
		c.Register.TagType(name, converter.TagTypeBlock, converter.PriorityStandard) // the library has the other blocks
	}
	c.Register.TagType("template", converter.TagTypeRemove, converter.PriorityStandard)
	c.Register.Renderer(renderBox, converter.PriorityEarly)
	text, err := c.ConvertNode(node)
	text = boxWithin.ReplaceAll(text, []byte("$1 $2 "))
	text = boxAtStart.ReplaceAll(text, []byte("$1$2 $3"))
	return strings.TrimSpace(boxes.Replace(string(text))), err
}

// openBox and doneBox are written for checkboxes, whose text may follow in a block of its own.
const openBox, doneBox = "\ufdd0", "\ufdd1"

var (
	boxes      = strings.NewReplacer(openBox, "[ ]", doneBox, "[x]")
	boxWithin  = regexp.MustCompile(`(\S)[ \t]*([` + openBox + doneBox + `])[ \t]*`)
	boxAtStart = regexp.MustCompile(`(?m)^([ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)?)([` + openBox + doneBox + `])[ \t]*` +
		`(?:\n\s*([^-\s*+#>|` + openBox + doneBox + `]|\*\*|~~))?`)
)

// renderBox writes the box of an element that has one, in front of its content: an input, a part of a page that acts as
// one (ARIA), and what Notion and Evernote export.
func renderBox(_ converter.Context, w converter.Writer, n *html.Node) converter.RenderStatus {
	isDone := false
	class, style := " "+valueOf(n, "class")+" ", strings.ReplaceAll(valueOf(n, "style"), " ", "")
	switch {
	case n.Data == "en-todo":
		isDone = slices.ContainsFunc(n.Attr, func(a html.Attribute) bool {
			return a.Key == "checked" && a.Val != "false"
		})
	case valueOf(n, "role") == "checkbox":
		isDone = valueOf(n, "aria-checked") == "true"
	case strings.Contains(class, " checkbox-on "), strings.Contains(class, " checkbox-off "):
		isDone = strings.Contains(class, " checkbox-on ")
	case strings.Contains(style, "--en-checked:"):
		isDone = strings.Contains(style, "--en-checked:true")
	default:
		return converter.RenderTryNext
	}
	box := openBox
	if isDone {
		box = doneBox
	}
	w.WriteString(box) //nolint:errcheck // a buffer
	return converter.RenderTryNext
}

// valueOf returns an attribute of an element, or "".
func valueOf(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
