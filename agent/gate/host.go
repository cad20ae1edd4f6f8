package gate

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// isOnHost reports whether address is certainly on the host: at the default
// port, and with nothing that another parser could read differently.
func isOnHost(pattern, address string) bool {
	if strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f || unicode.IsSpace(r) }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Opaque != "" || u.Port() != "" {
		return false
	}
	return hostFits(pattern, u.Hostname())
}

// mayBeOnHost reports whether some parser could take address to be on the host.
// An address that cannot be parsed may be on any host.
func mayBeOnHost(pattern, address string) bool {
	address = strings.NewReplacer(`\`, "/", " ", "", "\t", "", "\n", "", "\r", "").Replace(address)
	if !strings.Contains(address, "//") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil { // some programs decode %61 in a host name to a
		if address, err = url.PathUnescape(address); err == nil {
			u, err = url.Parse(address)
		}
		if err != nil {
			return true
		}
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(pattern, "*"), ".")
	return hostMayFit(pattern, u.Hostname()) || u.Hostname() == "" && strings.Contains(address, plain)
}

func hostMayFit(pattern, host string) bool {
	host = looseHost(host)
	if below, isGlob := strings.CutPrefix(pattern, "*."); isGlob {
		return strings.HasSuffix(host, "."+looseHost(below))
	}
	return host == looseHost(pattern)
}

func hostFits(pattern, host string) bool {
	host, ok := plainHost(host)
	if !ok {
		return false
	}
	if below, isGlob := strings.CutPrefix(pattern, "*."); isGlob {
		parent, ok := plainHost(below)
		return ok && strings.HasSuffix(host, "."+parent)
	}
	want, ok := plainHost(pattern)
	return ok && host == want
}

// plainHost returns the canonical ASCII form of a host name, and whether it is
// valid.
func plainHost(host string) (string, bool) {
	name, err := idna.Lookup.ToASCII(strings.TrimSuffix(strings.ToLower(host), "."))
	return name, err == nil && name != ""
}

var otherDots = strings.NewReplacer("\u3002", ".", "\uff0e", ".", "\uff61", ".")

// looseHost normalizes a host, including names invalid in DNS and numbers that
// some programs read as IP addresses.
func looseHost(host string) string {
	host, _, _ = strings.Cut(strings.Trim(otherDots.Replace(strings.ToLower(host)), "[]"), "%") // drop the zone
	host = strings.TrimRight(host, ".")
	if address, err := netip.ParseAddr(host); err == nil {
		return address.Unmap().String()
	}
	if address, ok := numberedHost(host); ok {
		return address
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		if ascii, err := idna.Lookup.ToASCII(label); err == nil {
			labels[i] = ascii
		}
	}
	return strings.Join(labels, ".")
}

// numberedHost parses 167838211, 0xa.1.515 and 012.1.2.3, all of which browsers
// and others read as 10.1.2.3.
func numberedHost(host string) (string, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return "", false
	}
	var sum uint64
	for i, part := range parts {
		bits := 8
		if i == len(parts)-1 {
			bits = 8 * (5 - len(parts)) // the last part fills the remaining bytes
		}
		n, err := strconv.ParseUint(part, 0, bits)
		if err != nil {
			return "", false
		}
		sum = sum<<bits | n
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}).String(), true
}

// checkHost returns an error if no address can have the host that a rule names.
func checkHost(host string) error {
	name := strings.TrimPrefix(host, "*.")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return nil
	}
	if name == "" || strings.ContainsAny(name, "*?/:@%#[]\\ \t") {
		return fmt.Errorf("%q is not a host; write example.org, *.example.org or an IP address", host)
	}
	return nil
}
