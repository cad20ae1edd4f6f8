package ollama

import (
	"fmt"
	"net/url"
	"strings"
)

// parseOllamaHost parses OLLAMA_HOST as Ollama does: scheme, port and path are
// optional. A wildcard listen address (0.0.0.0) is replaced by the loopback
// address.
func parseOllamaHost(s string) (*url.URL, error) {
	s = strings.Trim(strings.TrimSpace(s), `"'`)
	if s == "" {
		s = "127.0.0.1"
	}
	port := "11434"
	switch {
	case strings.HasPrefix(s, "http://"):
		port = "80"
	case strings.HasPrefix(s, "https://"):
		port = "443"
	default:
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("invalid Ollama address %q: expected one such as http://127.0.0.1:11434", s)
	}
	host := u.Hostname()
	if u.Port() != "" {
		port = u.Port()
	}
	switch host {
	case "", "0.0.0.0", "::":
		host = "127.0.0.1"
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	u.Host = host + ":" + port
	return u, nil
}
