package web

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

	"lifehub/internal/neterr"
	"lifehub/internal/text"
)

// byteOrderMark may begin a text, and is no part of it.
const byteOrderMark = "\ufeff"

// The bounds of a fetch.
const (
	webTime      = 20 * time.Second
	maxWebBody   = 2 << 20 // bytes, after decompression
	maxRedirects = 5
)

// robotName is how LifeHub calls itself to servers, and is called in robots.txt.
const robotName = "LifeHub"

// errPrivate refuses an address that is not on the public internet.
var errPrivate = errors.New("it is not a public address")

// web fetches pages from the public internet and from nowhere else, except
// one server that the user named. The address is checked when it is dialled, so
// that neither a name, its spelling, a redirect nor a second answer of DNS leads
// inside. Make it with newWeb.
type web struct {
	client *http.Client
}

// newWeb makes a web whose names are looked up by resolver; nil: the system's.
// own is the host and port of a server of the user's that need not be public,
// and to which no other page leads; "": none. sent is told what leaves this
// machine; nil: nobody is.
func newWeb(resolver *net.Resolver, own string, sent func(bytes int)) *web {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver, Control: onlyPublic}
	free := &net.Dialer{Timeout: dialer.Timeout, Resolver: resolver}
	return &web{&http.Client{
		Transport: Reporting{RoundTripper: &http.Transport{
			Proxy: nil, // a proxy would dial in our place
			DialContext: Counted(func(ctx context.Context, network, address string) (net.Conn, error) {
				if own != "" && strings.EqualFold(address, own) {
					return free.DialContext(ctx, network, address)
				}
				return dialer.DialContext(ctx, network, address)
			}, sent),
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			ResponseHeaderTimeout:  webTime,
			MaxResponseHeaderBytes: 64 << 10,
		}},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			switch {
			case len(via) > maxRedirects:
				return fmt.Errorf("it redirects more than %d times", maxRedirects)
			case own != "" && strings.EqualFold(hostPort(r.URL), own) && !strings.EqualFold(hostPort(via[0].URL), own):
				return errPrivate
			}
			return checkAddress(r.URL)
		},
		Timeout: webTime,
	}}
}

// hostPort is what is dialled for an address.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = usualPorts[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

var usualPorts = map[string]string{"http": "80", "https": "443"}

// webPage is what is at an address.
type webPage struct {
	url    *url.URL // after redirects
	status int      // as in http.StatusOK
	header http.Header
	body   []byte
	cut    bool // it was longer than maxWebBody
}

func (p webPage) kind() string { return p.header.Get("Content-Type") }

// get fetches a page that is there. Its error names the address.
func (w *web) get(ctx context.Context, address string) (webPage, error) {
	page, err := w.ask(ctx, address)
	if err == nil && page.status != http.StatusOK {
		address, err = page.url.Redacted(), refusal(page)
	}
	if err != nil {
		return webPage{}, fmt.Errorf("fetch %.200s: %w", text.OneLine(address), err)
	}
	return page, nil
}

// ask fetches whatever a server answers. It sends no cookie, no referrer and no
// sign of who asks. Its error says why, without the address.
func (w *web) ask(ctx context.Context, address string) (webPage, error) {
	u, err := parseAddress(address)
	if err != nil {
		return webPage{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, webTime)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return webPage{}, err
	}
	request.Header.Set("User-Agent", "Mozilla/5.0 (compatible; "+robotName+")")
	request.Header.Set("Accept", "text/html, text/plain, text/markdown, application/json;q=0.8, */*;q=0.1")
	answer, err := w.client.Do(request)
	if err != nil {
		return webPage{}, neterr.Explain(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxWebBody+1))
	if err != nil {
		return webPage{}, neterr.Explain(err)
	}
	page := webPage{url: answer.Request.URL, status: answer.StatusCode, header: answer.Header, body: body}
	if page.cut = len(body) > maxWebBody; page.cut {
		page.body = body[:maxWebBody]
	}
	return page, nil
}

// refusal says what a status other than 200 means for who wants to read.
func refusal(page webPage) error {
	if wantsHuman(page) {
		return errors.New("it asks for a captcha; open it in a browser")
	}
	return neterr.Status("the server", page.status, "")
}

// parseAddress reads the address of a page.
func parseAddress(address string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return nil, err
	}
	u.Host = strings.ToLower(u.Host)
	return u, checkAddress(u)
}

// checkAddress refuses what no web page is at.
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

// isPublic reports whether an address is one of the public internet, also where
// another is inside it.
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
