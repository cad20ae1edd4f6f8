//go:build unix

package survive

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/mail"
	"os"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// serveCounter is an MCP server with one tool, which writes a line.
func serveCounter(file string) error {
	s := server.NewMCPServer("counter", "1")
	s.AddTool(mcp.NewTool("count", mcp.WithDescription("Count something"), mcp.WithString("what", mcp.Required())),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if err := appendLine(file, r.GetString("what", "")); err != nil {
				return nil, err
			}
			return mcp.NewToolResultText("counted"), nil
		})
	return server.ServeStdio(s)
}

func mcpConfig(t *testing.T, dir string) []byte {
	t.Helper()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"counter": map[string]any{"command": os.Args[0], "env": map[string]string{counterEnv: counter(dir), "GORACE": "atexit_sleep_ms=0"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, line)
	return err
}

// startPost runs a mail server, which outlives the kills, and returns its
// port and a func that sets the file it notes the subjects in.
func startPost(t *testing.T) (port int, into func(file string)) {
	t.Helper()
	p := &post{}
	s := smtp.NewServer(p)
	s.Domain, s.ErrorLog = "localhost", quiet{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(listener) // it ends with Close
	}()
	t.Cleanup(func() {
		s.Close()
		<-served
	})
	return listener.Addr().(*net.TCPAddr).Port, p.into
}

type post struct {
	mu   sync.Mutex
	file string
}

func (p *post) into(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file = file
}

func (p *post) NewSession(*smtp.Conn) (smtp.Session, error) { return visit{p}, nil }

type visit struct{ post *post }

func (visit) Reset()                               {}
func (visit) Logout() error                        { return nil }
func (visit) Mail(string, *smtp.MailOptions) error { return nil }
func (visit) Rcpt(string, *smtp.RcptOptions) error { return nil }

func (v visit) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, m.Body); err != nil { // cut before its end: it never came
		return err
	}
	v.post.mu.Lock()
	defer v.post.mu.Unlock()
	return appendLine(v.post.file, m.Header.Get("Subject"))
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
