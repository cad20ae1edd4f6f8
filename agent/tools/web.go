package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// The bounds of a fetch (product.md §9).
const (
	webTime      = 20 * time.Second
	maxWebBody   = 2 << 20 // bytes, after decompression
	maxRedirects = 5
)

// errPrivate refuses an address that is not on the public internet.
var errPrivate = errors.New("it is no public address")

// web fetches pages from the public internet and from nowhere else. The
// address is checked when it is dialled, so that neither a name, its spelling,
// a redirect nor a second answer of DNS leads inside. Make it with newWeb.
type web struct {
	client *http.Client
}

// newWeb makes a web whose names are looked up by resolver; nil: the system's.
func newWeb(resolver *net.Resolver) *web {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver, Control: onlyPublic}
	return &web{&http.Client{
		Transport: &http.Transport{
			Proxy:                  nil, // a proxy would dial in our place
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  webTime,
			MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > maxRedirects {
				return fmt.Errorf("it leads on more than %d times", maxRedirects)
			}
			return checkAddress(r.URL)
		},
		Timeout: webTime,
	}}
}

// page is what lies at an address.
type webPage struct {
	url  *url.URL // after redirects
	kind string   // Content-Type
	body []byte
	cut  bool // it was longer than maxWebBody
}

// get fetches an address. It sends no cookie, no referrer and no sign of who asks.
func (w *web) get(ctx context.Context, address string) (webPage, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err == nil {
		err = checkAddress(u)
	}
	if err != nil {
		return webPage{}, fmt.Errorf("fetch %.200q: %w", address, err)
	}
	ctx, cancel := context.WithTimeout(ctx, webTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return webPage{}, fmt.Errorf("fetch %.200q: %w", address, err)
	}
	request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; LifeHub)")
	request.Header.Set("Accept", "text/html, text/plain, text/markdown, application/json;q=0.8, */*;q=0.1")
	answer, err := w.client.Do(request)
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err // it names the address again
		}
		return webPage{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return webPage{}, fmt.Errorf("fetch %s: the server says %s", u.Redacted(), answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxWebBody+1))
	if err != nil {
		return webPage{}, fmt.Errorf("fetch %s: %w", u.Redacted(), err)
	}
	page := webPage{url: answer.Request.URL, kind: answer.Header.Get("Content-Type"), body: body}
	if page.cut = len(body) > maxWebBody; page.cut {
		page.body = body[:maxWebBody]
	}
	return page, nil
}

// checkAddress refuses what no web page lies at.
func checkAddress(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only http and https addresses can be fetched")
	case u.Hostname() == "" || u.Opaque != "":
		return errors.New("it names no host")
	case u.User != nil:
		return errors.New("it holds a user's name, which can hide the host")
	}
	return nil
}

// onlyPublic is asked right before a connection is made, with the very
// address that is dialled.
func onlyPublic(network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return errPrivate
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(at.Addr()) {
		return errPrivate
	}
	return nil
}

// isPublic tells whether an address is one of the public internet, also where
// another lies inside it.
func isPublic(ip netip.Addr) bool {
	if ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	if !ip.IsGlobalUnicast() || ip.IsPrivate() {
		return false
	}
	for _, block := range reserved {
		if block.Contains(ip) {
			return false
		}
	}
	return ip.Is4() || publicV6.Contains(ip)
}

// publicV6 is all that is handed out of IPv6 so far.
var publicV6 = netip.MustParsePrefix("2000::/3")

// reserved are the blocks of IANA's special-purpose registries that netip does
// not know, and the ways to write an IPv4 address inside an IPv6 one: what they
// lead to is not ours to say.
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64",
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}
