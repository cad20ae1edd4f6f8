package web

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"codeberg.org/readeck/go-readability/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/notes"
)

// article is the readable content of a web page.
type article struct {
	address string
	title   string
	text    string   // markdown, beginning with the title as heading
	links   []string // linked pages, those in the article first
}

// sources returns lines of the article as citable sources.
func (a article) sources(lines []string, from, to int) []agent.Source {
	headings := notes.Parse(notes.Entry{}, []byte(a.text)).Headings
	return Sections(agent.Source{Path: a.address, Untrusted: true}, headings, lines, from, to)
}

// Reasons why a page cannot be read although the server returned it.
var (
	errSignIn  = errors.New("it can only be read after signing in")
	errCheck   = errors.New("it asks for a captcha; open it in a browser")
	errScripts = errors.New("it has no text without JavaScript; open it in a browser")
	errEmpty   = errors.New("it has no text")
)

// hardly is the number of letters below which a text is too short for an
// article: it may belong to a page that requires signing in, or be a wrongly
// chosen part of another page.
const hardly = 600

// readArticle extracts the readable content of a page, or returns an error that
// explains why there is none.
func readArticle(page webPage) (article, error) {
	kind, err := textKind(page)
	if err != nil {
		return article{}, err
	}
	body, err := asUTF8(page)
	if err != nil {
		return article{}, err
	}
	a := article{address: asWritten(page.url)}
	if kind != "text/html" && kind != "application/xhtml+xml" {
		a.text = strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n"))
		if a.text == "" {
			return article{}, errEmpty
		}
		return a, nil
	}
	doc, err := html.ParseWithOptions(strings.NewReader(body), html.ParseOptionEnableScripting(false))
	if err != nil {
		return article{}, err
	}
	seen := survey(doc, page.url)
	a.title = oneLine(seen.title)
	text, links, err := mainText(doc, page.url)
	if err != nil {
		return article{}, err
	}
	if n := letters(text); n < hardly {
		switch {
		case seen.password:
			return article{}, errSignIn
		case wantsHuman(page):
			return article{}, errCheck
		case n == 0 && seen.scripts:
			return article{}, errScripts
		case n == 0:
			return article{}, errEmpty
		}
	}
	a.links = appendMissing(links, seen.links)
	if a.text = text; a.title != "" && !strings.HasPrefix(text, "# "+a.title) {
		a.text = "# " + a.title + "\n\n" + text
	}
	return a, nil
}

// textKind returns the media type of a page; an error if it is not text.
func textKind(page webPage) (string, error) {
	kind, _, err := mime.ParseMediaType(page.kind())
	sniffed, _, _ := strings.Cut(http.DetectContentType(page.body), ";")
	if err != nil || kind == "application/octet-stream" {
		kind = sniffed
	}
	switch major, _, _ := strings.Cut(sniffed, "/"); {
	case kind == "application/pdf" || sniffed == "application/pdf":
		return "", errors.New("it is a PDF, which LifeHub cannot read; save its text as a note to ask about it")
	case major == "image" && kind != "image/svg+xml", major == "audio", major == "video", major == "font":
		kind = sniffed // whatever the server declares
	case strings.HasPrefix(sniffed, "application/x-") || sniffed == "application/zip":
		kind = sniffed
	case strings.HasPrefix(kind, "text/"), kind == "application/xhtml+xml", kind == "application/json",
		kind == "application/xml",
		strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml") && !strings.HasPrefix(kind, "image/"):
		return kind, nil
	}
	return "", fmt.Errorf("it is not text but %s, which LifeHub cannot read", kind)
}

// asUTF8 returns the body as UTF-8. Valid UTF-8 is returned unchanged, because
// hardly any other encoding looks like it. Another is decoded as browsers do: by
// its byte order mark, as the server or the page declares, or as Windows-1252.
func asUTF8(page webPage) (string, error) {
	for cut := range min(utf8.UTFMax, len(page.body)+1) { // the last character may be cut off
		if whole := page.body[:len(page.body)-cut]; utf8.Valid(whole) {
			return strings.TrimPrefix(string(whole), byteOrderMark), nil
		}
	}
	decoded, err := charset.NewReader(bytes.NewReader(page.body), page.kind())
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(decoded, 2*maxWebBody))
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), byteOrderMark), err
}

