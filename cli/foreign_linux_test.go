package cli

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"lifehub/internal/apptest"
	"lifehub/internal/testenv"
)

// ownNetwork is set when the test below runs in its own network namespace.
const ownNetwork = "LIFEHUB_TEST_NETWORK"

// stranger and third are UIDs that no user has.
const stranger, third = 64001, 64002

// TestServerOfAnotherUserGetsNothing runs another user's program at the default address of Ollama
// and records what arrives there. It needs root, to act as another user in its own network
// namespace.
func TestServerOfAnotherUserGetsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	if os.Getenv(ownNetwork) != "" {
		loopbackUp(t)
		foreignServer(t)
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root, to listen as another user; llm/owner_test.go has the rule")
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestServerOfAnotherUserGetsNothing$")
	again.Env = append(os.Environ(), ownNetwork+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if out, err := again.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func loopbackUp(t *testing.T) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		t.Fatal(err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		t.Fatal(err)
	}
}

// impostor counts what arrives at the default address.
type impostor struct {
	net.Listener
	bytes     atomic.Int64
	connected chan struct{} // signals a connection
}

func (i *impostor) Accept() (net.Conn, error) {
	conn, err := i.Listener.Accept()
	if err != nil {
		return nil, err
	}
	select {
	case i.connected <- struct{}{}:
	default:
	}
	return countedConn{conn, i}, nil
}

type countedConn struct {
	net.Conn
	to *impostor
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.to.bytes.Add(int64(n))
	return n, err
}

// startImpostor serves at the default address as a user.
func startImpostor(t *testing.T, uid int, address string) *impostor {
	t.Helper()
	listener, err := testenv.ListenAs(uid, address)
	if err != nil {
		t.Fatal(err)
	}
	i := &impostor{Listener: listener, connected: make(chan struct{}, 1)}
	server := &http.Server{Handler: http.NotFoundHandler()}
	var served sync.WaitGroup
	served.Go(func() { _ = server.Serve(i) }) // ends with Close
	t.Cleanup(func() { server.Close(); served.Wait() })
	return i
}

// foreignHome is the home of the programs under test.
type foreignHome struct {
	t           *testing.T
	home, notes string
	more        []string
}

// run runs lifehub and returns its output. Its input ends when wait is closed, or at once if wait
// is nil.
func (h foreignHome) run(input string, wait <-chan struct{}, arg ...string) string {
	h.t.Helper()
	cmd := exec.Command(os.Args[0], arg...)
	cmd.Env = append(asProgram(h.home, filepath.Join(h.home, ".lifehub")), h.more...)
	cmd.Dir = h.home
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		h.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // the exit code varies
	}()
	if _, err := io.WriteString(in, input); err != nil {
		h.t.Error(err)
	}
	if wait != nil {
		select {
		case <-wait:
		case <-ended:
		}
	}
	in.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		_ = cmd.Process.Kill()
		<-ended
		h.t.Errorf("%s does not end:\n%s", arg[0], out.String())
	}
	return out.String()
}

const foreignQuestion = "how often do I run?"

func foreignServer(t *testing.T) {
	h := foreignHome{t: t, home: t.TempDir(), notes: apptest.Vault(t)}
	const usual = "127.0.0.1:11434"
	owner := fmt.Sprintf("uid %d", stranger)
	allow := fmt.Sprintf("ollama_owner: %d", stranger)
	commands := map[string][]string{
		"index": {"index", h.notes}, "ask": {"ask", foreignQuestion}, "search": {"search", "run"}, "doctor": {"doctor"},
		"models": {"models", "list"}, "pull": {"models", "pull", "x"}, "mcp": {"mcp", "serve"}, "acp": {"acp"},
	}
	for _, address := range []string{usual, "0.0.0.0:11434", "[::]:11434"} {
		t.Run("of another user at "+address, func(t *testing.T) {
			h := h
			h.t, h.home = t, t.TempDir()
			other := startImpostor(t, stranger, address)
			for _, name := range []string{"index", "ask", "search", "doctor", "models", "pull", "mcp", "acp"} {
				select {
				case <-other.connected:
				default:
				}
				var wait <-chan struct{} // the server must not end before that
				serves := name == "mcp" || name == "acp"
				if serves {
					wait = other.connected
				}
				output := h.run("", wait, commands[name]...)
				if n := other.bytes.Load(); n > 0 {
					t.Fatalf("%s sent %d bytes", name, n)
				}
				if !serves && (strings.Count(output, owner) != 1 || !strings.Contains(output, allow)) {
					t.Errorf("%s does not name the owner and how to allow it:\n%s", name, output)
				}
			}
		})
	}
	t.Run("the chat asks once, and a yes is saved", func(t *testing.T) {
		h.t = t
		other := startImpostor(t, stranger, usual)
		output := h.run(foreignQuestion+"\nn\n"+foreignQuestion+"\n/quit\n", nil, "chat", "--plain", "--notes", h.notes)
		if other.bytes.Load() > 0 || strings.Count(output, "Use this model") != 1 || !strings.Contains(output, owner) {
			t.Fatalf("after a no %d bytes arrived:\n%s", other.bytes.Load(), output)
		}
		output = h.run(foreignQuestion+"\ny\n/quit\n", nil, "chat", "--plain", "--notes", h.notes)
		if other.bytes.Load() == 0 {
			t.Fatalf("after a yes nothing arrived:\n%s", output)
		}
		if config := apptest.Read(t, filepath.Join(h.home, ".lifehub", "config",
			"config.yaml")); !strings.Contains(config, fmt.Sprintf("ollama_owner: \"%d\"", stranger)) {
			t.Errorf("the yes is not saved: %s", config)
		}
		before := other.bytes.Load()
		output = h.run("", nil, "ask", foreignQuestion)
		if other.bytes.Load() == before || strings.Contains(output, owner) {
			t.Errorf("the saved yes does not count:\n%s", output)
		}
	})
	t.Run("the yes is for one user", func(t *testing.T) {
		h.t = t
		other := startImpostor(t, third, usual)
		output := h.run("", nil, "ask", foreignQuestion)
		if n := other.bytes.Load(); n > 0 || !strings.Contains(output, fmt.Sprintf("uid %d", third)) {
			t.Errorf("%d bytes arrived:\n%s", n, output)
		}
	})
	h.home = t.TempDir()
	t.Run("of root", func(t *testing.T) {
		h.t = t
		own := startImpostor(t, 0, usual)
		if output := h.run("", nil, "ask", foreignQuestion); own.bytes.Load() == 0 ||
			strings.Contains(output, "belongs to") {
			t.Errorf("it is not used:\n%s", output)
		}
	})
	t.Run("named in the environment", func(t *testing.T) {
		h.t, h.more = t, []string{"OLLAMA_HOST=" + usual}
		other := startImpostor(t, stranger, usual)
		if output := h.run("", nil, "ask", foreignQuestion); other.bytes.Load() == 0 ||
			strings.Contains(output, "belongs to") {
			t.Errorf("it is not used:\n%s", output)
		}
	})
}
