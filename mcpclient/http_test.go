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
	"testing"
	"time"

	"lifehub/internal/testenv"
)

// serveEverything starts server-everything as a web server and returns where.
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
		entry      Server
	}{
		"streamable HTTP":   {"streamableHttp", "/mcp", Server{Transport: HTTP}},
		"SSE":               {"sse", "/sse", Server{Transport: SSE}},
		"SSE, not declared": {"sse", "/sse", Server{Transport: HTTP, guessed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, stop := serveEverything(t, c.kind)
			c.entry.Name, c.entry.URL = "web", "http://"+address+c.path
			s := start(t, Options{}, c.entry)
			echo := one(t, s, "web_echo")
			if result, err := echo.Run(t.Context(), json.RawMessage(`{"message":"hello"}`)); err != nil || !strings.Contains(result.Text, "hello") {
				t.Fatalf("got %+v, %v", result, err)
			}
			stop()
			soon, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // it would wait for a new connection
			defer cancel()
			if _, err := echo.Run(soon, json.RawMessage(`{"message":"hello"}`)); err == nil {
				t.Error("a call of a dead server worked")
			}
		})
	}
}

func TestWebServersThatAreNoMCPServersSaySo(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   string
	}{
		"who asks": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }, "put a token into headers"},
		"broken":   {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "500"},
		"a page":   {func(w http.ResponseWriter) { w.Header().Set("Content-Type", "text/html"); fmt.Fprint(w, "<html>") }, "content type"},
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
			s := start(t, Options{}, Server{Name: "web", Transport: HTTP, URL: server.URL})
			if st := s.State()[0]; !strings.Contains(st.Reason, c.want) {
				t.Errorf("got %s: %s, want %q", st.Status, st.Reason, c.want)
			}
		})
	}
}

func TestHeadersGoOutWithTheirVariables(t *testing.T) {
	t.Setenv("LIFEHUB_TEST_TOKEN", "s3cret")
	got := make(chan string, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Authorization")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer server.Close()
	s := start(t, Options{}, Server{Name: "web", Transport: HTTP, URL: server.URL, Headers: map[string]string{"Authorization": "Bearer ${LIFEHUB_TEST_TOKEN}"}})
	if header := <-got; header != "Bearer s3cret" {
		t.Errorf("got %q", header)
	}
	if text, _ := json.Marshal(s.State()); strings.Contains(string(text), "s3cret") {
		t.Errorf("the state tells the secret: %s", text)
	}
}
