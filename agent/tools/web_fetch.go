package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"strings"
	"time"

	"codeberg.org/readeck/go-readability/v2"
	htmltomarkdown "github.com/JohannesKaufmann/html-to-markdown/v2"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"lifehub/agent"
	"lifehub/llm"
)

const webFetchSchema = `{
	"type": "object",
	"properties": {
		"url": {"type": "string", "description": "the page's address, with https://"}
	},
	"required": ["url"],
	"additionalProperties": false
}`

type webFetchArgs struct {
	URL string `json:"url"`
}

// webFetch reads a page of the web as markdown.
type webFetch struct {
	spec llm.ToolSpec
	web  *web
}

func newWebFetch(w *web) agent.Tool { return &webFetch{spec("web_fetch", webFetchSchema), w} }

func (f *webFetch) Spec() llm.ToolSpec { return f.spec }

// Level asks; the gate knows the addresses that need no question.
func (f *webFetch) Level(json.RawMessage) agent.Level { return agent.Confirm }
func (f *webFetch) ReadOnly() bool                    { return true }
func (f *webFetch) Timeout() time.Duration            { return webTime + 10*time.Second }
func (f *webFetch) Bounds() []string                  { return []string{"url"} }

// Address is what a call would open.
func (f *webFetch) Address(raw json.RawMessage) string {
	var args webFetchArgs
	_ = json.Unmarshal(raw, &args) // what cannot be read is no known address
	return args.URL
}

// Preview shows the real host, which a long address hides well.
func (f *webFetch) Preview(_ context.Context, raw json.RawMessage) (agent.Preview, error) {
	u, err := url.Parse(strings.TrimSpace(f.Address(raw)))
	if err == nil {
		err = checkAddress(u)
	}
	if err != nil {
		return agent.Preview{}, fmt.Errorf("web_fetch: %w", err)
	}
	return agent.Preview{Text: "opens a page on " + u.Host + ", which learns this whole address:\n" + u.String()}, nil
}

func (f *webFetch) Run(ctx context.Context, raw json.RawMessage) (agent.Result, error) {
	page, err := f.web.get(ctx, f.Address(raw))
	if err != nil {
		return agent.Result{}, err
	}
	text, err := readable(page)
	if err != nil {
		return agent.Result{}, fmt.Errorf("read %s: %w", page.url.Redacted(), err)
	}
	if page.cut {
		text += "\n\n[… the page is longer than 2 MiB; the rest is left out …]"
	}
	return agent.Result{Text: page.url.Redacted() + "\n\n" + text, Foreign: true, Nothing: strings.TrimSpace(text) == ""}, nil
}

// readable is the text of a page as markdown.
func readable(page webPage) (string, error) {
	kind, _, err := mime.ParseMediaType(page.kind)
	if err != nil {
		kind = "text/html"
	}
	switch {
	case kind == "application/pdf" || bytes.HasPrefix(page.body, []byte("%PDF-")):
		return "", errors.New("it is a PDF, which LifeHub cannot read; save its text as a note to ask about it")
	case kind == "text/html" || kind == "application/xhtml+xml":
	case strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "xml"):
		text, err := asUTF8(page)
		return strings.TrimSpace(text), err
	default:
		return "", fmt.Errorf("it is %s and no text", kind)
	}
	text, err := asUTF8(page)
	if err != nil {
		return "", err
	}
	doc, err := html.ParseWithOptions(strings.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return "", err
	}
	title := ""
	if article, err := readability.FromDocument(doc, page.url); err == nil && article.Node != nil {
		doc, title = article.Node, strings.TrimSpace(article.Title())
	}
	markdown, err := htmltomarkdown.ConvertNode(doc, converter.WithDomain(page.url.Scheme+"://"+page.url.Host))
	if err != nil {
		return "", err
	}
	text = strings.TrimSpace(string(markdown))
	if title != "" && !strings.HasPrefix(text, "# "+title) {
		text = "# " + title + "\n\n" + text
	}
	return text, nil
}

// asUTF8 is the body as UTF-8, by what the server, the page or its bytes say.
func asUTF8(page webPage) (string, error) {
	reader, err := charset.NewReader(bytes.NewReader(page.body), page.kind)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(reader, 2*maxWebBody))
	return strings.ToValidUTF8(string(text), "\uFFFD"), err
}
