package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// publicDuckDuckGo is the page for browsers without JavaScript.
const publicDuckDuckGo = "https://html.duckduckgo.com/html/"

// duckDuckGo searches with the page for browsers without JavaScript. Its layout
// in 2026: div.result for each result, containing a.result__a and
// .result__snippet; result--ad for advertisements; div.no-results if there are
// none; and for robots, a page with status 202, #challenge-form and
// .anomaly-modal….
type duckDuckGo struct{ base string }

func (duckDuckGo) name() string { return "DuckDuckGo" }

func (e duckDuckGo) address(query string) (string, error) {
	u, err := url.Parse(e.base)
	if err != nil {
		return "", fmt.Errorf("the setting web.search_url: %w", err)
	}
	u.RawQuery = url.Values{"q": {query}}.Encode()
	return u.String(), nil
}

func (duckDuckGo) hits(page webPage) ([]hit, error) {
	if page.status != http.StatusOK && page.status != http.StatusAccepted {
		return nil, refusal(page)
	}
	found, err := readDuckDuckGo(page.body)
	if err == nil && len(found) == 0 && page.status == http.StatusAccepted {
		return nil, errCaptcha
	}
	return found, err
}

// readDuckDuckGo parses a page of results. It returns none and no error if the
// page reports that there are none.
func readDuckDuckGo(body []byte) ([]hit, error) {
	doc, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("read its page: %w", err)
	}
	var hits []hit
	var results, advertised int
	var empty, challenge bool
	for node := range doc.Descendants() {
		switch {
		case node.Type != html.ElementNode:
		case attribute(node, "id") == "challenge-form", strings.Contains(attribute(node, "class"), "anomaly-modal"):
			challenge = true
		case hasClass(node, "no-results"), hasClass(node, "result--no-result"):
			empty = true
		case hasClass(node, "result--ad"):
			advertised++
		case hasClass(node, "result"):
			results++
			hits = readHit(hits, node)
		}
	}
	switch {
	case len(hits) > 0:
		return hits, nil
	case challenge:
		return nil, errCaptcha
	case empty, advertised > 0 && results == 0:
		return nil, nil
	}
	return nil, errLayout
}

// readHit parses one result and appends it to hits.
func readHit(hits []hit, result *html.Node) []hit {
	var title, address, snippet string
	for node := range result.Descendants() {
		switch {
		case node.Type != html.ElementNode:
		case address == "" && node.DataAtom == atom.A && hasClass(node, "result__a"):
			title, address = innerText(node), behindRedirect(attribute(node, "href"))
		case snippet == "" && hasClass(node, "result__snippet"):
			snippet = innerText(node)
		}
	}
	return addHit(hits, title, address, snippet)
}

// behindRedirect returns the address that a DuckDuckGo link leads to; "" for an
// advertisement, which goes through the advertiser's tracker.
func behindRedirect(link string) string {
	u, err := duckDuckGoPage.Parse(link)
	if err != nil || link == "" {
		return ""
	}
	ours := u.Hostname() == duckDuckGoPage.Host || strings.HasSuffix(u.Hostname(), "."+duckDuckGoPage.Host)
	switch {
	case ours && strings.TrimSuffix(u.Path, "/") == "/l":
		return behindRedirect(u.Query().Get("uddg"))
	case ours && u.Path == "/y.js":
		return ""
	}
	return u.String()
}

var duckDuckGoPage = &url.URL{Scheme: "https", Host: "duckduckgo.com"}

func attribute(node *html.Node, name string) string {
	for _, a := range node.Attr {
		if a.Namespace == "" && a.Key == name {
			return a.Val
		}
	}
	return ""
}

func hasClass(node *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(node, "class")), class)
}

// innerText returns the text inside an element.
func innerText(node *html.Node) string {
	var text strings.Builder
	for inner := range node.Descendants() {
		if inner.Type == html.TextNode {
			text.WriteString(inner.Data)
		}
	}
	return text.String()
}
