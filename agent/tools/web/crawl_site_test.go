package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"lifehub/agent"
	"lifehub/internal/webtest"
)

func TestSameSiteIsRecognised(t *testing.T) {
	for pair, want := range map[string]bool{
		"http://a.example/x https://a.example/y":                 true,
		"http://a.example https://www.a.example/":                true,
		"https://www.a.example/ https://A.example./":             true,
		"https://a.example/ https://a.example:443/":              true,
		"http://a.example:80/ https://a.example/":                true,
		"https://bücher.example/ https://xn--bcher-kva.example/": true,
		"http://127.0.0.1:8080/a http://127.0.0.1:8080/b":        true,

		"https://a.example/ http://a.example/":                false, // unencrypted
		"https://a.example/ https://b.example/":               false,
		"https://a.example/ https://m.a.example/":             false,
		"https://m.a.example/ https://a.example/":             false,
		"https://a.example/ https://a.example.b.example/":     false,
		"https://a.example/ https://wwwa.example/":            false,
		"https://a.example/ https://a.example:8443/":          false,
		"https://[2001:db8::1]:80/ https://[2001:db8::1:80]/": false,
		"https://a.example/ https://a.example%2eb.example/":   false,
		"https://аpple.example/ https://apple.example/":       false, // the first has a Cyrillic letter
	} {
		from, to, _ := strings.Cut(pair, " ")
		a, err := url.Parse(from)
		if err != nil {
			t.Fatal(err)
		}
		b, err := url.Parse(to)
		if err != nil {
			continue // nothing is opened there
		}
		if got := sameSite(a, b); got != want {
			t.Errorf("%s: %v", pair, got)
		}
	}
}

// leading starts a site on which every address links to where to says; "" means
// nowhere.
func leading(t *testing.T, to func(path string) string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at := to(r.URL.Path); at != "" {
			http.Redirect(w, r, at, http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("a page of a few words"))
	}))
	t.Cleanup(server.Close)
	return server
}

func TestRedirectToAnotherSiteStops(t *testing.T) {
	other := webtest.New(t)
	for name, to := range map[string]string{
		"another host": "https://elsewhere.example/page?q=1", "another port": other.URL + "/marathon",
		"something inside": "http://192.0.2.1/",
	} {
		server := leading(t, func(path string) string {
			return map[string]string{"/first": "/second", "/second": to}[path]
		})
		input := json.RawMessage(`{"url":"` + server.URL + `/first"}`)
		home := atHome(server.Listener.Addr().String())
		for _, tool := range []agent.Tool{newWebFetch(home), newCrawl(home, time.Now, pause)} {
			_, err := tool.Run(t.Context(), input)
			if want := "it redirects to " + to + ": ask for that address"; err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
	if asked := other.Asked(); len(asked) > 0 {
		t.Errorf("the other site was asked for %v", asked)
	}
}

func TestCrawlIgnoresRobotsOfOtherSites(t *testing.T) {
	server := leading(t, func(path string) string {
		if path == "/robots.txt" {
			return "https://elsewhere.example/robots.txt"
		}
		return ""
	})
	_, err := newCrawl(atHome(server.Listener.Addr().String()), time.Now, pause).Run(t.Context(),
		json.RawMessage(`{"url":"`+server.URL+`/"}`))
	if err == nil || !strings.Contains(err.Error(), "its robots.txt redirects to elsewhere.example, so it is not "+
		"crawled") {
		t.Error(err)
	}
}