// surveyed describes a page apart from its text.
type surveyed struct {
	title    string
	links    []string
	password bool // it has a password field
	scripts  bool
}

// survey collects the title and links of a page. It also makes addresses
// absolute and removes images without a description.
func survey(doc *html.Node, at *url.URL) (seen surveyed) {
	var silent []*html.Node
	base := at
	for node := range doc.Descendants() {
		if node.Type != html.ElementNode {
			continue
		}
		switch node.DataAtom {
		case atom.Title:
			if seen.title == "" {
				seen.title = innerText(node)
			}
		case atom.Base:
			if u, err := at.Parse(attribute(node, "href")); err == nil && checkAddress(u) == nil {
				base = u
			}
		case atom.Script:
			seen.scripts = true
		case atom.Input:
			seen.password = seen.password || strings.EqualFold(attribute(node, "type"), "password")
		case atom.Img:
			if attribute(node, "alt") == "" || strings.HasPrefix(attribute(node, "src"), "data:") {
				silent = append(silent, node)
			}
			makeWhole(node, "src", base)
		case atom.A:
			makeWhole(node, "href", base)
		}
	}
	for _, node := range silent {
		node.Parent.RemoveChild(node)
	}
	seen.links = linksOf(doc)
	return seen
}

// makeWhole makes the address in an attribute absolute.
func makeWhole(node *html.Node, name string, base *url.URL) {
	for i, a := range node.Attr {
		if a.Namespace == "" && a.Key == name {
			if u, err := base.Parse(strings.TrimSpace(a.Val)); err == nil {
				node.Attr[i].Val = u.String()
			}
		}
	}
}

// linksOf returns the distinct addresses of the links in a node.
func linksOf(doc *html.Node) (links []string) {
	for node := range doc.Descendants() {
		if node.DataAtom != atom.A || strings.Contains(attribute(node, "rel"), "nofollow") {
			continue
		}
		if u, err := parseAddress(attribute(node, "href")); err == nil {
			u.Fragment, u.RawFragment = "", ""
			links = append(links, u.String())
		}
	}
	return appendMissing(nil, links)
}

func appendMissing(list, more []string) (each []string) {
	have := map[string]bool{}
	for _, item := range slices.Concat(list, more) {
		if !have[item] {
			have[item] = true
			each = append(each, item)
		}
	}
	return each
}

// mainText returns the text of a page as markdown: that of its article, or of
// the whole page if the article found is only a small part.
func mainText(doc *html.Node, at *url.URL) (main string, links []string, err error) {
	found, err := readability.FromDocument(doc, at)
	if err == nil && found.Node != nil {
		if main, err = text.Markdown(found.Node); err == nil && letters(main) >= hardly {
			return main, linksOf(found.Node), nil
		}
	}
	whole, err := text.Markdown(doc) // the page may have no article
	if letters(main)*3 >= letters(whole) && main != "" {
		return main, linksOf(found.Node), nil
	}
	return whole, nil, err
}

// letters counts the letters and digits of a text.
func letters(text string) (n int) {
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			n++
		}
	}
	return n
}

// wantsHuman reports whether a page is a challenge that keeps robots out,
// recognized by the markers of the services that produce such pages.
func wantsHuman(page webPage) bool {
	if page.header.Get("Cf-Mitigated") == "challenge" {
		return true
	}
	body := bytes.ToLower(page.body)
	for _, mark := range []string{
		"challenge-platform", "cf-chl-", "g-recaptcha", "h-captcha", "captcha-delivery",
		"px-captcha", "anomaly-modal",
	} {
		if bytes.Contains(body, []byte(mark)) {
			return true
		}
	}
	return false
}
