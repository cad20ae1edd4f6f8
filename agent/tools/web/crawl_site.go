package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// elsewhereError means that a page leads to another site than the requested
// one.
type elsewhereError struct{ to *url.URL }

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("it redirects to %s: ask for that address", e.to.Redacted())
}

// onSite returns a function that rejects addresses on other sites, which the
// user was not asked about.
func onSite(page *url.URL) func(*url.URL) error {
	return func(to *url.URL) error {
		if !sameSite(page, to) {
			return &elsewhereError{to}
		}
		return nil
	}
}

// sameSite reports whether permission for one address covers the other: it is
// on the same host, with or without www, and does not downgrade from https.
func sameSite(from, to *url.URL) bool {
	if from.Scheme == "https" && to.Scheme != "https" {
		return false
	}
	return siteName(from) == siteName(to)
}

// siteName returns a host in canonical form, without www, with its port if it
// is not the default.
func siteName(u *url.URL) string {
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if plain, err := idna.Lookup.ToASCII(name); err == nil {
		name = plain
	}
	name = strings.TrimPrefix(name, "www.")
	if port := u.Port(); port != "" && port != usualPorts[u.Scheme] {
		return net.JoinHostPort(name, port)
	}
	return name
}

// within returns a copy of w that follows only redirects that allowed accepts.
func (w *web) within(allowed func(*url.URL) error) *web {
	client := *w.client
	check := client.CheckRedirect
	client.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if err := check(r, via); err != nil {
			return err
		}
		return allowed(r.URL)
	}
	return &web{&client}
}
