package serve

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
)

// maxSessions bounds the browsers that are let in. For a new one the oldest is shut out.
const maxSessions = 16

// keyHeader carries the key of a session. Cookies do not keep the ports of a machine apart, so that another server
// on it could be sent the cookie; the key is in the storage of the page's origin, which does.
const keyHeader = "LifeHub-Key"

// door lets in whoever has shown the token of a link.
type door struct {
	name string // of the cookie: unique, for several servers may have the host

	mu       sync.Mutex // guards the fields below
	token    string     // of the next link; it is valid once
	sessions []session  // the oldest first
}

// session is a browser that was let in: the hash of its secrets.
type session [sha256.Size]byte

func sessionOf(cookie, key string) session { return sha256.Sum256([]byte(cookie + " " + key)) }

func newDoor() *door {
	return &door{name: "lifehub-" + strings.ToLower(rand.Text()[:8]), token: rand.Text()}
}

// next returns the token of the next link.
func (d *door) next() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.token
}

// exchange replaces a token by the secrets of a new session. It reports false if it is not that of the next link,
// as after it was exchanged.
func (d *door) exchange(token string) (cookie, key string, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if subtle.ConstantTimeCompare([]byte(token), []byte(d.token)) != 1 {
		return "", "", false
	}
	cookie, key, d.token = rand.Text(), rand.Text(), rand.Text()
	d.sessions = append(d.sessions, sessionOf(cookie, key))
	d.sessions = d.sessions[max(0, len(d.sessions)-maxSessions):]
	return cookie, key, true
}

// knows reports whether a request has the secrets of a session.
func (d *door) knows(r *http.Request) bool {
	cookie, err := r.Cookie(d.name)
	if err != nil {
		return false
	}
	shown := sessionOf(cookie.Value, r.Header.Get(keyHeader))
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.sessions, func(s session) bool {
		return subtle.ConstantTimeCompare(s[:], shown[:]) == 1
	})
}

// policy lets the page load its own two files, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// guarded refuses requests that are not for this machine by name, as after DNS rebinding, and changes that the page
// itself did not ask for.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case !isLoopback(r.Host):
			refuse(w, http.StatusForbidden, "this page is for this machine only: use 127.0.0.1 or localhost")
		case r.Method == http.MethodPost && r.Header.Get("Origin") != "http://"+r.Host,
			r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json",
			strings.HasPrefix(r.URL.Path, "/api/") && site != "" && site != "same-origin":
			refuse(w, http.StatusForbidden, "only the page itself may ask for this")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLoopback reports whether a host, which may have a port, is this machine.
func isLoopback(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = hostPort
	}
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}

// refuse answers with an error and closes the connection.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}
