package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"lifehub/agent"
	"lifehub/internal/text"
)

// plainNumber returns a number in canonical form, and other text as it is.
func plainNumber(text string) string {
	if f, err := strconv.ParseFloat(text, 64); err == nil && agent.IsNumber(text) {
		return strconv.FormatFloat(f+0, 'f', -1, 64) // -0 + 0 is 0
	}
	return text
}

// plainPath returns the canonical form of a path: rooted and clean, with slashes, in NFC, without % escapes
// and without the dots and spaces at the end of a name, which Windows ignores.
func plainPath(name string) string {
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	segments := strings.Split(path.Clean("/"+strings.ReplaceAll(name, `\`, "/")), "/")
	for i, segment := range segments {
		segments[i] = strings.TrimRight(segment, ". ")
	}
	return norm.NFC.String(path.Clean("/" + strings.Join(segments, "/")))
}

// isUnder reports whether a path is the folder or below it. A rule that tightens finds the folder at any
// depth of the path, which can begin with the vault's name or the root. One that allows needs a canonical
// path that begins with the folder; an absolute one with its links followed, too.
func isUnder(folder, name string, allows bool) bool {
	under, canonical := plainPath(folder), plainPath(name)
	unreadable := strings.ContainsFunc(canonical, unicode.IsControl)
	switch {
	case !allows:
		return unreadable || strings.Contains(text.Key(canonical)+"/", strings.TrimSuffix(text.Key(under), "/")+"/")
	case name == "" || unreadable || "/"+strings.TrimPrefix(name, "/") != canonical:
		return false
	case !beginsWith(canonical, under) || filepath.IsAbs(name) != filepath.IsAbs(folder):
		return false
	case !filepath.IsAbs(folder):
		return filepath.IsLocal(name) && !strings.HasPrefix(name, "~")
	}
	place, err := followed(name)
	root, rootErr := followed(folder)
	return err == nil && rootErr == nil && beginsWith(place, root)
}

func beginsWith(name, folder string) bool {
	return strings.HasPrefix(name+"/", strings.TrimSuffix(folder, "/")+"/")
}

// followed returns an absolute path with its links followed, with slashes. The end of it need not exist.
func followed(name string) (string, error) {
	place, err := filepath.EvalSymlinks(name)
	if err == nil {
		return filepath.ToSlash(place), nil
	}
	parent := filepath.Dir(name)
	// a link that leads nowhere exists
	if _, none := os.Lstat(name); !errors.Is(none, fs.ErrNotExist) || parent == name {
		return "", err
	}
	place, err = followed(parent)
	return path.Join(place, filepath.Base(name)), err
}

// isOnHost reports whether an address is on the host. One that [agent.ReadAddress] refuses may be on any.
// For a rule that allows, it is written with the canonical host, without a user and a port.
func isOnHost(pattern, address string, allows bool) bool {
	u, _, err := agent.ReadAddress(address)
	if err != nil {
		return !allows
	}
	host := plainHost(u.Hostname())
	if below, isGlob := strings.CutPrefix(pattern, "*."); isGlob {
		if parent := plainHost(below); parent == "" || !strings.HasSuffix(host, "."+parent) {
			return false
		}
	} else if host == "" || host != plainHost(pattern) {
		return false
	}
	rest, isPlain := strings.CutPrefix(address, u.Scheme+"://"+host)
	return !allows || isPlain && (rest == "" || strings.ContainsRune("/?#", rune(rest[0])))
}

// plainHost returns the canonical form of a host: a name in punycode and lower case, without a dot at its
// end, or an IP address in its shortest spelling; "" if it is not a host.
func plainHost(name string) string {
	if ip, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		if ip = ip.Unmap().WithZone(""); ip.Is6() {
			return "[" + ip.String() + "]"
		}
		return ip.String()
	}
	u, _, err := agent.ReadAddress("http://" + name)
	if err != nil {
		return ""
	}
	return strings.TrimRight(u.Hostname(), ".")
}

// checkHost returns an error if no address can have the host that a rule names.
func checkHost(host string) error {
	name := strings.TrimPrefix(host, "*.")
	if _, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
		return nil
	}
	if strings.ContainsAny(name, "*?/:@%#[]\\ \t") || plainHost(name) == "" {
		return fmt.Errorf("%q is not a host; write example.org, *.example.org or an IP address", host)
	}
	return nil
}
