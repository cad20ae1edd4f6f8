//go:build !windows

package mcpserve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	// crowd is the number of connections opened, more than the server may have open files.
	crowd = 250
)

// A client with the token is served whoever else is connected. Each crowd stays connected while the
// next one arrives.
func TestHTTPServesDespiteManyConnections(t *testing.T) {
	t.Parallel()
	address, stderr := startHTTPWith(t, exec.Command("sh", "-c", `ulimit -n 160; exec "$0" "$@"`, os.Args[0], "--http", "127.0.0.1:0", "--notes", vault(t)))
	server, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(stderr)
	head := "POST /mcp HTTP/1.1\r\nHost: " + server.Host + "\r\n"
	body := "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
	session := reachable(t, address, token)
	stream := "GET /mcp HTTP/1.1\r\nHost: " + server.Host + "\r\n" + token + "\r\nAccept: text/event-stream\r\nMcp-Session-Id: " + session + "\r\n\r\n"
	listening := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{}}}`
	for _, one := range []struct{ name, sends string }{
		{"idle", ""},
		{"slow headers", head[:20]},
		{"slow headers with the token", head + token},
		{"slow bodies", head + body},
		{"slow bodies with the token", head + token + "\r\n" + body},
		{"wrong tokens", head + token + "x\r\nContent-Length: 0\r\n\r\n"},
		{"other paths", "GET /x HTTP/1.1\r\nHost: " + server.Host + "\r\n\r\n"},
		{"options of the server", "OPTIONS * HTTP/1.1\r\nHost: " + server.Host + "\r\n\r\n"},
		{"streams with the token", stream},
		{"listening with the token", fmt.Sprintf("%s%s\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", head, token, len(listening), listening)},
	} {
		for range crowd {
			conn, err := net.DialTimeout("tcp", server.Host, time.Minute)
			if err != nil {
				t.Fatalf("%s: %v", one.name, err)
			}
			t.Cleanup(func() { conn.Close() })
			_, _ = io.WriteString(conn, one.sends) // it may be closed already
		}
		reachable(t, address, token)
	}
}

// reachable requests a session over a new connection.
func reachable(t *testing.T, address, authorization string) (session string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {strings.TrimPrefix(authorization, "Authorization: ")}}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: transport, Timeout: time.Minute}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%v: %s %s", err, answer.Status, text)
	}
	return answer.Header.Get("Mcp-Session-Id")
}

// A refused request closes its connection, whatever follows.
func TestRefusalClosesTheConnection(t *testing.T) {
	t.Parallel()
	address, _ := startHTTP(t, "--notes", vault(t))
	server, _ := url.Parse(address)
	for _, request := range []string{"POST /mcp", "GET /mcp", "GET /x", "DELETE /mcp"} {
		conn, err := net.Dial("tcp", server.Host)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n\r\n", request, server.Host)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.Body.Close(); answer.StatusCode != http.StatusUnauthorized || !answer.Close {
			t.Errorf("%s: %s, %v", request, answer.Status, answer.Header)
		}
	}
}
