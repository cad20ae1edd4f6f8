package serve

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"
)

const (
	// maxStrangers bounds the connections of which no request has shown the key. For a new one the oldest is closed, so
	// that silent connections keep nobody out.
	maxStrangers = 64
	// maxKnown bounds the others. Both together stay below 256 open files, the limit of the strictest systems.
	maxKnown = 64
)

// connections bounds the open connections of a server. The zero value is ready to use.
type connections struct {
	mu        sync.Mutex // guards the fields below
	strangers []net.Conn // the oldest first
	known     map[net.Conn]bool
}

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// changed is the ConnState of the server.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.strangers = append(c.strangers, conn); len(c.strangers) > maxStrangers {
			_ = c.strangers[0].Close() // it is given up
			c.strangers = c.strangers[1:]
		}
	case http.StateClosed, http.StateHijacked:
		c.strangers = slices.DeleteFunc(c.strangers, func(s net.Conn) bool { return s == conn })
		delete(c.known, conn)
	}
}

// admit makes the connection of a request a known one. It reports false if there are too many.
func (c *connections) admit(ctx context.Context) bool {
	conn, _ := ctx.Value(connectionKey{}).(net.Conn)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known[conn] {
		return true
	}
	if len(c.known) >= maxKnown {
		return false
	}
	if c.known == nil {
		c.known = map[net.Conn]bool{}
	}
	if at := slices.Index(c.strangers, conn); at >= 0 { // otherwise it was closed meanwhile
		c.strangers = slices.Delete(c.strangers, at, at+1)
		c.known[conn] = true
	}
	return true
}
