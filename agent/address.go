package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// AddressText matches web addresses in a text.
var AddressText = regexp.MustCompile(`(?i)\bhttps?://[^\s<>"'\x60|\\^{}]+`)

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

// ReadAddress parses the address of a web page to be opened or shown. Its host is in lower case, a name in
// another script in punycode. site is the part of the host that can be registered, such as example.co.uk,
// and the whole host if it has none. An address with a user's name is refused, because that can pass for
// the host, and so is an IPv4 address in any spelling but four decimal numbers, such as 2130706433.
func ReadAddress(address string) (u *url.URL, site string, err error) {
	u, err = url.Parse(strings.TrimSpace(address))
	switch {
	case err != nil:
		return nil, "", err
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, "", errors.New("only http and https addresses can be opened")
	case u.Hostname() == "" || u.Opaque != "":
		return nil, "", errors.New("it names no host")
	case u.User != nil:
		return nil, "", errors.New("it holds a user's name, which can hide the host")
	}
	if _, err := netip.ParseAddr(u.Hostname()); err == nil {
		u.Host = strings.ToLower(u.Host)
		return u, u.Hostname(), nil
	}
	name := strings.ToLower(u.Hostname())
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" {
		if name, err = idna.Lookup.ToASCII(name); err != nil {
			return nil, "", fmt.Errorf("its host %q is not a valid name", u.Hostname())
		}
	}
	if isNumber(name) {
		return nil, "", fmt.Errorf("its host %q is a number, which hides which machine is meant; write an IPv4 "+
			"address as four decimal numbers", u.Hostname())
	}
	if port := u.Port(); port != "" {
		u.Host = name + ":" + port
	} else {
		u.Host = name
	}
	return u, siteOf(name), nil
}

// isNumber reports whether a host is an IPv4 address to the URL standard: its last label is a decimal or
// hexadecimal number.
func isNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, is := strings.CutPrefix(last, "0x"); is {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

// siteOf returns the part of a host's name that can be registered.
func siteOf(name string) string {
	name = strings.TrimSuffix(name, ".")
	if site, err := publicsuffix.EffectiveTLDPlusOne(name); err == nil {
		return site
	}
	return name
}

// maxHost is the length of the longest host that is shown with its subdomains.
const maxHost = 40

// ShownHost returns the host of an address as it is shown, with its port. Of a long one, which may not fit,
// it is the site.
func ShownHost(u *url.URL, site string) string {
	if len(u.Hostname()) <= max(maxHost, len(site)) {
		return u.Host
	}
	return "…." + site + u.Host[len(u.Hostname()):]
}

// PlainAddress returns an address in canonical form; "" if it is not a valid
// web address.
func PlainAddress(address string) string {
	u, _, err := ReadAddress(address)
	if err != nil {
		return ""
	}
	u.Fragment, u.RawFragment = "", ""
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
