package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"lifehub/internal/text"
)

// searxng searches with the JSON API of a SearXNG server (docs.searxng.org,
// "Search API").
type searxng struct{ base string }

func (searxng) name() string { return "SearXNG" }

func (e searxng) address(query string) (string, error) {
	u, err := url.Parse(e.base)
	if err == nil && e.base == "" {
		err = errors.New("it is empty, and web.search is searxng; it takes the server's address, as in " +
			"http://127.0.0.1:8888")
	}
	if err == nil {
		err = checkAddress(u)
	}
	if err != nil {
		return "", fmt.Errorf("the setting web.search_url: %w", err)
	}
	if u.Path = strings.TrimSuffix(u.Path, "/"); !strings.HasSuffix(u.Path, "/search") {
		u.Path += "/search"
	}
	u.RawQuery = url.Values{"q": {query}, "format": {"json"}}.Encode()
	return u.String(), nil
}

func (searxng) hits(page webPage) ([]hit, error) {
	switch {
	case page.status == http.StatusForbidden:
		return nil, errors.New("the server refuses (403): add json to search.formats in its settings.yml")
	case page.status != http.StatusOK:
		return nil, refusal(page)
	}
	return readSearXNG(page.body)
}

// readSearXNG parses the server's response. It returns none and no error if the
// search found nothing.
func readSearXNG(body []byte) ([]hit, error) {
	var answer struct {
		Results *[]struct {
			URL     string `json:"url"`
			Title   string `json:"title"`
			Content string `json:"content"`
		} `json:"results"`
		Silent [][]any `json:"unresponsive_engines"` // name and reason of each
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not the JSON of SearXNG (%w); is web.search_url its address?", err)
	}
	if answer.Results == nil {
		return nil, errors.New("the answer is JSON without results; is web.search_url the address of a SearXNG server?")
	}
	var hits []hit
	for _, r := range *answer.Results {
		hits = addHit(hits, r.Title, r.URL, r.Content)
	}
	switch {
	case len(hits) == 0 && len(answer.Silent) > 0:
		var names []string
		for _, engine := range answer.Silent {
			names = append(names, text.Cut(oneLine(strings.Trim(fmt.Sprint(engine), "[]")), 100))
		}
		return nil, fmt.Errorf("none of the engines that it asks gave results: %s",
			strings.Join(names[:min(len(names), 8)], ", "))
	case len(hits) == 0 && len(*answer.Results) > 0:
		return nil, errLayout
	}
	return hits, nil
}
