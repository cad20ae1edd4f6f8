package llm

import (
	"net/url"
	"strings"
	"testing"
)

func TestRedirectErrorExplainsTheCause(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"http://a:8000/v1/models", "http://a:8000/v1/models", "to the same address again"},
		{"http://a/v1/models", "http://A:80/v1/models", "to the same address again"},
		{"http://a:8000/v1/models", "http://a:8000/login?next=x", "from /v1/models to its path /login"},
		{"http://a:8000/v1/models", "https://a:8000/v1/models", "set that address instead"},
		{"http://a:8000/v1/models", "http://b:8000/v1/models", "to http://b:8000, which"},
		{"http://a:8000/v1/models", "http://u:secret@b:8000/v1?key=secret", "to http://b:8000, which"},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		to, err := url.Parse(c.to)
		if err != nil {
			t.Fatal(err)
		}
		if got := redirected(from, to); !strings.Contains(got, c.want) || strings.Contains(got, "secret") {
			t.Errorf("%s to %s: %q", c.from, c.to, got)
		}
	}
}
