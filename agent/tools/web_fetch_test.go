package tools

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAPageIsReadAsMarkdown(t *testing.T) {
	long := strings.Repeat("<p>Run slowly, then run a little longer, and rest on the third day.</p>", 20)
	pages := map[string]struct{ kind, body, want, not string }{
		"/article": {"text/html; charset=utf-8", "<html><head><title>Tips</title></head><body><nav>Menu</nav><article><h1>Tips</h1>" + long + `<a href="/more">more</a><script>alert(1)</script></article></body></html>`, "Run slowly", "alert"},
		"/latin":   {"text/html; charset=iso-8859-1", "<html><body><article><p>Z\xfcrich " + long + "</p></article></body></html>", "Zürich", "\xfc"},
		"/plain":   {"text/plain", "just text", "just text", ""},
		"/pdf":     {"application/pdf", "%PDF-1.7", "", ""},
		"/image":   {"image/png", "\x89PNG", "", ""},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", pages[r.URL.Path].kind)
		_, _ = w.Write([]byte(pages[r.URL.Path].body))
	}))
	defer server.Close()
	tool := newWebFetch(atHome(server.Listener.Addr().String()))
	for path, page := range pages {
		result, err := tool.Run(t.Context(), json.RawMessage(`{"url":"`+server.URL+path+`"}`))
		switch {
		case page.want == "" && err == nil:
			t.Errorf("%s was read: %.80q", path, result.Text)
		case page.want != "" && (err != nil || !strings.Contains(result.Text, page.want) || page.not != "" && strings.Contains(result.Text, page.not) || !result.Foreign):
			t.Errorf("%s: %v, %.200q", path, err, result.Text)
		}
	}
}
