package mcpserve

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"lifehub/cli/app"
	"lifehub/cli/redact"
	"lifehub/cli/settings"
	"lifehub/internal/files"
	"lifehub/tui/safetext"
)

// serveHTTP serves clients on this machine until ctx ends.
func (o options) serveHTTP(ctx context.Context, sh *app.Process, s *notesServer) error {
	host, _, err := net.SplitHostPort(o.address)
	if err != nil || !isLoopback(host) {
		return settings.UsageError{Err: fmt.Errorf("--http %s: give an address of this machine with a port, such as 127.0.0.1:8765; others are not served", o.address)}
	}
	token, err := o.token()
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.address)
	if err != nil {
		return fmt.Errorf("serve on %s: %w", o.address, err)
	}
	fmt.Fprintf(sh.Err, "serving on http://%s/mcp\n", listener.Addr())
	if o.tokenFile == "" {
		fmt.Fprintf(sh.Err, "Authorization: Bearer %s\n", token)
	} else {
		fmt.Fprintf(sh.Err, "the token is in %s\n", safetext.Line(o.tokenFile))
	}
	web := s.connections.server(ctx, s.handler(token))
	stop := context.AfterFunc(ctx, func() {
		defer recovered("stop serving", new(error))
		ending, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if web.Shutdown(ending) != nil {
			_ = web.Close() // a stream is still open
		}
	})
	defer stop()
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve on %s: %w", o.address, err)
	}
	return nil
}

// handler returns the HTTP handler, which requires the token.
func (s *notesServer) handler(token string) http.Handler {
	inner := server.NewStreamableHTTPServer(s.mcp, server.WithStateful(true), server.WithSessionIdleTTL(time.Hour), server.WithStreamableHTTPLogger(slog.Default()))
	mux := http.NewServeMux()
	mux.Handle("/mcp", inner)
	return guarded(token, s.connections.bounded(mux))
}

// token returns the token that clients must show: that of the file or a new one, which is saved if
// there is a file name.
func (o options) token() (string, error) {
	if o.tokenFile != "" {
		text, err := redact.ReadSecret(o.tokenFile)
		if token := strings.TrimSpace(text); err == nil && len(token) >= 16 {
			return token, nil
		}
		if err == nil {
			return "", settings.UsageError{Err: fmt.Errorf("--token-file %s: the token is shorter than 16 characters; delete the file to have one created", o.tokenFile)}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("read the token: %w", err)
		}
	}
	token := rand.Text() + rand.Text()
	if o.tokenFile == "" {
		return token, nil
	}
	return token, files.Write(o.tokenFile, []byte(token+"\n"))
}

// guarded rejects requests without the token, and those of web pages. The check of Host and Origin
// also defeats DNS rebinding.
func guarded(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		origin, err := url.Parse(r.Header.Get("Origin"))
		switch given, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); {
		case !isLoopback(host), err != nil, origin.Host != "" && !isLoopback(origin.Hostname()), origin.Host == "" && r.Header.Get("Origin") != "":
			refuse(w, http.StatusForbidden, "this server is for programs of this machine only")
		case !isBearer || subtle.ConstantTimeCompare([]byte(given), []byte(token)) != 1:
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "a token is needed: the one that `lifehub mcp serve --http` printed, or that of --token-file")
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}
