package mcpclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"lifehub/internal/testenv"
	"lifehub/mcpclient/config"
)

// serveEverything starts server-everything as a web server and returns its
// address.
func serveEverything(t *testing.T, kind string) (address string, stop func()) {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(address)
	cmd := exec.Command(testenv.Npm(t, "@modelcontextprotocol/server-everything"), kind)
	cmd.Env = append(cmd.Environ(), "PORT="+port)
	words, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
	t.Cleanup(stop)
	lines := bufio.NewScanner(words)
	for lines.Scan() && !strings.Contains(lines.Text(), port) {
	}
	go io.Copy(io.Discard, words)
	return address, stop
}

func TestServerEverythingWorksByHTTP(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, path string
		entry      config.Entry
	}{
		"streamable HTTP":   {"streamableHttp", "/mcp", config.Entry{Transport: config.HTTP}},
		"SSE":               {"sse", "/sse", config.Entry{Transport: config.SSE}},
		"SSE, not declared": {"sse", "/sse", config.Entry{Transport: config.HTTP, Guessed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, stop := serveEverything(t, c.kind)
			c.entry.Name, c.entry.URL = "web", "http://"+address+c.path
			s := start(t, Options{}, c.entry)
			echo := one(t, s, "web_echo")
			if result, err := echo.Run(t.Context(), json.RawMessage(`{"message":"hello"}`)); err != nil ||
				!strings.Contains(result.Text, "hello") {
				t.Fatalf("got %+v, %v", result, err)
			}
			stop()
			// waiting for a new connection would exceed this
			soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			if _, err := echo.Run(soon, json.RawMessage(`{"message":"hello"}`)); err == nil {
				t.Error("a call of a dead server worked")
			}
		})
	}
}

func TestOtherWebServersAreRecognised(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		t.Error("another host was asked")
	}))
	defer other.Close()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"authentication": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "headers"},
		"broken":         {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "500"},
		"a page": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, "content type"},
		"elsewhere": {func(w http.ResponseWriter) {
			w.Header().Set("Location", other.URL)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, "another host"},
		"endless": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"x":"`)
			for range 20 {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<20)); err != nil {
					return
				}
			}
		}, "longer than 8 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(w)
			}))
			defer server.Close()
			s := start(t, Options{}, config.Entry{Name: "web", Transport: config.HTTP, URL: server.URL})
			if st := s.State()[0]; !strings.Contains(st.Reason, c.want) {
				t.Errorf("got %s: %s, want %q", st.Status, st.Reason, c.want)
			}
		})
	}
}

func TestHeadersAreSentWithExpandedVariables(t *testing.T) {
	t.Setenv("LIFEHUB_TEST_TOKEN", "s3cret")
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	s := start(t, Options{}, config.Entry{
		Name: "web", Transport: config.HTTP, URL: server.URL,
		Headers: map[string]string{"Authorization": "Bearer ${LIFEHUB_TEST_TOKEN}"},
	})
	if header := <-got; header != "Bearer s3cret" {
		t.Errorf("got %q", header)
	}
	if text, _ := json.Marshal(s.State()); strings.Contains(string(text), "s3cret") {
		t.Errorf("the state tells the secret: %s", text)
	}
}

