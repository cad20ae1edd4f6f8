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
	"lifehub/mcpclient/wire"
)

// dial connects to a server by HTTP. One whose transport was guessed is tried
// as SSE when its answer says that it is an old server.
func (s *supervisor) dial(ctx, starting context.Context, entry config.Entry) (*session, error) {
	session, err := s.dialAs(ctx, starting, entry)
	if entry.Guessed && errors.Is(err, transport.ErrLegacySSEServer) {
		entry.Transport = config.SSE
		return s.dialAs(ctx, starting, entry)
	}
	return session, err
}

func (s *supervisor) dialAs(ctx, starting context.Context, entry config.Entry) (*session, error) {
	ctx, cancel := context.WithCancel(ctx) // for what the server asks
	conn, err := wire.Dial(ctx, entry, s.credentials(entry).OAuth(), s.hub.Log)
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
		go func() { // it says goodbye to the server, which may not listen; ends after 5 s
			defer close(done)
			agent.Safely(func() { _ = session.client.Close() })
		}()
		select {
		case <-done:
		case <-time.After(Graceful):
		}
	}
	if err := s.greet(ctx, starting, session); err != nil {
		err = s.explainHTTP(entry, session.explain(starting, err))
		session.close()
		return nil, err
	}
	return session, nil
}

// explainHTTP says in words what the library's errors mean.
func (s *supervisor) explainHTTP(entry config.Entry, err error) error {
	if wantsToKnow(err) {
		if s.hub.Tokens != "" && entry.Transport == config.HTTP && entry.Headers["Authorization"] == "" {
			return fmt.Errorf("%w (/mcp in the chat, or lifehub mcp consent %s), or a token in headers, such as \"Authorization\": \"Bearer ${TOKEN}\"", errConsent, s.Entry.Name)
		}
		return errors.New("it requires authentication (401): put a token into headers, such as \"Authorization\": \"Bearer ${TOKEN}\"")
	}
	return err
}

// wantsToKnow reports whether a server asks who is there.
func wantsToKnow(err error) bool {
	return client.IsAuthorizationRequiredError(err) || client.IsOAuthAuthorizationRequiredError(err)
}

func (s *supervisor) credentials(entry config.Entry) *CredentialFile {
	p := &CredentialFile{URL: entry.URL}
	if s.hub.Tokens != "" {
		p.File = filepath.Join(s.hub.Tokens, s.Entry.Name+".json")
	}
	return p
}

// consentTime is how long a consent may take.
const consentTime = 5 * time.Minute

// Consent has the user go through the consent of a server on the web: show is
// given the page to open. It returns when the server's credential is saved and the
// server is started again, or with ctx. One port of this machine is open
// meanwhile.
func (s *Client) Consent(ctx context.Context, server string, show func(page string)) error {
	one, err := s.find(server)
	if err != nil {
		return err
	}
	entry, _ := one.Entry.Resolved(one.lookup)
	ctx, cancel := context.WithTimeoutCause(ctx, consentTime, fmt.Errorf("nobody signed in within %v", consentTime))
	defer cancel()
	if err := one.credentials(entry).Consent(ctx, show); err != nil {
		return fmt.Errorf("consent of MCP server %s: %w", server, err)
	}
	return s.Restart(server)
}
