package agent

import (
	"fmt"
	"net/url"
	"strings"

	"lifehub/internal/pattern"
)

// AddressText matches web addresses in a text.
var AddressText = pattern.Lazy(`(?i)\bhttps?://[^\s<>"'\x60|\\^{}]+`)

// OnWeb reports whether the path of a source or citation is a web address. The
// path of a note never has two adjacent slashes.
func OnWeb(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// PlaceName returns a path followed by the line, or by the page of a PDF or an
// image. The line is omitted for web pages and tool results.
func PlaceName(path string, line int) string {
	switch {
	case line == 0 || OnWeb(path) || !strings.Contains(path, "."):
		return path
	case IsPaged(path):
		return fmt.Sprintf("%s p. %d", path, line)
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// IsPaged reports whether a path is that of a PDF or an image, whose lines are
// pages.
func IsPaged(path string) bool {
	return len(path) > len(".pdf") && strings.EqualFold(path[len(path)-len(".pdf"):], ".pdf") || IsPicture(path)
}

// PlainAddress returns an address in canonical form; "" if it is not a valid
// web address.
func PlainAddress(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Hostname() == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	u.Host, u.Fragment, u.RawFragment = strings.ToLower(u.Host), "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
