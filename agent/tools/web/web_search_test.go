package web

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"lifehub/agent"
	"lifehub/internal/webtest"
)

func searchWeb(t *testing.T, s Search, args string) (agent.Result, error) {
	t.Helper()
	return newWebSearch(s, newWeb(nil, s.own(), nil)).Run(t.Context(), json.RawMessage(args))
}

func TestWebSearchReturnsTitlesAddressesAndSnippets(t *testing.T) {
	web := webtest.New(t)
	cafe := web.URL + "/caf%C3%A9?a=1&b=2"
	for name, tc := range map[string]struct {
		search Search
		want   string
	}{
		"DuckDuckGo": {Search{URL: web.URL + "/html/"}, `3 results from DuckDuckGo for "marathon training tips"

1. Marathon training: a plan for sixteen weeks
` + web.URL + `/marathon
Sixteen weeks of marathon training: long runs, rest days and tips for the race.

2. O'Brien's café & running club
` + cafe + `
Where runners meet.

3. A link without the redirect
https://example.org/direct`},
		"SearXNG": {Search{Engine: "searxng", URL: web.URL + "/searxng"}, `2 results from SearXNG for "marathon training tips"

1. Marathon training: a plan for sixteen weeks
` + web.URL + `/marathon
Sixteen weeks of marathon training: long runs, rest days and tips for the race.

2. A second page
https://example.org/direct`},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := searchWeb(t, tc.search, `{"query":"  marathon\ntraining  tips "}`)
			if err != nil || result.Text != tc.want || !result.Untrusted || result.Nothing {
				t.Fatalf("%v, untrusted %t, nothing %t:\n%s\nwant\n%s", err, result.Untrusted,
					result.Nothing, result.Text, tc.want)
			}
			first := result.Sources[0]
			if first.Path != web.URL+"/marathon" || !first.Untrusted ||
				first.Heading != "Marathon training: a plan for sixteen weeks" || first.Line != 0 ||
				!strings.HasSuffix(first.Text, "\nSixteen weeks of marathon training: long runs, rest days and tips "+
					"for the race.") {
				t.Errorf("the first source is %+v", first)
			}
			if few, err := searchWeb(t, tc.search, `{"query":"marathon","limit":1}`); err != nil ||
				len(few.Sources) != 1 {
				t.Errorf("one was asked for: %+v, %v", few, err)
			}
		})
	}
	for _, asked := range web.Asked() {
		u, err := url.Parse(asked)
		if err != nil || u.Query().Get("q") != "marathon training tips" && u.Query().Get("q") != "marathon" {
			t.Errorf("asked for %s", asked)
		}
	}
}

func TestEmptySearchReportsWhy(t *testing.T) {
	web := webtest.New(t)
	duck, searx := Search{URL: web.URL + "/html/"}, Search{Engine: "searxng", URL: web.URL + "/searxng/"}
	for name, tc := range map[string]struct {
		search      Search
		query, want string // want begins with "nothing: " if there are no results
	}{
		"nothing found":    {duck, "none", `nothing: DuckDuckGo found nothing on the web for "none".`},
		"a captcha":        {duck, "captcha", "asks for a captcha"},
		"a changed layout": {duck, "new", "its layout has changed"},
		"asked too often":  {duck, "busy", "asked too often (429 Too Many Requests); try again later"},
		"another page":     {Search{URL: web.URL + "/marathon"}, "x", "or it is another page"},
		"no such page": {
			Search{URL: web.URL + "/nowhere"},
			"x",
			"the server has nothing at this address (404",
		},
		"SearXNG found nothing": {searx, "none", `nothing: SearXNG found nothing on the web for "none".`},
		"its engines are silent": {searx, "silent", "none of the engines that it asks gave results: brave Suspended: " +
			"too many requests, google Suspended: CAPTCHA"},
		"no JSON":             {searx, "page", "is not the JSON of SearXNG"},
		"JSON is not allowed": {searx, "busy", "add json to search.formats"},
		"other JSON":          {searx, "new", "JSON without results"},
		"no address":          {Search{Engine: "searxng"}, "x", "the setting web.search_url: it is empty"},
		"no address at all": {
			Search{Engine: "searxng", URL: "localhost:8888"},
			"x",
			"the setting web.search_url: only http",
		},
		"nobody there": {
			Search{URL: "http://127.0.0.1:1/"},
			"x",
			"search the web with DuckDuckGo: connection refused; check the address",
		},
		"no words":       {duck, " ", "empty query"},
		"too many words": {duck, strings.Repeat("word ", 100), "400 at most"},
	} {
		t.Run(name, func(t *testing.T) {
			args, err := json.Marshal(webSearchArgs{Query: tc.query})
			if err != nil {
				t.Fatal(err)
			}
			result, err := searchWeb(t, tc.search, string(args))
			if text, nothing := strings.CutPrefix(tc.want, "nothing: "); nothing {
				if err != nil || !result.Nothing || result.Text != text {
					t.Errorf("got %+v, %v", result, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestDuckDuckGoRedirectsAreResolvedLocally(t *testing.T) {
	for link, want := range map[string]string{
		"//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fb%3Fc%3Dd%26e%3Df&rut=1":                            "https://a.example/b?c=d&e=f",
		"/l/?uddg=https%3A%2F%2Fa.example%2F":                                                                   "https://a.example/",
		"https://duckduckgo.com/l/?rut=1&uddg=http%3A%2F%2Fa.example%2F%25C3%25BC":                              "http://a.example/%C3%BC",
		"https://html.duckduckgo.com/l?uddg=%2F%2Fduckduckgo.com%2Fl%2F%3Fuddg%3Dhttps%253A%252F%252Fa.example": "https://a.example",
		"https://a.example/l/?uddg=https%3A%2F%2Fb.example":                                                     "https://a.example/l/?uddg=https%3A%2F%2Fb.example",
		"https://duckduckgo.com/y.js?ad_domain=a.example":                                                       "",
		"//duckduckgo.com/l/?uddg=":                                                                             "",
		"http://[bad":                                                                                           "",
	} {
		got := behindRedirect(link)
		if hits := addHit(nil, "t", got, ""); want == "" && len(hits) > 0 || want != "" && got != want {
			t.Errorf("%s leads to %q, want %q", link, got, want)
		}
	}
}

func TestOnlyTheConfiguredSearchServerMayBePrivate(t *testing.T) {
	mine, other := webtest.New(t), webtest.New(t)
	w := newWeb(nil, Search{URL: mine.URL + "/html/"}.own(), nil)
	if _, err := w.get(t.Context(), mine.URL+"/marathon"); err != nil {
		t.Errorf("the user's own server: %v", err)
	}
	if _, err := w.get(t.Context(), other.URL+"/marathon"); err == nil || len(other.Asked()) > 0 {
		t.Errorf("another port of this machine was asked: %v", err)
	}
	for _, none := range []Search{{}, {Engine: "searxng"}, {URL: "::"}} {
		if _, err := newWeb(nil, none.own(), nil).get(t.Context(), mine.URL); err == nil {
			t.Errorf("%+v opens %s", none, mine.URL)
		}
	}
}