// plainWeb is an MCP server over HTTP with one tool, whose calls are handled by
// answer.
func plainWeb(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, id json.RawMessage)) string {
	t.Helper()
	var sessions atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var request struct {
			ID     json.RawMessage
			Method string
		}
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &request)
		results := map[string]string{
			"initialize": `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"plain",` +
				`"version":"1"}}`,
			"tools/list": `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`,
		}
		switch {
		case r.Method == http.MethodPost && request.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case request.Method == "tools/call", r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") != "":
			answer(w, r, request.ID)
		case results[request.Method] != "":
			if request.Method == "initialize" {
				w.Header().Set("Mcp-Session-Id", fmt.Sprintf("session-%d", sessions.Add(1)))
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, request.ID, results[request.Method])
		default:
			w.WriteHeader(http.StatusMethodNotAllowed)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestCallsOverHTTPRecoverFromFaults(t *testing.T) {
	t.Parallel()
	const said = `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello"}]}}`
	in := func(w http.ResponseWriter, kind string) { w.Header().Set("Content-Type", kind) }
	for name, c := range map[string]struct {
		answer   func(w http.ResponseWriter, r *http.Request, id json.RawMessage)
		err      string // empty: the call returns hello
		restarts int
	}{
		"an error without an id": {func(w http.ResponseWriter, _ *http.Request, _ json.RawMessage) {
			in(w, "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no such city"}}`)
		}, "no such city", 0},
		"an error with a code in words": {func(w http.ResponseWriter, _ *http.Request, id json.RawMessage) {
			in(w, "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":"E_CITY","message":"no such city"}}`, id)
		}, "no such city", 0},
		"an expired session": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			in(w, "application/json")
			if r.Header.Get("Mcp-Session-Id") == "session-1" { // as server-everything responds after a restart
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprint(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid `+
					`session ID provided"}}`)
				return
			}
			fmt.Fprintf(w, said, id)
		}, "", 1},
		"a bad request": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			in(w, "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no city"}}`, id)
		}, "no city", 0},
		"too many calls": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			w.WriteHeader(http.StatusTooManyRequests)
		}, "429", 0},
		"a stream that ends early": {func() func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			var asked atomic.Value // ID of the call
			return func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
				in(w, "text/event-stream")
				if r.Header.Get("Last-Event-ID") == "7" {
					fmt.Fprintf(w, "id: 8\ndata: "+said+"\n\n", asked.Load())
					return
				}
				asked.Store(id)
				fmt.Fprint(w, "id: 7\nretry: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n")
			}
		}(), "", 0},
		"a stream that breaks off": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			in(w, "text/event-stream")
			fmt.Fprint(w, "id: 7\ndata: {\"jso")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "cut off", 0},
		"an endless message": {func(w http.ResponseWriter, r *http.Request, id json.RawMessage) {
			in(w, "text/event-stream")
			for line := "data: " + strings.Repeat("x", 64<<10) + "\n"; ; {
				if _, err := io.WriteString(w, line); err != nil {
					return
				}
			}
		}, "longer than 8 MiB", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, Options{}, config.Entry{Name: "web", Transport: config.HTTP, URL: plainWeb(t, c.answer)})
			got, err := one(t, s, "web_echo").Run(t.Context(), nil)
			switch {
			case c.err == "" && (err != nil || got.Text != "hello"):
				t.Errorf("got %+v, %v", got, err)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("got %+v, %v, want %q", got, err, c.err)
			}
			if st := s.State()[0]; st.Status != Running || st.Restarts != c.restarts {
				t.Errorf("it is %s after %d restarts: %s", st.Status, st.Restarts, st.Reason)
			}
		})
	}
}

// The library ends a question 30 s after it was asked, and its answer with it.
func TestUserMayTakeLongToAnswerOverHTTP(t *testing.T) {
	t.Parallel()
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- string(body)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer server.Close()
	web, err := newWeb(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	library, ended := answering{}, make(chan struct{})
	verbatim{&library, ended}.SetRequestHandler(func(ctx context.Context,
		_ transport.JSONRPCRequest,
	) (*transport.JSONRPCResponse, error) {
		if ctx.Err() == nil {
			close(ended)
			<-ctx.Done()
		}
		return nil, ctx.Err()
	})
	late, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := library.handle(late, transport.JSONRPCRequest{}); err != context.Canceled {
		t.Errorf("the question ended with %v, not with its session", err)
	}
	select {
	case <-ended:
	default:
		t.Error("the question ended with the library's limit")
	}
	request, err := http.NewRequestWithContext(late, http.MethodPost, server.URL, strings.NewReader("the answer"))
	if err != nil {
		t.Fatal(err)
	}
	response, err := web.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if text := <-got; text != "the answer" {
		t.Errorf("the server was sent %q", text)
	}
}

// answering is a transport that only takes a handler of questions.
type answering struct {
	transport.BidirectionalInterface
	handle transport.RequestHandler
}

func (a *answering) SetRequestHandler(handle transport.RequestHandler) { a.handle = handle }
