package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// maxConnections bounds the open connections. It is well below the limit of 256 files on the
	// strictest systems, because the notes and the index need some.
	maxConnections = 64
	// maxRequests bounds the requests being answered, and maxStreams those of them that stay open
	// for notifications. Both are smaller than maxConnections, so that a connection can always be
	// closed for a new one.
	maxRequests, maxStreams = 48, 32
	// headTime bounds how long a request may take to arrive before its token is checked, and
	// bodyTime how long its body may take after that.
	headTime, bodyTime = 10 * time.Second, time.Minute
	// idleTime bounds how long a connection may wait for its next request.
	idleTime = 2 * time.Minute
)

// connections limits the connections and requests of a server. The zero value is ready to use.
type connections struct {
	mu                sync.Mutex // guards the fields below
	open              []*connection
	requests, streams int
}

// connection is a connection and its state. In connections.open, the most recently changed are
// last.
type connection struct {
	net.Conn
	state trust
}

// trust is the state of a connection. At the limit the least trusted is closed.
type trust int

const (
	stranger trust = iota // no request has shown the token
	waiting               // the last request did; the next, or the rest of it, has not arrived
	working               // a request is being answered
)

// connectionKey is the context key of a request's connection.
type connectionKey struct{}

// server returns an HTTP server whose connections are limited.
func (c *connections) server(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headTime, ReadTimeout: headTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		DisableGeneralOptionsHandler: true, // it would answer without checking the token
		BaseContext:                  func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn)
		},
		ConnState: func(conn net.Conn, state http.ConnState) {
			switch state {
			case http.StateNew:
				c.add(conn)
			case http.StateIdle:
				c.set(conn, waiting)
			case http.StateClosed, http.StateHijacked:
				c.remove(conn)
			}
		},
	}
}

// add registers a connection. At the limit it closes, of the least trusted connections, the one
// longest in that state.
func (c *connections) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxConnections {
		worst := slices.MinFunc(c.open, func(a, b *connection) int { return int(a.state - b.state) }) // the oldest of equals
		worst.Close()                                                                                 //nolint:errcheck // it is given up
		c.open = slices.DeleteFunc(c.open, func(o *connection) bool { return o == worst })
	}
	c.open = append(c.open, &connection{Conn: conn})
}

func (c *connections) set(conn net.Conn, state trust) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.open, func(o *connection) bool { return o.Conn == conn }); i >= 0 {
		c.open = append(slices.Delete(c.open, i, i+1), &connection{conn, state})
	}
}

func (c *connections) remove(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = slices.DeleteFunc(c.open, func(o *connection) bool { return o.Conn == conn })
}

// bounded passes on requests that have shown the token, once they are complete.
func (c *connections) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _ := r.Context().Value(connectionKey{}).(net.Conn)
		c.set(conn, waiting)
		body, status := readBody(w, r)
		if status != 0 {
			refuse(w, status, "the request is too long, or did not arrive in time")
			return
		}
		isStream := r.Method == http.MethodGet || isListening(body)
		if !c.enter(isStream) {
			w.Header().Set("Retry-After", "1")
			refuse(w, http.StatusServiceUnavailable, "too many requests are open: end one and try again")
			return
		}
		defer c.leave(isStream)
		c.set(conn, working)
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body of a request. On failure it returns the HTTP status of the refusal,
// otherwise 0.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime)) // if unsupported, the server's own deadline applies
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxLine))
	var late net.Error
	switch {
	case errors.As(err, &late) && late.Timeout():
		return nil, http.StatusRequestTimeout
	case err != nil:
		return nil, http.StatusBadRequest
	}
	_ = control.SetReadDeadline(time.Time{}) // a deadline would end a stream
	return body, 0
}

// isListening reports whether a message opens a stream of notifications.
func isListening(body []byte) bool {
	var message struct {
		Method mcp.MCPMethod `json:"method"`
	}
	return json.Unmarshal(body, &message) == nil && message.Method == mcp.MethodSubscriptionsListen
}

// enter reports whether another request may run; if so, leave must follow.
func (c *connections) enter(isStream bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.requests >= maxRequests || isStream && c.streams >= maxStreams {
		return false
	}
	c.requests++
	if isStream {
		c.streams++
	}
	return true
}

func (c *connections) leave(isStream bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests--
	if isStream {
		c.streams--
	}
}

// refuse answers with an error and closes the connection.
func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}
