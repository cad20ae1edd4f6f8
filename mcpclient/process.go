package mcpclient

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"

	"lifehub/agent"
	"lifehub/mcpclient/config"
)

const (
	// graceful is how long a server may take to exit after its stdin was closed,
	// and again after SIGTERM.
	graceful = time.Second
	// stalled is how long a server may leave its stdin unread.
	stalled = 30 * time.Second
)

// tagName is an environment variable that identifies the descendants of a server
// even after they have left its process group.
const tagName = "LIFEHUB_MCP_SERVER"

// passed are the variables that a server gets without declaring them.
var passed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "TMPDIR",
	// Programs do not run on Windows without these variables.
	"SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "WINDIR", "TEMP", "TMP", "USERPROFILE", "APPDATA",
	"LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// environment returns a server's environment: the passed variables, the tag and
// what it declares.
func environment(declared map[string]string, tag string) []string {
	env := []string{tagName + "=" + tag}
	for _, name := range passed {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range declared {
		env = append(env, name+"="+v) // of duplicates the last one wins
	}
	slices.Sort(env[1 : len(env)-len(declared)])
	return env
}

// process is a running server and all its descendants.
type process struct {
	cmd    *exec.Cmd
	tag    string
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	Input  *queue
	reaper reaper
	Exited chan struct{}    // closed when none of its processes is left
	state  *os.ProcessState // exit status of its leader; valid, like err, after Exited
	err    error
}

// startProcess starts a server's command in its own process group. stdout and
// stderr are called with its output and must read it to the end. The process ends
// with Close or on its own.
func startProcess(s config.Entry, dir string, stdout, stderr func(io.Reader)) (*process, error) {
	p := &process{tag: rand.Text(), Input: newQueue(), Exited: make(chan struct{})}
	p.cmd = exec.Command(s.Command, s.Args...)
	p.cmd.Env = environment(s.Env, p.tag)
	p.cmd.Dir = dir
	p.cmd.SysProcAttr = ownGroup()
	stdinPipe, inErr := p.cmd.StdinPipe()
	stdoutPipe, outErr := p.cmd.StdoutPipe()
	stderrPipe, errErr := p.cmd.StderrPipe()
	if err := errors.Join(inErr, outErr, errErr); err != nil {
		return nil, err
	}
	// Deadlines interrupt reads and writes that the server blocks.
	p.stdin, p.stdout, p.stderr = stdinPipe.(*os.File), stdoutPipe.(*os.File), stderrPipe.(*os.File)
	started := make(chan error)
	go p.run(stdout, stderr, started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// run starts the command, waits for its exit and cleans up. It stays on one OS
// thread, because Linux sends the parent death signal when the thread that
// started the child ends.
func (p *process) run(stdout, stderr func(io.Reader), started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := p.cmd.Start(); err != nil { // closes the pipes
		started <- err
		return
	}
	lowerPriority(p.cmd.Process)
	var err error
	if p.reaper, err = newReaper(p.cmd.Process, p.tag); err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		started <- fmt.Errorf("watch its children: %w", err)
		return
	}
	var readers sync.WaitGroup
	readers.Go(func() { agent.Safely(func() { stdout(p.stdout) }) })
	readers.Go(func() { agent.Safely(func() { stderr(p.stderr) }) })
	readers.Go(func() { agent.Safely(p.write) })
	started <- nil

	p.state, p.err = p.cmd.Process.Wait() // cmd.Wait would close the pipes while they are being read
	killGroup(p.cmd.Process)
	p.reaper.end()
	// A descendant that left the group and holds a pipe would block the readers.
	soon := time.Now().Add(graceful)
	_ = p.stdout.SetReadDeadline(soon)
	_ = p.stderr.SetReadDeadline(soon)
	p.Input.close()
	_ = p.stdin.SetWriteDeadline(time.Now())
	readers.Wait()
	for _, pipe := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = pipe.Close()
	}
	close(p.Exited)
}

// write writes the queue to the server, and ends the server if it does not read.
func (p *process) write() {
	for {
		frame, ok := p.Input.next()
		if !ok {
			_ = p.stdin.Close()
			return
		}
		_ = p.stdin.SetWriteDeadline(time.Now().Add(stalled))
		if _, err := p.stdin.Write(frame); err != nil {
			select {
			case <-p.Input.ended:
			default:
				if errors.Is(err, os.ErrDeadlineExceeded) {
					killGroup(p.cmd.Process)
				}
			}
			p.Input.close()
			_ = p.stdin.Close()
			return
		}
	}
}

// Close ends the server's process group: it closes stdin, then sends SIGTERM,
// then SIGKILL. It returns when no process is left.
func (p *process) Close() {
	p.Input.close()
	_ = p.stdin.SetWriteDeadline(time.Now()) // interrupts a blocked write
	for _, more := range []func(*os.Process){terminateGroup, killGroup} {
		select {
		case <-p.Exited:
			return
		case <-time.After(graceful):
			more(p.cmd.Process)
		}
	}
	<-p.Exited
}

// Ending describes how the process ended.
func (p *process) Ending() string {
	switch {
	case p.err != nil:
		return "it ended: " + p.err.Error()
	case p.state.Success():
		return "it exited"
	}
	return "it ended with " + p.state.String()
}

// maxQueued bounds the messages waiting to be read by a server.
const maxQueued = 256

// queue buffers messages to a server, so that a server that does not read blocks
// no caller. Writes never fail: after the end they are discarded, and the end of
// stdout notifies waiting callers.
type queue struct {
	frames chan []byte
	ended  chan struct{}
	once   sync.Once
}

func newQueue() *queue {
	return &queue{frames: make(chan []byte, maxQueued), ended: make(chan struct{})}
}

func (q *queue) close() { q.once.Do(func() { close(q.ended) }) }

// Write appends a copy of p. It blocks only while the queue is full; then the
// stalled server is ended.
func (q *queue) Write(p []byte) (int, error) {
	select {
	case q.frames <- slices.Clone(p):
	case <-q.ended:
	}
	return len(p), nil
}

// next waits for a message; it reports false after the end.
func (q *queue) next() ([]byte, bool) {
	select {
	case frame := <-q.frames:
		return frame, true
	case <-q.ended:
	}
	select { // messages added before the end
	case frame := <-q.frames:
		return frame, true
	default:
		return nil, false
	}
}
