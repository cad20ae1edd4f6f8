package safetext

import (
	"net/url"
	"strings"

	"lifehub/agent"
)

// maxLink bounds an address in bytes, as terminals and browsers do.
const maxLink = 2083

// LinkAllowed reports whether address may become a link on screen: it must be printable ASCII of at
// most 2,083 bytes with the scheme http, https or mailto, and without a user's name. File URLs are not allowed, since a
// desktop may run the file.
func LinkAllowed(address string) bool {
	if len(address) > maxLink || strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		_, _, err := agent.ReadAddress(address)
		return err == nil
	case "mailto":
		return u.Opaque != ""
	}
	return false
}
