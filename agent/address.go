package agent

import (
	"fmt"
	"net/url"
	"strings"

	"lifehub/internal/pattern"
)

// AddressText finds addresses in a text.
var AddressText = pattern.Lazy(`(?i)\bhttps?://[^\s<>"'\x60|\\^{}]+`)

// OnWeb reports whether the path of a source or a citation is the address of a
// page of the web. That of a note never is: it holds no two slashes in a row.
func OnWeb(path string) bool {
	return strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://")
}

// PlaceName is a path with its line, or its page, where that says something.
func PlaceName(path string, line int) string {
	switch {
	case line == 0 || OnWeb(path) || !strings.Contains(path, "."):
		return path
	case IsPDF(path):
		return fmt.Sprintf("%s p. %d", path, line)
	}
	return fmt.Sprintf("%s:%d", path, line)
}

// IsPDF reports whether a path is that of a PDF, whose lines are its pages.
func IsPDF(path string) bool {
	return len(path) > len(".pdf") && strings.EqualFold(path[len(path)-len(".pdf"):], ".pdf")
}

// PlainAddress is an address in one spelling; "" for one that cannot be read.
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
