package testenv

import (
	"context"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// ChromaServer is a real Chroma server that can be killed and restarted with its
// data.
type ChromaServer struct {
	URL     string
	command []string
	running *exec.Cmd
}

// StartChroma starts a Chroma server with an empty folder. It stops when the test
// ends.
func StartChroma(t *testing.T) *ChromaServer {
	t.Helper()
	command := chromaCommand(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	//nolint:errcheck // always valid, as it comes from a listener
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	p := &ChromaServer{URL: "http://127.0.0.1:" + port}
	p.command = append(command, "run", "--path", t.TempDir(), "--host", "127.0.0.1", "--port", port)
	p.Start(t)
	t.Cleanup(p.Kill)
	return p
}

// Start starts the server and waits until it answers.
func (p *ChromaServer) Start(t *testing.T) {
	t.Helper()
	p.running = exec.Command(p.command[0], p.command[1:]...)
	if err := p.running.Start(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		response, err := http.Get(p.URL + "/api/v2/heartbeat")
		if err == nil {
			response.Body.Close() //nolint:errcheck // the body is not used
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case <-ctx.Done():
			t.Fatalf("the Chroma server does not answer: %v", err)
		case <-tick.C:
		}
	}
}

// Kill kills the server with SIGKILL.
func (p *ChromaServer) Kill() {
	if p.running != nil {
		p.running.Process.Kill() //nolint:errcheck // it may have ended already
		p.running.Wait()         //nolint:errcheck // returns the kill as an error
	}
	p.running = nil
}

// chromaCommand returns the command that starts a Chroma server; the caller
// appends `run --path DIR --host 127.0.0.1 --port N`.
func chromaCommand(t testing.TB) []string {
	t.Helper()
	return []string{node(t, "Chroma"), need(t, filepath.Join(cache(t), "chroma", "node_modules", "chromadb", "dist",
		"cli.mjs"), "a real Chroma server", "make npm")}
}
