package mcpclient

import (
	"net/http"
	"testing"
)

// Requests with a guessed state arrive before the user's own, and are ignored.
func TestGuessedStateDoesNotBlockTheUser(t *testing.T) {
	l, err := listen("right")
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	for _, visit := range []struct {
		query string
		code  int
	}{
		{"?code=stolen&state=guessed", http.StatusNotFound},
		{"?code=stolen", http.StatusNotFound},
		{"?state=right", http.StatusNotFound},
		{"?code=c0de&state=right", http.StatusOK},
	} {
		response, err := http.Get(l.url() + visit.query)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != visit.code {
			t.Errorf("%s: got %s", visit.query, response.Status)
		}
	}
	if code, err := l.wait(t.Context()); code != "c0de" || err != nil {
		t.Errorf("got %q, %v", code, err)
	}
}

func TestSecretsAreSentOnlyToSafeHosts(t *testing.T) {
	for page, ok := range map[string]bool{
		"https://login.example.org/token": true,
		"http://127.0.0.1:9/token":        true,
		"http://169.254.169.254/latest":   false,
		"file:///etc/passwd":              false,
		"javascript:alert(1)":             false,
	} {
		if err := mayGo(page, "http://127.0.0.1:1/mcp"); (err == nil) != ok {
			t.Errorf("%s: got %v", page, err)
		}
	}
	if mayGo("http://login.example.org/token", "https://mcp.example.org/mcp") == nil {
		t.Error("a secret may leave without https")
	}
}
