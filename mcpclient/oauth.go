package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"lifehub/internal/files"
	"lifehub/llm"

	"github.com/mark3labs/mcp-go/client/transport"
)

// credential is the result of an OAuth consent, saved in its own file. It is
// valid only for the url it was issued for.
type credential struct {
	URL          string           `json:"url"`
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"client_secret,omitempty"`
	AuthMethod   string           `json:"auth_method,omitempty"`
	Token        *transport.Token `json:"token,omitempty"`
}

// credentialFile is a server's credential on disk, in the form the library needs.
// It is safe for concurrent use.
type credentialFile struct {
	File string // empty: nothing is saved
	URL  string
	mu   sync.Mutex
}

// read returns the credential, or a zero one if there is none for this url.
func (p *credentialFile) read() (credential, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var saved credential
	if p.File == "" {
		return saved, nil
	}
	data, err := os.ReadFile(p.File)
	if errors.Is(err, fs.ErrNotExist) {
		return saved, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &saved)
	}
	if err != nil {
		return credential{}, fmt.Errorf("read the credential in %s: %w", p.File, err)
	}
	if saved.URL != p.URL {
		return credential{}, nil
	}
	return saved, nil
}

func (p *credentialFile) write(saved credential) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.File == "" {
		return errors.New("no folder for credentials")
	}
	saved.URL = p.URL
	data, err := json.Marshal(saved)
	if err == nil {
		err = files.Write(p.File, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save the credential: %w", err)
	}
	return nil
}

// GetToken implements the library's token store.
func (p *credentialFile) GetToken(ctx context.Context) (*transport.Token, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	saved, err := p.read()
	if err == nil && saved.Token == nil {
		err = transport.ErrNoToken
	}
	return saved.Token, err
}

// SaveToken implements the library's token store.
func (p *credentialFile) SaveToken(ctx context.Context, token *transport.Token) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	saved, err := p.read()
	if err != nil {
		return err
	}
	saved.Token = token
	return p.write(saved)
}

// OAuth returns the library's configuration for this credential, or nil if there
// is none.
func (p *credentialFile) OAuth() *transport.OAuthConfig {
	saved, err := p.read()
	if err != nil || saved.Token == nil {
		return nil
	}
	config := p.config(saved)
	return &config
}

func (p *credentialFile) config(saved credential) transport.OAuthConfig {
	return transport.OAuthConfig{
		ClientID: saved.ClientID, ClientSecret: saved.ClientSecret, TokenEndpointAuthMethod: saved.AuthMethod,
		TokenStore: p, PKCEEnabled: true, HTTPClient: consentWeb(p.URL),
	}
}

// Consent registers LifeHub as a client, sends the user to the consent page, and
// exchanges the resulting code for a token.
func (p *credentialFile) Consent(ctx context.Context, show func(page string)) error {
	state, err := transport.GenerateState()
	if err != nil {
		return err
	}
	visit, err := listen(state)
	if err != nil {
		return err
	}
	defer visit.close()
	config := p.config(credential{}) // a registration for another port may not be valid for this one
	config.RedirectURI = visit.url()
	handler := transport.NewOAuthHandler(config)
	handler.SetBaseURL(p.URL)
	if err := p.probe(ctx, handler); err != nil {
		return err
	}
	if err := handler.RegisterClient(ctx, "LifeHub"); err != nil {
		return llm.Explain(err)
	}
	verifier, err := transport.GenerateCodeVerifier()
	if err != nil {
		return err
	}
	page, err := handler.GetAuthorizationURL(ctx, state, transport.GenerateCodeChallenge(verifier))
	if err != nil {
		return err
	}
	if err := mayGo(page, p.URL); err != nil {
		return err
	}
	if page, err = readPage(page); err != nil {
		return err
	}
	saved := credential{
		ClientID: handler.GetClientID(), ClientSecret: handler.GetClientSecret(),
		AuthMethod: handler.GetTokenEndpointAuthMethod(),
	}
	if err := p.write(saved); err != nil {
		return err
	}
	show(page)
	code, err := visit.wait(ctx)
	if err != nil {
		return err
	}
	return handler.ProcessAuthorizationResponse(ctx, code, state, verifier)
}

// probe sends a request without a token: the rejection names the authorization
// server.
func (p *credentialFile) probe(ctx context.Context, handler *transport.OAuthHandler) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, strings.NewReader("{}"))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := consentWeb(p.URL).Do(request)
	if err != nil {
		return llm.Explain(err)
	}
	defer response.Body.Close()
	handler.HandleUnauthorizedResponse(response)
	return nil
}

// maxConsent bounds a response during the consent, in bytes.
const maxConsent = 1 << 20

// consentWeb returns an HTTP client for the consent, which may involve other
// hosts. They must use https, unless the server itself uses http: then hosts on
// its own machine may, too.
func consentWeb(server string) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	return &http.Client{Timeout: 30 * time.Second, Transport: guided{transport: transport, server: server}}
}

type guided struct {
	transport *http.Transport
	server    string
}

func (g guided) RoundTrip(request *http.Request) (*http.Response, error) {
	if err := mayGo(request.URL.String(), g.server); err != nil {
		return nil, err
	}
	response, err := g.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxConsent)
	return response, nil
}

// mayGo returns an error for pages to which no secret may be sent.
func mayGo(page, server string) error {
	to, err := url.Parse(page)
	if err != nil {
		return err
	}
	from, err := url.Parse(server)
	if err != nil {
		return err
	}
	if to.Scheme == "https" || to.Scheme == "http" && from.Scheme == "http" && to.Hostname() == from.Hostname() {
		return nil
	}
	return fmt.Errorf("refusing to send secrets to %s", page)
}

// callback serves the page to which the consent redirects the user. It accepts
// only requests with the right state parameter, which cannot be guessed.
type callback struct {
	state    string
	listener net.Listener
	server   *http.Server
	came     chan url.Values
}

// listen serves the page on a free port of the loopback interface.
func listen(state string) (*callback, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open a port for the consent: %w", err)
	}
	l := &callback{state: state, listener: listener, came: make(chan url.Values, 1)}
	l.server = &http.Server{Handler: http.HandlerFunc(l.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = l.server.Serve(listener) }() // ends with close
	return l, nil
}

const callbackPath = "/consent"

func (l *callback) url() string { return "http://" + l.listener.Addr().String() + callbackPath }

func (l *callback) close() { _ = l.server.Close() }

func (l *callback) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if r.URL.Path != callbackPath || r.Method != http.MethodGet || r.Host != l.listener.Addr().String() ||
		query.Get("state") != l.state || query.Get("code") == "" && query.Get("error") == "" {
		http.NotFound(w, r)
		return
	}
	select {
	case l.came <- query:
	default: // the page was reloaded
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "You are signed in. You can close this page and return to LifeHub.\n")
}

// wait waits for the redirect.
func (l *callback) wait(ctx context.Context) (code string, err error) {
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case query := <-l.came:
		if refused := query.Get("error"); refused != "" {
			return "", fmt.Errorf("consent was refused: %s %s", refused, query.Get("error_description"))
		}
		return query.Get("code"), nil
	}
}
