// Package webtest is a local web server for tests, with search engines, articles,
// a site to crawl, and pages that are slow, huge, mislabelled or forbidden. The
// pages resemble real ones. Start with [New].
package webtest

import (
	"embed"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:embed pages
var files embed.FS

// Server is the web server. Its search engines are at /html/ (DuckDuckGo) and
// /searxng. A word of the query selects the response: none, captcha, new (a new
// layout), silent, page (HTML instead of JSON), busy.
type Server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
}

// New starts the server. It stops when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Start() // start last: requests may arrive immediately and need the URL
	t.Cleanup(s.Close)
	return s
}

// Host returns the server's host and port.
func (s *Server) Host() string { return s.Listener.Addr().String() }

// Asked returns the paths and queries of all requests, in order.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.asked...)
}

// Page returns a recorded page, with its links pointing to the server.
func (s *Server) Page(name string) string {
	raw, err := files.ReadFile("pages/" + name)
	if err != nil {
		return err.Error()
	}
	return strings.NewReplacer("{{base}}", url.QueryEscape(s.URL), "{{plain}}", s.URL).Replace(string(raw))
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, r.URL.RequestURI())
	s.mu.Unlock()
	query := r.URL.Query().Get("q")
	switch path := r.URL.Path; {
	case path == "/html/", path == "/searxng/search":
		s.answer(w, path, query)
	case strings.HasPrefix(path, "/site/"):
		s.site(w, strings.TrimPrefix(path, "/site/"))
	case path == "/slow":
		<-r.Context().Done()
	case path == "/drip": // one byte from time to time, forever
		for {
			if _, err := io.WriteString(w, "."); err != nil || r.Context().Err() != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	case strings.HasPrefix(path, "/hop/"):
		var n int
		if _, err := fmt.Sscanf(path, "/hop/%d", &n); err != nil || n == 0 {
			http.Redirect(w, r, "/marathon", http.StatusFound)
			return
		}
		http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), http.StatusMovedPermanently)
	default:
		if p, ok := pages[path]; ok {
			s.show(w, p)
			return
		}
		say(w, 404, "text/html", "<h1>Not found</h1>")
	}
}

func say(w http.ResponseWriter, status int, kind, body string) {
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(max(status, 200))
	_, _ = io.WriteString(w, body)
}

// answer sends the table's response for the engine and a word of the query, or
// else for the engine alone.
func (s *Server) answer(w http.ResponseWriter, engine, query string) {
	for word := range strings.FieldsSeq(query) {
		if p, ok := pages[engine+"?"+word]; ok {
			s.show(w, p)
			return
		}
	}
	s.show(w, pages[engine])
}

// show sends a page of the table.
func (s *Server) show(w http.ResponseWriter, p fixed) {
	if p.file != "" {
		p.body = s.Page(p.file)
	}
	for name, value := range p.header {
		w.Header().Set(name, value)
	}
	say(w, p.status, p.kind, p.body)
}

// site serves a small site of pages that link to each other, some of which robots
// must not visit.
func (s *Server) site(w http.ResponseWriter, name string) {
	text := strings.Repeat("<p>This page of the handbook tells of "+name+
		" at some length, so that it is worth reading it for what it says and not for where it leads.</p>", 6)
	links := map[string]string{
		"start": `<a href="rest">Rest</a> <a href="/site/food">Food</a> <a ` +
			`href="https://elsewhere.example/">Elsewhere</a> <a href="private/plan">Plan</a> <a ` +
			`href="/paper.pdf">Paper</a> <a href="rest#top">Top</a> <a rel="nofollow" href="spam">Spam</a> <a ` +
			`href="gone">Gone</a> <a href="away">Away</a>`,
		"rest": `<a href="sleep">Sleep</a> <a href="start">Start</a>`, "food": `<a href="water">Water</a>`,
		"sleep": "", "water": "",
	}
	switch body, ok := links[name]; {
	case name == "away":
		w.Header().Set("Location", "https://elsewhere.example/")
		w.WriteHeader(http.StatusFound)
	case name == "moved": // to an address that does not exist
		w.Header().Set("Location", "http://192.0.2.1/moved")
		w.WriteHeader(http.StatusMovedPermanently)
	case !ok:
		say(w, 404, "text/html", "")
	default:
		say(w, 200, "text/html; charset=utf-8", "<html><head><title>On "+name+"</title></head><body><article><h1>On "+
			name+"</h1>"+text+"<p>"+body+"</p></article></body></html>")
	}
}

// fixed is a constant page.
type fixed struct {
	status     int // 0 means 200
	kind       string
	body, file string
	header     map[string]string
}

const filler = " <p>Nach dem Lauf treffen sich alle im Café an der Brücke, trinken süßen Tee und reden über die " +
	"nächste Woche, über Schuhe und über das Wetter.</p> "

