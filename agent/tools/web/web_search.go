package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"lifehub/agent"
	"lifehub/internal/text"
)

// Search configures the web search. The zero value uses DuckDuckGo.
type Search struct {
	Engine string // duckduckgo or searxng; "": duckduckgo
	URL    string // address of the server; "": DuckDuckGo's own page. It need not be public
}

// own returns the host and port of the configured server; "" if there is none.
func (s Search) own() string {
	u, err := url.Parse(s.URL)
	if err != nil || s.URL == "" {
		return ""
	}
	return hostPort(u)
}

type webSearchArgs struct {
	Query string `json:"query"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"20"`
}

const (
	webHits    = 8
	maxWebHits = 20
	maxQuery   = 400 // characters
	maxTitle   = 300 // bytes of a page's title
	maxSnippet = 1000
)

// hit is one result of a web search.
type hit struct{ title, address, snippet string }

// Reasons why a search engine responds without results.
var (
	errCaptcha = errors.New("it suspects a robot and asks for a captcha; wait a few minutes, or use a SearXNG server " +
		"(web.search, web.search_url)")
	errLayout = errors.New("its page does not look like search results: its layout has changed, or it is another page")
)

// engine is a server that searches the web.
type engine interface {
	name() string
	address(query string) (string, error)
	// hits parses the response. None and no error means that nothing was found.
	hits(page webPage) ([]hit, error)
}

func (s Search) engine() engine {
	if s.Engine == "searxng" {
		return searxng{s.URL}
	}
	return duckDuckGo{cmp.Or(s.URL, publicDuckDuckGo)}
}

func newWebSearch(s Search, w *web) agent.Tool {
	chosen := s.engine()
	spec := agent.DescribeTool[webSearchArgs](descriptions, "web_search")
	return agent.NewOutward(spec, chosen.name(), func(ctx context.Context, args webSearchArgs) (agent.Result, error) {
		query := strings.Join(strings.Fields(args.Query), " ")
		if query == "" {
			return agent.Result{}, errors.New("empty query")
		}
		if n := len([]rune(query)); n > maxQuery {
			return agent.Result{}, fmt.Errorf("the query has %d characters; a search takes %d at most", n, maxQuery)
		}
		address, err := chosen.address(query)
		if err != nil {
			return agent.Result{}, err
		}
		page, err := w.ask(ctx, address)
		if err != nil {
			return agent.Result{}, fmt.Errorf("search the web with %s: %w", chosen.name(), err)
		}
		hits, err := chosen.hits(page)
		if err != nil {
			return agent.Result{}, fmt.Errorf("search the web with %s: %w", chosen.name(), err)
		}
		limit := webHits
		if args.Limit > 0 {
			limit = min(args.Limit, maxWebHits)
		}
		return webHitsResult(chosen.name(), query, hits[:min(len(hits), limit)]), nil
	})
}

func webHitsResult(engine, query string, hits []hit) agent.Result {
	result := agent.Result{Untrusted: true, Nothing: len(hits) == 0}
	if result.Nothing {
		result.Text = fmt.Sprintf("%s found nothing on the web for %q.", engine, query)
		return result
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s from %s for %q\n", text.Count(len(hits), "result"), engine, query)
	for i, h := range hits {
		fmt.Fprintf(&b, "\n%d. %s\n%s\n", i+1, h.title, h.address)
		if h.snippet != "" {
			b.WriteString(h.snippet + "\n")
		}
		result.Sources = append(result.Sources, agent.Source{
			Path: h.address, Heading: h.title, Text: strings.TrimSpace(h.title + "\n" + h.snippet), Untrusted: true,
		})
	}
	result.Text = strings.TrimSpace(b.String())
	return result
}

// addHit appends a result if its address is valid and not a duplicate.
func addHit(hits []hit, title, address, snippet string) []hit {
	u, err := parseAddress(address)
	if err != nil {
		return hits
	}
	h := hit{text.Cut(oneLine(title), maxTitle), asWritten(u), text.Cut(oneLine(snippet), maxSnippet)}
	if h.title == "" {
		h.title = u.Host
	}
	if slices.ContainsFunc(hits, func(other hit) bool { return other.address == h.address }) {
		return hits
	}
	return append(hits, h)
}

// escapes has the characters that could end an address inside a text.
var escapes = strings.NewReplacer(
	"'", "%27", `"`, "%22", "`", "%60", " ", "%20", "|", "%7C", "^", "%5E", `\`, "%5C",
	"{", "%7B", "}", "%7D", "<", "%3C", ">", "%3E",
)

// asWritten returns an address with the characters escaped that could end it
// inside a text.
func asWritten(u *url.URL) string { return escapes.Replace(u.String()) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
