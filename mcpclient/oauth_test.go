package mcpclient

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"lifehub/mcpclient/config"
)

// gatekeeper is an MCP server that requires a token, and the authorization server
// that issues it.
type gatekeeper struct {
	*httptest.Server
	t *testing.T

	mu        sync.Mutex
	token     string // currently valid token
	redirect  string // as registered
	challenge string
	refreshed int
	life      int // lifetime of a token, in seconds
}

func newGatekeeper(t *testing.T) *gatekeeper {
	g := &gatekeeper{t: t, life: 3600}
	tools := mcpserver.NewMCPServer("vault", "1", mcpserver.WithToolCapabilities(false))
	tools.AddTool(mcp.NewTool("open", mcp.WithDescription("opens")),
		func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText("gold"), nil
		})
	inside := mcpserver.NewStreamableHTTPServer(tools)
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		good := g.token != "" && r.Header.Get("Authorization") == "Bearer "+g.token
		g.mu.Unlock()
		if !good {
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+g.URL+
				`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		inside.ServeHTTP(w, r)
	})
	answer := func(path string, body func(r *http.Request) any) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body(r))
		})
	}
	answer("/.well-known/oauth-protected-resource/mcp", func(*http.Request) any {
		return map[string]any{"resource": g.URL + "/mcp", "authorization_servers": []string{g.URL}}
	})
	answer("/.well-known/oauth-authorization-server", func(*http.Request) any {
		return map[string]any{
			"issuer": g.URL, "authorization_endpoint": g.URL + "/authorize", "token_endpoint": g.URL + "/token",
			"registration_endpoint": g.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"},
		}
	})
	answer("/register", g.register)
	answer("/token", g.give)
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

func (g *gatekeeper) register(r *http.Request) any {
	var wanted struct {
		RedirectURIs []string `json:"redirect_uris"`
	}
	_ = json.NewDecoder(r.Body).Decode(&wanted)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.redirect = wanted.RedirectURIs[0]
	return map[string]any{"client_id": "lifehub-7", "token_endpoint_auth_method": "none"}
}

// give exchanges a code or a refresh token for a token.
func (g *gatekeeper) give(r *http.Request) any {
	g.mu.Lock()
	defer g.mu.Unlock()
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case r.FormValue("grant_type") == "authorization_code" && r.FormValue("code") == "c0de" &&
		r.FormValue("redirect_uri") == g.redirect &&
		base64.RawURLEncoding.EncodeToString(sum[:]) == g.challenge:
		g.token = "t0ken"
	case r.FormValue("grant_type") == "refresh_token" && r.FormValue("refresh_token") == "again":
		g.refreshed++
		g.token = "t0ken-2"
	default:
		g.t.Errorf("asked for a token with %v", r.Form)
		return map[string]any{"error": "invalid_grant"}
	}
	return map[string]any{
		"access_token": g.token, "token_type": "Bearer",
		"refresh_token": "again", "expires_in": g.life,
	}
}

// browse acts as the user's browser on the page, after a request by an attacker
// who guesses the state.
func (g *gatekeeper) browse(page string) {
	u, err := url.Parse(page)
	if err != nil {
		g.t.Error(err)
		return
	}
	q := u.Query()
	g.mu.Lock()
	g.challenge = q.Get("code_challenge")
	registered := g.redirect
	g.mu.Unlock()
	back := q.Get("redirect_uri")
	if back != registered || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "lifehub-7" ||
		!strings.HasPrefix(back, "http://127.0.0.1:") {
		g.t.Errorf("the page is %s", page)
	}
	for _, query := range []url.Values{
		{"code": {"stolen"}, "state": {"guessed"}},
		{"code": {"c0de"}, "state": {q.Get("state")}},
	} {
		response, err := http.Get(back + "?" + query.Encode())
		if err != nil {
			g.t.Error(err)
			return
		}
		_ = response.Body.Close()
	}
}

func TestConsentIsCompletedAndSaved(t *testing.T) {
	t.Parallel()
	g := newGatekeeper(t)
	tokens := filepath.Join(t.TempDir(), "tokens")
	entry := config.Entry{Name: "vault", Transport: config.HTTP, URL: g.URL + "/mcp"}
	s := start(t, Options{Tokens: tokens}, entry)
	if st := s.State()[0]; !st.WantsConsent() || !strings.Contains(st.Reason, "lifehub mcp consent vault") {
		t.Fatalf("got %s: %s", st.Status, st.Reason)
	}
	var landed string
	if err := s.Consent(t.Context(), "vault", func(page string) {
		u, _ := url.Parse(page)
		landed = u.Query().Get("redirect_uri")
		go g.browse(page)
	}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, func() bool { return s.State()[0].Status == Running })
	if got, err := one(t, s, "vault_open").Run(t.Context(), nil); err != nil || got.Text != "gold" {
		t.Errorf("got %+v, %v", got, err)
	}
	if response, err := http.Get(landed); err == nil {
		_ = response.Body.Close()
		t.Error("the port is still open")
	}
	info, err := os.Stat(filepath.Join(tokens, "vault.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the pass: %v, %v", info, err)
	}
	if text, _ := json.Marshal(s.State()); strings.Contains(string(text), "t0ken") {
		t.Error("the state tells the token")
	}
	s.Close()

	// An expired token is refreshed without the user.
	change(t, filepath.Join(tokens, "vault.json"), func(kept map[string]any) {
		kept["token"].(map[string]any)["expires_at"] = time.Now().Add(-time.Hour)
	})
	g.mu.Lock()
	g.token = ""
	g.mu.Unlock()
	again := start(t, Options{Tokens: tokens}, entry)
	if _, err := one(t, again, "vault_open").Run(t.Context(), nil); err != nil || g.refreshed != 1 {
		t.Errorf("got %v after %d refreshs", err, g.refreshed)
	}

	// The credential is valid only for this url.
	elsewhere := newGatekeeper(t)
	entry.URL = elsewhere.URL + "/mcp"
	third := start(t, Options{Tokens: tokens}, entry)
	if st := third.State()[0]; !st.WantsConsent() {
		t.Errorf("got %s: %s", st.Status, st.Reason)
	}
}

func TestConsentTimesOut(t *testing.T) {
	t.Parallel()
	g := newGatekeeper(t)
	s := start(t, Options{Tokens: t.TempDir()}, config.Entry{
		Name:      "vault",
		Transport: config.HTTP, URL: g.URL + "/mcp",
	})
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Consent(ctx, "vault", func(string) { cancel() }); !errors.Is(err, context.Canceled) ||
		!strings.Contains(err.Error(), "vault") {
		t.Errorf("got %v", err)
	}
}
