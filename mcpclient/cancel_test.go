package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"lifehub/mcpclient/config"
)

// webServer is an MCP server over HTTP with one tool, which never responds while
// a caller waits.
type webServer struct {
	*httptest.Server
	sse    bool
	called chan struct{} // receives when the tool is called

	mu     sync.Mutex
	stream http.ResponseWriter // SSE only
	heard  []string            // all messages received
	call   json.RawMessage     // ID of the call
}

func newWebServer(t *testing.T, sse bool) *webServer {
	w := &webServer{sse: sse, called: make(chan struct{}, 10)}
	w.Server = httptest.NewServer(w)
	t.Cleanup(w.CloseClientConnections)
	return w
}

func (w *webServer) entry() config.Entry {
	if w.sse {
		return config.Entry{Name: "w", Transport: config.SSE, URL: w.URL + "/sse"}
	}
	return config.Entry{Name: "w", Transport: config.HTTP, URL: w.URL + "/mcp"}
}

// was reports whether the server received a message containing told.
func (w *webServer) was(told string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(strings.Join(w.heard, "\n"), told)
}

func (w *webServer) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.listen(out, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var message struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	_ = json.Unmarshal(body, &message)
	w.mu.Lock()
	w.heard = append(w.heard, string(body))
	w.mu.Unlock()
	answer := ""
	switch message.Method {
	case "initialize":
		answer = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}`
	case "tools/list":
		answer = `{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		w.mu.Lock()
		w.call = message.ID
		w.mu.Unlock()
		w.called <- struct{}{}
		<-r.Context().Done()
		return
	}
	if len(message.ID) == 0 {
		out.WriteHeader(http.StatusAccepted)
		return
	}
	reply := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, message.ID, answer)
	if answer == "" {
		reply = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, message.ID)
	}
	if w.sse {
		out.WriteHeader(http.StatusAccepted)
		w.send(reply)
		return
	}
	out.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(out, reply)
}

// listen serves the SSE stream.
func (w *webServer) listen(out http.ResponseWriter, r *http.Request) {
	if !w.sse {
		out.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	out.Header().Set("Content-Type", "text/event-stream")
	w.mu.Lock()
	w.stream = out
	_, _ = io.WriteString(out, "event: endpoint\ndata: /messages\n\n")
	out.(http.Flusher).Flush()
	w.mu.Unlock()
	<-r.Context().Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stream == out {
		w.stream = nil // the stream is over
	}
}

func (w *webServer) send(message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stream == nil {
		return
	}
	_, _ = fmt.Fprintf(w.stream, "event: message\ndata: %s\n\n", message)
	w.stream.(http.Flusher).Flush()
}

func TestCancelledHTTPCallNotifiesTheServer(t *testing.T) {
	t.Parallel()
	for name, sse := range map[string]bool{"streamable HTTP": false, "SSE": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWebServer(t, sse)
			s := start(t, Options{}, w.entry())
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-w.called; cancel() }()
			if _, err := one(t, s, "w_wait").Run(ctx, nil); err != context.Canceled {
				t.Errorf("got %v", err)
			}
			w.mu.Lock()
			id := string(bytes.TrimSpace(w.call))
			w.mu.Unlock()
			waitFor(t, func() bool { return w.was(`"method":"notifications/cancelled"`) && w.was(`"requestId":`+id) })
		})
	}
}
