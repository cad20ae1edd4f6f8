package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

// dial connects to a server by HTTP. If the transport was guessed and the
// response indicates an older server, it retries with SSE.
func (s *supervisor) dial(ctx, starting context.Context, entry config.Entry) (*session, error) {
	session, err := s.dialAs(ctx, starting, entry)
	if entry.Guessed && errors.Is(err, transport.ErrLegacySSEServer) {
		entry.Transport = config.SSE
		return s.dialAs(ctx, starting, entry)
	}
	return session, err
}

func (s *supervisor) dialAs(ctx, starting context.Context, entry config.Entry) (*session, error) {
	ctx, cancel := context.WithCancel(ctx) // used for requests from the server
	conn, err := dial(ctx, entry, s.credentials(entry).OAuth(), s.hub.Log)
	if err != nil {
		cancel()
		return nil, err
	}
	session := &session{ended: make(chan struct{}), odd: func() int64 { return 0 }}
	session.why = func() string { return "the connection to " + conn.Host() + " was lost" }
	session.client = client.NewClient(conn, s.capabilities()...)
	session.client.OnConnectionLost(func(error) { session.lost() })
	session.close = func() {
		session.lost()
		cancel()
		done := make(chan struct{})
		go func() { // notifies the server, which may not respond; ends after at most 5 s
			defer close(done)
			agent.Safely(func() { _ = session.client.Close() })
		}()
		select {
		case <-done:
		case <-time.After(graceful):
		}
	}
	if err := s.greet(ctx, starting, session); err != nil {
		err = s.explainHTTP(entry, session.explain(starting, err))
		session.close()
		return nil, err
	}
	return session, nil
}

// explainHTTP converts errors of the library to ones for the user.
func (s *supervisor) explainHTTP(entry config.Entry, err error) error {
	if wantsToKnow(err) {
		if s.hub.Tokens != "" && entry.Transport == config.HTTP && entry.Headers["Authorization"] == "" {
			return fmt.Errorf("%w (/mcp in the chat, or lifehub mcp consent %s), or a token in headers, such as \"Authorization\": \"Bearer ${TOKEN}\"", errConsent, s.Entry.Name)
		}
		return errors.New("authentication required (401): put a token into headers, such as \"Authorization\": \"Bearer ${TOKEN}\"")
	}
	return err
}

// wantsToKnow reports whether a server requires authentication.
func wantsToKnow(err error) bool {
	return client.IsAuthorizationRequiredError(err) || client.IsOAuthAuthorizationRequiredError(err)
}

func (s *supervisor) credentials(entry config.Entry) *credentialFile {
	p := &credentialFile{URL: entry.URL}
	if s.hub.Tokens != "" {
		p.File = filepath.Join(s.hub.Tokens, s.Entry.Name+".json")
	}
	return p
}

// consentTime bounds the time for the user to consent.
const consentTime = 5 * time.Minute

// Consent runs the OAuth consent of a web server: it calls show with the page to
// open. It returns when the server's credential has been saved and the server
// restarted, or when ctx ends. Meanwhile it listens on a local port.
func (s *Client) Consent(ctx context.Context, server string, show func(page string)) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	entry, _ := one.Entry.Resolved(one.lookup)
	ctx, cancel := context.WithTimeoutCause(ctx, consentTime, fmt.Errorf("no sign-in within %v", consentTime))
	defer cancel()
	if err := one.credentials(entry).Consent(ctx, show); err != nil {
		return fmt.Errorf("consent of MCP server %s: %w", server, err)
	}
	return s.Restart(server)
}
