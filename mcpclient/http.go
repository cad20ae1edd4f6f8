package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

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
	web, err := newWeb(entry.URL)
	if err != nil {
		return nil, err
	}
	conn, options, err := s.overHTTP(entry, web)
	if err != nil {
		return nil, err
	}
	session := &session{ended: make(chan struct{}), link: connection{web}}
	session.client = client.NewClient(verbatim{conn, session.ended}, options...)
	session.client.OnConnectionLost(func(error) { session.lost() })
	if err := s.greet(ctx, starting, session); err != nil {
		err = s.explainHTTP(entry, session.explain(starting, err))
		session.link.close(session)
		return nil, err
	}
	return session, nil
}

// connection is the link to a web server.
type connection struct{ web *http.Client }

func (c connection) why(*session) string {
	return "the connection to " + c.web.Transport.(*bounded).host + " was lost"
}

func (c connection) close(s *session) {
	s.lost()
	done := make(chan struct{})
	go func() { // notifies the server, which may not respond; ends after at most 5 s
		defer close(done)
		agent.Safely(func() { _ = s.client.Close() })
		c.web.CloseIdleConnections()
	}()
	select {
	case <-done:
	case <-time.After(graceful):
	}
}

// overHTTP returns the library's transport for an entry, and the options of its
// client.
func (s *supervisor) overHTTP(entry config.Entry, web *http.Client) (transport.Interface, []client.ClientOption, error) {
	// Newer protocols have no standing stream, on which servers send requests and
	// notifications.
	options := []client.ClientOption{client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION)}
	if entry.Transport == config.SSE { // over which the library handles no questions
		conn, err := transport.NewSSE(entry.URL, transport.WithHTTPClient(web), transport.WithHeaders(entry.Headers),
			// each call has its own timeout
			transport.WithSSELogger(s.hub.Log), transport.WithResponseTimeout(time.Hour))
		return conn, options, err
	}
	//lint:ignore SA1019 its successor is for servers of the newest protocol only
	listening := transport.WithContinuousListening()
	how := []transport.StreamableHTTPCOption{
		transport.WithHTTPBasicClient(web), transport.WithHTTPHeaders(entry.Headers),
		transport.WithHTTPLogger(s.hub.Log), listening,
	}
	if consent := s.credentials(entry).OAuth(); consent != nil {
		how = append(how, transport.WithHTTPOAuth(*consent))
	}
	conn, err := transport.NewStreamableHTTP(entry.URL, how...)
	return conn, append(options, s.capabilities()...), err
}

// explainHTTP converts errors of the library to ones for the user.
func (s *supervisor) explainHTTP(entry config.Entry, err error) error {
	if wantsToKnow(err) {
		if s.hub.Tokens != "" && entry.Transport == config.HTTP && entry.Headers["Authorization"] == "" {
			return fmt.Errorf("%w (/mcp in the chat, or lifehub mcp consent %s), or a token in headers, "+
				"such as \"Authorization\": \"Bearer ${TOKEN}\"", errConsent, s.Entry.Name)
		}
		return errors.New("authentication required (401): put a token into headers, " +
			"such as \"Authorization\": \"Bearer ${TOKEN}\"")
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
	entry, _ := one.Entry.Resolved(os.LookupEnv)
	ctx, cancel := context.WithTimeoutCause(ctx, consentTime, fmt.Errorf("no sign-in within %v", consentTime))
	defer cancel()
	if err := one.credentials(entry).Consent(ctx, show); err != nil {
		return fmt.Errorf("consent of MCP server %s: %w", server, err)
	}
	return s.Restart(server)
}
