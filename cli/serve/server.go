// Package serve is a second view of the conversation: a page in a browser on this machine, or on another one through
// `ssh -L`, that shows it, sends messages and answers what tools ask. The process that holds the conversation serves
// it. Start with [Server.Start]; [Hub] keeps the events.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/chat"
	"lifehub/cli/settings"
	"lifehub/internal/files"
)

const (
	// Port is served if it is free and no other is named, so that the same `ssh -L` serves each time.
	Port = 4747
	// headTime and bodyTime bound how long a request may take to arrive, and idleTime how long a connection waits for
	// the next.
	headTime, bodyTime, idleTime = 5 * time.Second, 30 * time.Second, time.Minute
	// maxHeader bounds the head of a request, in bytes.
	maxHeader = 16 << 10
)

// Server serves the page. Its fields are set before Start.
type Server struct {
	Hub     *Hub
	Options chat.Options // Conversations is required
	Paths   settings.Paths

	mu   sync.Mutex // guards the fields below
	lock *os.File   // nil: it is not running
	http *http.Server
	site *site
}

// site is the page and its API, from Start to Stop.
type site struct {
	server      *Server
	host        string // with its port
	door        *door
	connections connections
	announcing  sync.Mutex // so that the file has the latest token
}

// running is what a file says about the process that serves, for other processes of the user.
type running struct {
	Host  string `json:"host"`
	Token string `json:"token"`
}

// link returns the address with the token in its fragment, which a browser sends to nobody.
func (r running) link() string { return "http://" + r.Host + "/#" + r.Token }

// Tunnel returns the command that makes a link work on another device.
func Tunnel(link string) string {
	port := strconv.Itoa(Port)
	if address, err := url.Parse(link); err == nil {
		port = address.Port()
	}
	return fmt.Sprintf("ssh -L %s:127.0.0.1:%s HOST", port, port)
}

// RunningError is returned if another process serves its conversation.
type RunningError struct{ Link string }

func (e *RunningError) Error() string {
	return "another LifeHub serves its conversation at " + e.Link + "; end it first, or use that page"
}

// Running returns the next link of the process that serves; "" if none does.
func Running(p settings.Paths) (string, error) {
	lock, err := lockOf(p)
	var other *RunningError
	switch {
	case errors.As(err, &other):
		return other.Link, nil
	case err != nil:
		return "", err
	}
	return "", files.Unlock(lock)
}

// lockOf locks the right to serve, which the system releases when the process ends, however that happens.
func lockOf(p settings.Paths) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(p.ServeLock()), 0o700); err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	file, err := os.OpenFile(p.ServeLock(), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("serve: %w", err)
	}
	free, err := files.TryLock(file)
	if free {
		return file, nil
	}
	_ = file.Close() // nothing was written
	if err != nil {
		return nil, fmt.Errorf("serve: lock %s: %w", p.ServeLock(), err)
	}
	var r running
	text, err := os.ReadFile(p.Served())
	if err != nil || json.Unmarshal(text, &r) != nil {
		return nil, errors.New("serve: another LifeHub begins or ends to serve; try again")
	}
	return nil, &RunningError{r.link()}
}

// Start serves on the loopback interface, unless it does already, and returns the link to open. port 0 is [Port], or
// any if that is taken. It ends with Stop, or when the process ends. A [*RunningError] has the link of another process
// that serves.
func (s *Server) Start(ctx context.Context, port int) (link string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		return s.site.next().link(), nil
	}
	lock, err := lockOf(s.Paths)
	if err != nil {
		return "", err
	}
	listener, err := listen(ctx, port)
	if err != nil {
		return "", errors.Join(err, files.Unlock(lock))
	}
	s.lock, s.site = lock, &site{server: s, host: listener.Addr().String(), door: newDoor()}
	s.http = &http.Server{
		Handler:           s.site.handler(),
		ReadHeaderTimeout: headTime, ReadTimeout: bodyTime, WriteTimeout: pollTime + writeTime, IdleTimeout: idleTime,
		MaxHeaderBytes: maxHeader, DisableGeneralOptionsHandler: true, ConnState: s.site.connections.changed,
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, conn)
		},
		ErrorLog: slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn), // stderr may be the screen
	}
	if err := s.site.announce(); err != nil {
		return "", errors.Join(err, listener.Close(), s.unlock())
	}
	web := s.http
	go agent.Safely(func() { // ends with Stop
		if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("serve the page", "error", err)
		}
	})
	return s.site.next().link(), nil
}

// listen opens the port.
func listen(ctx context.Context, port int) (net.Listener, error) {
	on := func(port int) (net.Listener, error) {
		return new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	if port == 0 {
		if listener, err := on(Port); err == nil {
			return listener, nil
		}
	}
	listener, err := on(port)
	if err != nil {
		return nil, fmt.Errorf("serve on port %d: %w; --port names another", port, err)
	}
	return listener, nil
}

func (p *site) next() running { return running{p.host, p.door.next()} }

// announce writes where the page is served, with the token of the next link. Only the user may read it.
func (p *site) announce() error {
	p.announcing.Lock()
	defer p.announcing.Unlock()
	text, err := json.Marshal(p.next())
	if err != nil {
		return fmt.Errorf("serve: %w", err)
	}
	return files.Write(p.server.Paths.Served(), text)
}

// Stop shuts out all pages, and does nothing if it does not serve. The conversation goes on.
func (s *Server) Stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock == nil {
		return nil
	}
	return errors.Join(s.http.Close(), os.Remove(s.Paths.Served()), s.unlock())
}

func (s *Server) unlock() error {
	err := files.Unlock(s.lock)
	s.lock = nil
	return err
}
