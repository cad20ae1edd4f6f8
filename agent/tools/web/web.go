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
	"sync/atomic"
	"syscall"
	"time"

	"lifehub/agent"
	"lifehub/internal/text"
	"lifehub/llm"
)

// byteOrderMark may precede a text without being part of it.
const byteOrderMark = "\ufeff"

// Limits of a fetch.
const (
	webTime      = 20 * time.Second
	maxWebBody   = 2 << 20 // bytes, after decompression
	maxRedirects = 5
)

// robotName identifies LifeHub in the User-Agent header and in robots.txt.
const robotName = "LifeHub"

// errPrivate rejects an address that is not on the public internet.
var errPrivate = errors.New("it is not a public address")

// web fetches pages from the public internet only, with the exception of one
// server that the user configured. The address is checked when it is dialled,
// so that neither a name, its spelling, a redirect nor a second DNS answer can
// lead to a private network. Create it with newWeb.
type web struct {
	client *http.Client
}

// newWeb returns a web that resolves names with resolver; nil means the
// system's. own is the host and port of a configured server that need not be
// public and that no other page can redirect to; "" if there is none. sent
// counts the bytes that leave this machine; it may be nil.
func newWeb(resolver *net.Resolver, own string, sent *atomic.Int64) *web {
	dialer := &net.Dialer{Timeout: 10 * time.Second, Resolver: resolver, Control: onlyPublic}
	free := &net.Dialer{Timeout: dialer.Timeout, Resolver: resolver}
	return &web{&http.Client{
		Transport: Reporting{RoundTripper: &http.Transport{
			Proxy: nil, // a proxy would bypass the check of the dialled address
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

// hostPort returns the host and port that are dialled for an address.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = usualPorts[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

var usualPorts = map[string]string{"http": "80", "https": "443"}

// webPage is the response at an address.
type webPage struct {
	url    *url.URL // after redirects
	status int      // as in http.StatusOK
	header http.Header
	body   []byte
	cut    bool // the body exceeded maxWebBody
}

func (p webPage) kind() string { return p.header.Get("Content-Type") }

// get fetches a page and requires status 200. Its error names the address.
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

// ask fetches a page with any status. It sends no cookie, referrer or anything
// that identifies the user. Its error does not include the address.
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
		return webPage{}, llm.Explain(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxWebBody+1))
	if err != nil {
		return webPage{}, llm.Explain(err)
	}
	page := webPage{url: answer.Request.URL, status: answer.StatusCode, header: answer.Header, body: body}
	if page.cut = len(body) > maxWebBody; page.cut {
		page.body = body[:maxWebBody]
	}
	return page, nil
}

// refusal returns the error for a page whose status is not 200.
func refusal(page webPage) error {
	if wantsHuman(page) {
		return errors.New("it asks for a captcha; open it in a browser")
	}
	return llm.Status("the server", page.status, "")
}

// parseAddress parses and checks the address of a page.
func parseAddress(address string) (*url.URL, error) {
	u, _, err := agent.ReadAddress(address)
	return u, err
}

// checkAddress returns an error if no web page can have the address.
func checkAddress(u *url.URL) error {
	_, err := parseAddress(u.String())
	return err
}

// onlyPublic is called right before a connection is made, with the address that
// is dialled.
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

// isPublic reports whether an address belongs to the public internet and does
// not embed another address.
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

// publicV6 is the part of IPv6 allocated so far.
var publicV6 = netip.MustParsePrefix("2000::/3")

// reserved has the blocks of IANA's special-purpose registries that netip does
// not recognize, and those that embed an IPv4 address in an IPv6 one.
var reserved = prefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
	"192.52.193.0/24", "192.88.99.0/24",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "64:ff9b::/96",
	"64:ff9b:1::/48", "100::/64",
)

func prefixes(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}