// latin1 is the filler in the encoding of old servers.
var latin1 = func() string {
	var out strings.Builder
	for _, r := range filler {
		out.WriteByte(byte(r))
	}
	return out.String()
}()

var pages = map[string]fixed{
	"/html/":                 {kind: "text/html; charset=UTF-8", file: "duckduckgo.html"},
	"/html/?captcha":         {kind: "text/html; charset=UTF-8", status: 202, file: "duckduckgo-captcha.html"},
	"/html/?none":            {kind: "text/html; charset=UTF-8", file: "duckduckgo-none.html"},
	"/html/?new":             {kind: "text/html; charset=UTF-8", file: "duckduckgo-new.html"},
	"/html/?busy":            {kind: "text/html; charset=UTF-8", status: 429},
	"/searxng/search":        {kind: "application/json", file: "searxng.json"},
	"/searxng/search?none":   {kind: "application/json", file: "searxng-none.json"},
	"/searxng/search?silent": {kind: "application/json", file: "searxng-silent.json"},
	"/searxng/search?page":   {kind: "text/html", body: "<!DOCTYPE html><title>SearXNG</title>"},
	"/searxng/search?new":    {kind: "application/json", body: `{"hits":[]}`},
	"/searxng/search?busy":   {status: 403, kind: "text/html", body: "<h1>Forbidden</h1>"},
	"/robots.txt":            {kind: "text/plain", body: "User-agent: *\nDisallow: /site/private\n"},
	"/huge": {
		kind: "text/html; charset=utf-8",
		body: "<html><head><title>Huge</title></head><body><article>" +
			strings.Repeat("<p>All work and no play makes a dull page.</p>\n", 5_000) + "</article></body></html>",
	},
	"/marathon":  {kind: "text/html; charset=utf-8", file: "marathon.html"},
	"/login":     {kind: "text/html; charset=utf-8", file: "login.html"},
	"/members":   {status: 401, kind: "text/html", body: "<h1>Unauthorized</h1>"},
	"/forbidden": {status: 403, kind: "text/html", body: "<h1>Forbidden</h1>"},
	"/broken":    {status: 502, kind: "text/html", body: "<h1>Bad gateway</h1>"},
	"/challenge": {
		status: 403, kind: "text/html; charset=UTF-8", file: "challenge.html",
		header: map[string]string{"Cf-Mitigated": "challenge"},
	},
	"/challenge2": {kind: "text/html; charset=UTF-8", file: "challenge.html"},
	"/app":        {kind: "text/html; charset=utf-8", file: "app.html"},
	"/empty":      {kind: "text/html", body: "<html><body></body></html>"},
	"/blank":      {kind: "text/plain", body: " \n "},
	"/paper.pdf":  {kind: "application/pdf", body: "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"},
	"/hidden-pdf": {kind: "text/html", body: "%PDF-1.4\n"},
	"/photo":      {kind: "image/png", body: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
	"/photo.html": {kind: "text/html", body: "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"},
	"/archive":    {kind: "application/octet-stream", body: "PK\x03\x04\x14\x00\x00\x00"},
	"/noise":      {kind: "", body: "\x00\x01\x02\x03\x04\x05"},
	"/plain":      {kind: "text/plain; charset=utf-8", body: "just text\r\n\r\nin two parts\r\n"},
	"/data":       {kind: "application/json", body: `{"distance": 42.195}`},
	"/notype": {kind: "", body: "<html><body><article><h1>No type</h1>" + strings.Repeat(filler, 5) +
		"</article></body></html>"},
	"/latin1": {
		kind: "text/html; charset=iso-8859-1",
		body: "<html><body><article>" + strings.Repeat(latin1, 5) + "</article></body></html>",
	},
	"/mislabelled": {
		kind: "text/html; charset=iso-8859-1",
		body: "<html><body><article>" + strings.Repeat(filler, 5) + "</article></body></html>",
	},
	"/meta": {kind: "text/html", body: `<html><head><meta ` +
		`charset="windows-1252"></head><body><article>` + strings.Repeat(latin1, 5) + "</article></body></html>"},
	"/bom": {
		kind: "text/html; charset=iso-8859-1",
		body: "\xef\xbb\xbf<html><body><article>" + strings.Repeat(filler, 5) + "</article></body></html>",
	},
	"/shiftjis": {kind: "text/html", body: `<html><head><meta charset="shift_jis"></head>` +
		"<body><article><p>" + strings.Repeat("\x83\x7d\x83\x89\x83\x5c\x83\x93\x82\xcc\x97\xfb\x8f\x4b\x82\xcd\x8f\x54\x82\xc9\x8e\x4f\x89\xf1\x81\x42", 40) + "</p></article></body></html>"},
}
