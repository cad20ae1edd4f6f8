package web

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"lifehub/internal/webtest"
)

// checkHits checks what is true of every list of results.
func checkHits(t *testing.T, hits []hit, err error) {
	t.Helper()
	if err != nil && len(hits) > 0 {
		t.Fatalf("%d results and %v", len(hits), err)
	}
	for _, h := range hits {
		u, err := parseAddress(h.address)
		if err != nil || asWritten(u) != h.address || strings.ContainsAny(h.address, " \n'\"<>") {
			t.Fatalf("a result leads to %q: %v", h.address, err)
		}
		if h.title == "" || len(h.title) > maxTitle+4 || len(h.snippet) > maxSnippet+4 ||
			strings.ContainsAny(h.title+h.snippet, "\n\r") {
			t.Fatalf("a result is %+v", h)
		}
	}
}

func FuzzDuckDuckGo(f *testing.F) {
	web := webtest.New(f)
	for _, name := range []string{
		"duckduckgo.html", "duckduckgo-none.html",
		"duckduckgo-captcha.html", "duckduckgo-new.html",
	} {
		f.Add([]byte(web.Page(name)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		hits, err := readDuckDuckGo(body)
		checkHits(t, hits, err)
	})
}

func FuzzSearXNG(f *testing.F) {
	web := webtest.New(f)
	for _, name := range []string{"searxng.json", "searxng-none.json", "searxng-silent.json"} {
		f.Add([]byte(web.Page(name)))
	}
	f.Add([]byte(`{"results":[{"url":null}],"unresponsive_engines":[[],[1],["a",null]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		hits, err := readSearXNG(body)
		checkHits(t, hits, err)
	})
}

func FuzzArticle(f *testing.F) {
	web := webtest.New(f)
	for _, name := range []string{"marathon.html", "login.html", "challenge.html", "app.html"} {
		f.Add("text/html; charset=utf-8", []byte(web.Page(name)))
	}
	f.Add("text/html; charset=shift_jis", []byte("<a href=':'>\x83\x7d<base href='//x'><a href=y>z</a>"))
	f.Add("text/plain", []byte("\xff\xfea\x00"))
	f.Add("", []byte("\x1b$B"))
	at, err := url.Parse("https://tips.example/a/b")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		if len(body) > 64<<10 {
			return
		}
		a, err := readArticle(webPage{url: at, status: 200, header: http.Header{"Content-Type": {kind}}, body: body})
		if err != nil {
			return
		}
		lines := strings.Split(a.text, "\n")
		if strings.TrimSpace(a.text) == "" || !utf8.ValidString(a.text) {
			t.Fatalf("the text is %q", a.text)
		}
		for _, s := range a.sources(lines, 1, Fitting(lines, 1, len(lines), MaxRead)) {
			if s.Line < 1 || s.EndLine > len(lines) || s.EndLine < s.Line || !s.Untrusted {
				t.Fatalf("a source is %+v of %d lines", s, len(lines))
			}
		}
		for _, link := range a.links {
			if _, err := parseAddress(link); err != nil {
				t.Fatalf("a link is %q: %v", link, err)
			}
		}
	})
}

// Any file is read, and any address judged, without a panic.
func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /*.gif$\nAllow: /a*b", "/a/b.gif")
	f.Add("User-agent: LifeHub\nDisallow: /%7e*%", "/~?%zz")
	f.Add("User-agent: *\nDisallow: **$$\nDisallow: $", "/$")
	f.Fuzz(func(t *testing.T, text, path string) {
		u, err := url.Parse("https://x.example/" + strings.TrimPrefix(path, "/"))
		if err != nil {
			return
		}
		readRobots([]byte(text)).allows(u)
	})
}

func FuzzWeather(f *testing.F) {
	f.Add(zurich, forecast)
	f.Add(`{"results":[{"name":"a"}]}`, `{"daily":{"time":["2026-10-08","x",""],"weather_code":[null]}}`)
	f.Fuzz(func(t *testing.T, places, weather string) {
		var found struct {
			Results []town `json:"results"`
		}
		var r report
		if json.Unmarshal([]byte(places), &found) != nil || json.Unmarshal([]byte(weather), &r) != nil {
			return
		}
		for _, place := range found.Results {
			if text := r.text(place); !strings.HasSuffix(text, "Source: Open-Meteo") {
				t.Fatalf("got %q", text)
			}
		}
	})
}
