package vectors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lifehub/llm"
)

// chromaClient is a client of Chroma's HTTP API, version 2.
type chromaClient struct {
	base  *url.URL // of the database
	shown string   // the server's address without secrets
	token string
	http  *http.Client
}

// Requests and responses, with the API's names.
type (
	upsert struct {
		IDs        []string            `json:"ids"`
		Embeddings [][]float32         `json:"embeddings"`
		Metadatas  []map[string]string `json:"metadatas"`
	}
	get struct {
		IDs     []string          `json:"ids,omitempty"`
		Where   map[string]string `json:"where,omitempty"`
		Limit   int               `json:"limit,omitempty"`
		Offset  int               `json:"offset,omitempty"`
		Include []string          `json:"include,omitzero"`
	}
	records struct {
		IDs        []string    `json:"ids"`
		Embeddings [][]float32 `json:"embeddings"`
	}
	query struct {
		Embeddings [][]float32 `json:"query_embeddings"`
		Results    int         `json:"n_results"`
		IDs        []string    `json:"ids,omitempty"`
		Include    []string    `json:"include"`
	}
	nearest struct {
		IDs       [][]string   `json:"ids"`
		Distances [][]*float64 `json:"distances"` // nil if not a number
	}
)

const (
	// connectTime limits the wait for a server that does not respond at all; the search
	// then uses keywords.
	connectTime = 3 * time.Second
	// replyTime limits the wait for a response.
	replyTime = 30 * time.Second
	// hangUp is how long the response to a cancelled request is awaited: Chroma 1.0.0
	// accepts no more writes after a client disconnected during one
	// (docs/design/vectors.md).
	hangUp = 2 * time.Second
	// longestReply fits more than a hundred vectors of 8,192 numbers.
	longestReply = 32 << 20
)

func newChromaClient(c ChromaServer) (*chromaClient, error) {
	base, err := url.Parse(c.URL)
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") {
		return nil, errors.New("the address of the Chroma server is not a URL such as http://127.0.0.1:8000")
	}
	tenant, database := c.Tenant, c.Database
	if tenant == "" {
		tenant = "default_tenant"
	}
	if database == "" {
		database = "default_database"
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // it is one
	transport.DialContext = (&net.Dialer{Timeout: connectTime}).DialContext
	return &chromaClient{
		base:  base.JoinPath("api/v2/tenants", url.PathEscape(tenant), "databases", url.PathEscape(database)),
		shown: base.Scheme + "://" + base.Host,
		token: c.Token,
		http: &http.Client{
			Transport: transport, Timeout: replyTime,
			// A redirect would send the token to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// refusedError is an error response of the server.
type refusedError struct {
	code    int
	message string
}

func (e *refusedError) Error() string { return e.message }

// isGoneFromChroma reports whether the server does not know the collection.
func isGoneFromChroma(err error) bool {
	var status *refusedError
	return errors.As(err, &status) && status.code == http.StatusNotFound
}

// ask sends in, if not nil, and decodes the response into out, if not nil. All errors
// except that of ctx are [UnavailableError]s.
func (s *chromaClient) ask(ctx context.Context, method, path string, in, out any) error {
	err := s.call(ctx, method, path, in, out)
	if err == nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	return &UnavailableError{Err: fmt.Errorf("ask the Chroma server at %s: %w", s.shown, err)}
}

func (s *chromaClient) call(ctx context.Context, method, path string, in, out any) error {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	ctx, cancel := withHangUp(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, s.base.JoinPath(path).String(), body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	if s.token != "" { // servers expect one or the other
		request.Header.Set("X-Chroma-Token", s.token)
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.http.Do(request)
	if err != nil {
		return llm.Explain(err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(response.Body, longestReply))
	if err != nil {
		return llm.Explain(err)
	}
	if response.StatusCode/100 != 2 {
		return refusedBy(response.StatusCode, text)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("unexpected answer: %w", err)
	}
	return nil
}

// withHangUp returns a context that ends hangUp after ctx.
func withHangUp(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(hangUp, cancel) })
	return late, func() {
		stop()
		cancel()
	}
}

// refusedBy describes an error response in a line.
func refusedBy(code int, text []byte) error {
	if code == http.StatusUnauthorized || code == http.StatusForbidden {
		return &refusedError{code, "it does not accept the token (rag.chroma_token)"}
	}
	var response struct{ Error, Message string }
	if json.Unmarshal(text, &response) != nil || response.Error == "" {
		if code == http.StatusNotFound { // not from Chroma
			return errors.New("no Chroma of API version 2 at this address")
		}
		return &refusedError{code, llm.Status("it", code, "").Error()}
	}
	line, _, _ := strings.Cut(response.Message, "\n")
	return &refusedError{code, line[:min(len(line), 200)]}
}
