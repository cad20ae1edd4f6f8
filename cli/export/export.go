// Package export writes a conversation as Markdown, JSON or a page that loads nothing.
package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"

	"lifehub/agent"
	"lifehub/cli/settings"
	"lifehub/notes"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// Formats write a conversation in a format. Markdown and HTML hold the
// current path, JSON the whole tree.
var Formats = map[string]func(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error{
	"md": exportMarkdown, "json": exportJSON, "html": exportHTML,
}

// Write writes a conversation; what goes wrong names it.
func Write(ctx context.Context, s *store.Store, c agent.Conversation, format string, w io.Writer) error {
	write, ok := Formats[format]
	if !ok {
		return settings.UsageError{Err: fmt.Errorf("%q is not md, json or html", format)}
	}
	err := s.Outlive(ctx, c.ID) // it may come to be a note
	if err == nil {
		err = write(ctx, s, c, w)
	}
	if err != nil {
		return fmt.Errorf("export conversation %s: %w", c.ID, err)
	}
	return nil
}

func exportMarkdown(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error {
	exchanges, err := s.Exchanges(ctx, c.ID)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, notes.ExportedFront+Disarm(Markdown(c, exchanges)))
	return err
}

// Markdown is a conversation as a note.
func Markdown(c agent.Conversation, exchanges []agent.Exchange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", safetext.Line(c.Title))
	for _, e := range exchanges {
		fmt.Fprintf(&b, "\n## You, %s\n\n%s\n\n## LifeHub\n\n%s\n", e.Asked.Local().Format(time.DateTime), safetext.Text(e.Question), safetext.Text(answerOf(e)))
		if lines := CitationLines(e.Answer.Citations); len(lines) > 0 {
			b.WriteString("\n" + strings.Join(lines, "  \n") + "\n") // no list: its "- [1]" would be a task
		}
		if did := e.Answer.Effects; did != nil {
			fmt.Fprintf(&b, "\n(%s)\n", safetext.Line(did.String()))
		}
	}
	return b.String()
}

func exportJSON(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error {
	tree, err := s.Tree(ctx, c.ID)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(safetext.JSONWriter{To: w})
	lines.SetIndent("", "  ")
	return lines.Encode(struct {
		agent.Conversation
		Exchanges []agent.Exchange `json:"exchanges"`
	}{c, tree})
}

//go:embed export.html
var pageSource string

//go:embed export.css
var pageStyle string

var page = template.Must(template.New("export").Funcs(template.FuncMap{
	"line": safetext.Line, "text": safetext.Text, "answer": webAnswer, "done": doneLines, "ending": endingOf,
	"minute":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
	"effects": func(e agent.Exchange) string { return safetext.Line(e.Answer.Effects.String()) },
	"verdict": func(c agent.Citation) string { return safetext.Line(c.Told()) },
}).Parse(pageSource))

// exportHTML writes one page that stands alone: it runs nothing, loads nothing
// and forbids the browser to, whatever the answers hold.
func exportHTML(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error {
	exchanges, err := s.Exchanges(ctx, c.ID)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageStyle))
	return page.Execute(w, map[string]any{
		"Conversation": c, "Exchanges": exchanges,
		"Style": template.CSS(pageStyle), "StyleHash": template.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(sum[:])),
	})
}

// webAnswer makes HTML of an answer's markdown. Tags in it are text, pictures
// are named and not shown.
func webAnswer(markdown string) (template.HTML, error) {
	var b bytes.Buffer
	if err := toHTML.Convert([]byte(safetext.Text(markdown)), &b); err != nil {
		return "", err
	}
	return template.HTML(safetext.Text(b.String())), nil // entities may have become control characters
}

// toHTML knows no tags: each shows as it was written.
var toHTML = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(without(parser.DefaultBlockParsers(), parser.NewHTMLBlockParser())...),
		parser.WithInlineParsers(without(parser.DefaultInlineParsers(), parser.NewRawHTMLParser())...),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)),
	goldmark.WithExtensions(extension.GFM),
	goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(asText{}, 100))),
)

func without(parsers []util.PrioritizedValue, parser any) []util.PrioritizedValue {
	return slices.DeleteFunc(parsers, func(p util.PrioritizedValue) bool { return p.Value == parser })
}

// asText shows as text what an answer could load or run.
type asText struct{}

func (a asText) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindImage, a.image)
	r.Register(ast.KindLink, a.link)
	r.Register(ast.KindAutoLink, a.autoLink)
}

func (asText) image(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		io.WriteString(w, "[picture: ")
	} else {
		io.WriteString(w, " · ")
		io.WriteString(w, template.HTMLEscapeString(safetext.Reveal(string(node.(*ast.Image).Destination))))
		io.WriteString(w, "]")
	}
	return ast.WalkContinue, nil
}

// link is a link only to the web or to a mail address; any other is text. Its
// address is shown where the text hides it.
func (asText) link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	link := node.(*ast.Link)
	address := string(util.URLEscape(link.Destination, true))
	safe := safetext.LinkAllowed(address)
	if entering && safe {
		address = template.HTMLEscapeString(address)
		io.WriteString(w, `<a rel="noreferrer noopener nofollow" title="`+address+`" href="`+address+`">`)
	}
	if entering {
		return ast.WalkContinue, nil
	}
	if safe {
		io.WriteString(w, "</a>")
	}
	if text, ok := link.FirstChild().(*ast.Text); !ok || link.ChildCount() > 1 || string(text.Value(source)) != string(link.Destination) {
		io.WriteString(w, " ("+template.HTMLEscapeString(safetext.Reveal(string(link.Destination)))+")")
	}
	return ast.WalkContinue, nil
}

func (asText) autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		template.HTMLEscape(w, node.(*ast.AutoLink).Label(source))
	}
	return ast.WalkContinue, nil
}

// FormatOf is the format asked for, else the one that a file is named after,
// else markdown.
func FormatOf(format, file string) string {
	switch ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")); {
	case format != "":
		return format
	case ending == "htm":
		return "html"
	case Formats[ending] != nil:
		return ending
	}
	return "md"
}
