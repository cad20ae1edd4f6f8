package app

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
	"lifehub/chat"
	"lifehub/cli/settings"
	"lifehub/notes"
	"lifehub/store"
	"lifehub/tui/safetext"
)

// Formats maps a format to its writer. Markdown and HTML contain the current branch, JSON the whole
// tree.
var ExportFormats = map[string]func(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error{
	"md": exportMarkdown, "json": exportJSON, "html": exportHTML,
}

// Write writes a conversation in a format. Errors name the conversation.
func WriteConversation(ctx context.Context, s *store.Store, c agent.Conversation, format string, w io.Writer) error {
	write, ok := ExportFormats[format]
	if !ok {
		return settings.UsageError{Err: fmt.Errorf("%q is not md, json or html", format)}
	}
	if err := write(ctx, s, c, w); err != nil {
		return fmt.Errorf("export conversation %s: %w", c.ID, err)
	}
	return nil
}

func exportMarkdown(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error {
	exchanges, err := s.Exchanges(ctx, c.ID)
	if err != nil {
		return err
	}
	var from agent.Origin
	for _, e := range exchanges {
		from = from.And(e.Origin)
	}
	_, err = io.WriteString(w, Sourced(notes.ExportedFront+Disarm(ConversationMarkdown(c, exchanges)), from))
	return err
}

// Sourced returns a Markdown text with front matter that names its sources from outside, if it has
// any: the user may save it as a note, which then is not the user's own text.
func Sourced(text string, from agent.Origin) string {
	if !from.IsOutside() {
		return text
	}
	sources, err := json.Marshal(from.Outside) // a list in YAML, too
	if err != nil {
		sources = []byte(`"outside"`)
	}
	rest, has := strings.CutPrefix(text, "---\n")
	if !has {
		rest = "---\n\n" + text
	}
	return "---\nsource: " + string(sources) + "\n" + rest
}

// Markdown returns a conversation as Markdown.
func ConversationMarkdown(c agent.Conversation, exchanges []agent.Exchange) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", safetext.Line(c.Title))
	for _, e := range exchanges {
		fmt.Fprintf(&b, "\n## You, %s\n\n%s\n", e.Asked.Local().Format(time.DateTime), askedIn(e))
		fmt.Fprintf(&b, "\n## LifeHub\n\n%s\n", safetext.Text(answerOf(e)))
		if lines := CitationLines(e.Answer.Citations); len(lines) > 0 {
			b.WriteString("\n" + strings.Join(lines, "  \n") + "\n") // not as a list, in which "- [1]" would be a task
		}
		if did := e.Answer.Effects; did != nil {
			fmt.Fprintf(&b, "\n(%s)\n", safetext.Line(did.String()))
		}
	}
	return b.String()
}

// askedIn returns what the user sent in an exchange.
func askedIn(e agent.Exchange) string { return safetext.Text(agent.QuoteSteering(e.Question)) }

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
	"line": safetext.Line, "asked": askedIn, "answer": webAnswer, "done": doneLines, "ending": chat.Ending,
	"minute":  func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") },
	"effects": func(e agent.Exchange) string { return safetext.Line(e.Answer.Effects.String()) },
	"verdict": func(c agent.Citation) string { return safetext.Line(c.Label()) },
}).Parse(pageSource))

// exportHTML writes a self-contained page. It runs and loads nothing, and its content security
// policy forbids both, whatever the answers contain.
func exportHTML(ctx context.Context, s *store.Store, c agent.Conversation, w io.Writer) error {
	exchanges, err := s.Exchanges(ctx, c.ID)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageStyle))
	return page.Execute(w, map[string]any{
		"Conversation": c, "Exchanges": exchanges,
		"Style": template.CSS(pageStyle), "StyleHash": template.HTMLAttr("sha256-" +
			base64.StdEncoding.EncodeToString(sum[:])),
	})
}

// webAnswer converts the Markdown of an answer to HTML. Tags become text; images are named but not
// shown.
func webAnswer(markdown string) (template.HTML, error) {
	var b bytes.Buffer
	if err := toHTML.Convert([]byte(safetext.Text(markdown)), &b); err != nil {
		return "", err
	}
	return template.HTML(safetext.Text(b.String())), nil // decoded entities may be control characters
}

// toHTML parses no HTML: tags show as written.
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

// asText renders as text what an answer could load or run.
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

// link renders links to the web and to mail addresses; any other becomes text. The address is shown
// if the link text differs from it.
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
	if text, ok := link.FirstChild().(*ast.Text); !ok || link.ChildCount() > 1 ||
		string(text.Value(source)) != string(link.Destination) {
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

// FormatOf returns format if given, or else the one that the file's extension stands for, or else
// Markdown.
func ExportFormat(format, file string) string {
	switch ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(file), ".")); {
	case format != "":
		return format
	case ending == "htm":
		return "html"
	case ExportFormats[ending] != nil:
		return ending
	}
	return "md"
}
