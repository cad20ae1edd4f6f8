package web

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// elsewhereError is a page that leads away from the site that was asked about.
type elsewhereError struct{ to *url.URL }

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("it redirects to %s: ask for that address", e.to.Redacted())
}

// onSite refuses addresses of other sites than that of a page, which the
// question about the call did not show.
func onSite(page *url.URL) func(*url.URL) error {
	return func(to *url.URL) error {
		if !sameSite(page, to) {
			return &elsewhereError{to}
		}
		return nil
	}
}

// sameSite reports whether who asked for a page of one address has asked for the
// other too: it is on the same host, with or without www, and no less secret.
func sameSite(from, to *url.URL) bool {
	if from.Scheme == "https" && to.Scheme != "https" {
		return false
	}
	return siteName(from) == siteName(to)
}

// siteName is a host without www, in the spelling of DNS, and its port if that
// is not the usual one.
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

// within is the same web that goes only where allowed has no objection to.
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
