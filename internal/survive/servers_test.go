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

// serveCounter is an MCP server with one tool, which appends a line to a file.
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
		"counter": map[string]any{"command": os.Args[0], "env": map[string]string{
			counterEnv: counter(dir),
			"GORACE":   "atexit_sleep_ms=0",
		}},
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

// startPost runs a mail server that outlives the kills. It returns its port and a
// function that sets the file in which it records subjects.
func startPost(t *testing.T) (port int, into func(file string)) {
	t.Helper()
	return (&post{}).start(t)
}

func (p *post) start(t *testing.T) (port int, into func(file string)) {
	t.Helper()
	s := smtp.NewServer(p)
	s.Domain, s.ErrorLog = "localhost", quiet{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = s.Serve(listener) // ends with Close
	}()
	t.Cleanup(func() {
		s.Close()
		<-served
	})
	return listener.Addr().(*net.TCPAddr).Port, p.into
}

type post struct {
	mu    sync.Mutex
	file  string
	seen  map[string]bool // accepted Message-IDs, which are not delivered again; nil: duplicates are delivered
	stall *stall          // may be nil
}

// stall blocks the server once at a stage of a mail, until the client is gone.
type stall struct {
	stage         string // from, to, data, text (all of it was received), taken
	reached, gone chan struct{}
	left          chan struct{} // closed when the server has finished with that mail
}

func newStall(stage string) *stall {
	return &stall{stage, make(chan struct{}), make(chan struct{}), make(chan struct{})}
}

func (p *post) into(file string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.file = file
	if p.seen != nil {
		p.seen = map[string]bool{} // turns in other folders have the same IDs
	}
}

func (p *post) NewSession(*smtp.Conn) (smtp.Session, error) { return &visit{post: p}, nil }

type visit struct {
	post    *post
	stalled *stall
}

func (*visit) Reset() {}

func (v *visit) Logout() error {
	if v.stalled != nil {
		close(v.stalled.left)
	}
	return nil
}

func (v *visit) Mail(string, *smtp.MailOptions) error { v.at("from"); return nil }
func (v *visit) Rcpt(string, *smtp.RcptOptions) error { v.at("to"); return nil }

// at blocks if this is the stage for it.
func (v *visit) at(stage string) {
	v.post.mu.Lock()
	s := v.post.stall
	if s == nil || s.stage != stage {
		v.post.mu.Unlock()
		return
	}
	v.post.stall, v.stalled = nil, s
	v.post.mu.Unlock()
	close(s.reached)
	<-s.gone
}

func (v *visit) Data(r io.Reader) error {
	v.at("data")
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, m.Body); err != nil { // incomplete, so it was not received
		return err
	}
	v.at("text")
	defer v.at("taken")
	v.post.mu.Lock()
	defer v.post.mu.Unlock()
	if id := m.Header.Get("Message-Id"); v.post.seen != nil {
		if v.post.seen[id] {
			return nil // like servers that recognise duplicates by Message-ID
		}
		v.post.seen[id] = true
	}
	return appendLine(v.post.file, m.Header.Get("Subject"))
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}
