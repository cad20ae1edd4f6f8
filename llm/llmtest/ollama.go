package llmtest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ollama/ollama/api"

	"lifehub/internal/testenv"
)

// Server is a real Ollama server with its own home directory, models and port.
type Server struct {
	URL string

	t    testing.TB
	bin  string
	home string
	mu   sync.Mutex
	cmd  *exec.Cmd
	ends chan struct{} // closed when cmd has ended
}

// patience bounds each wait for the server, so that a test fails instead of
// hanging.
const patience = 60 * time.Second

// StartOllama starts a real Ollama server with the models of [Models]. When the
// test ends, the server and all its child processes are killed. The test is
// skipped if `make ollama` has not been run.
func StartOllama(t testing.TB) *Server {
	t.Helper()
	s := StartEmptyOllama(t)
	for _, m := range Models() {
		s.Create(m)
	}
	return s
}

// StartEmptyOllama starts a real Ollama server without any model.
func StartEmptyOllama(t testing.TB) *Server {
	t.Helper()
	s := &Server{t: t, bin: testenv.Ollama(t), home: t.TempDir()}
	t.Cleanup(s.Kill)
	s.start("127.0.0.1:0")
	return s
}

var listening = regexp.MustCompile(`Listening on ([0-9.]+:[0-9]+)`)

func (s *Server) start(address string) {
	s.t.Helper()
	cmd := exec.Command(s.bin, "serve")
	cmd.Env = append(os.Environ(),
		"HOME="+s.home, "OLLAMA_MODELS="+filepath.Join(s.home, "models"), "OLLAMA_HOST="+address,
		"OLLAMA_NO_CLOUD=1", "OLLAMA_KEEP_ALIVE=30m", "OLLAMA_CONTEXT_LENGTH=4096",
		// A stream cancelled at the wrong moment blocks its slot forever; with
		// eight slots no test runs into this.
		"OLLAMA_NUM_PARALLEL=8")
	ownGroup(cmd)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("start the Ollama server: %v", err)
	}
	s.mu.Lock()
	s.cmd, s.ends = cmd, make(chan struct{})
	ends := s.ends
	s.mu.Unlock()
	log := &tail{}

	// The goroutine ends with the server, which Kill stops.
	found := make(chan string, 1)
	go func() {
		defer close(ends)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			log.add(lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				select {
				case found <- m[1]:
				default:
				}
			}
		}
		_ = cmd.Wait()
	}()
	select {
	case at := <-found:
		s.URL = "http://" + at
	case <-ends:
		s.t.Fatalf("the Ollama server ended at its start:\n%s", log)
	case <-time.After(patience):
		s.t.Fatalf("the Ollama server does not listen after %v:\n%s", patience, log)
	}
}

// Stop shuts the server down as a user would, and waits for it.
func (s *Server) Stop() {
	s.mu.Lock()
	cmd, ends := s.cmd, s.ends
	s.mu.Unlock()
	if cmd != nil && cmd.Process != nil {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ends:
		case <-time.After(5 * time.Second):
		}
	}
	s.Kill()
}

// Kill kills the server and its runners, as a crash would.
func (s *Server) Kill() {
	s.mu.Lock()
	cmd, ends := s.cmd, s.ends
	s.cmd = nil
	s.mu.Unlock()
	if cmd == nil {
		return
	}
	killGroup(cmd)
	select {
	case <-ends:
	case <-time.After(patience):
	}
}

// Restart starts the server again with the same address and models.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.start(strings.TrimPrefix(s.URL, "http://"))
}

// Client returns a client for direct access to the server.
func (s *Server) Client() *api.Client {
	base, err := url.Parse(s.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	return api.NewClient(base, http.DefaultClient)
}

// Create creates a model on the server.
func (s *Server) Create(m Model) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	client := s.Client()
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(m.GGUF))
	if err := client.CreateBlob(ctx, digest, bytes.NewReader(m.GGUF)); err != nil {
		s.t.Fatalf("create model %s: %v", m.Name, err)
	}
	parameters := map[string]any{"num_thread": 1} // more threads only spin on a busy machine
	for name, value := range m.Parameters {
		parameters[name] = value
	}
	req := &api.CreateRequest{
		Model: m.Name, Template: m.Template, Parameters: parameters,
		Files: map[string]string{m.Name + ".gguf": digest},
	}
	if err := client.Create(ctx, req, func(api.ProgressResponse) error { return nil }); err != nil {
		s.t.Fatalf("create model %s: %v", m.Name, err)
	}
}

// tail holds the last lines of a log.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (l *tail) add(line string) {
	const most = 50
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	if len(l.lines) > most {
		l.lines = l.lines[len(l.lines)-most:]
	}
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}
